/** `GET /?show=silences`: silences with their author, time and reason. */
import { isUndoable } from "../../alerting/acknowledgement.ts";
import { matchersInWords } from "../../alerting/incident-words.ts";
import { formatMatcher } from "../../alerting/matcher.ts";
import { type Silence, type SilenceState, silenceState, silenceStates } from "../../alerting/silence.ts";
import type { Instant } from "../../lib/clock.ts";
import { unlessThrown } from "../../lib/errors.ts";
import { counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { nextMorning } from "../../lib/moment.ts";
import { sortKey } from "../../lib/sort-key.ts";
import { cut } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import { listingOf } from "../paging.ts";
import type { HtmlPage } from "./layout.ts";
import { type HomeQuery, homeLink, silenceFormLink } from "./links.ts";
import { pager } from "./listing.ts";
import { namesIn, type PageData } from "./page-data.ts";
import { LONGEST_MS, zoneOf } from "./silence-request.ts";
import { formToken, type Visitor } from "./visitor.ts";
import { timeAt } from "./when.ts";

const SILENCES_A_PAGE = 50;
const LONGEST_LINKED = 2_000;
const HOUR_MS = 3_600_000;

const ROOT = "./";

/** Active, pending and recently expired silences. */
export function silencesPage(data: PageData, query: HomeQuery, visitor: Visitor): HtmlPage {
  const { now } = data.moment;
  const silences = [...data.silences.values()];
  const suppressed = countSuppressed(data);
  const page = { limit: SILENCES_A_PAGE, cursor: query.cursor };
  const listing = listingOf(silences, page, (silence) => keyOf(silence, now));
  const active = silences.filter((silence) => silenceState(silence, now) === "active").length;
  const link = (cursor: string | undefined) => homeLink(ROOT, { show: "silences", cursor });
  const cards = listing.items.map(
    (one) =>
      unlessThrown(() => silenceCard(one, data, visitor, suppressed.get(one.id) ?? 0)) ??
      unshownCard(one, data, visitor),
  );
  const words = active === 0 ? "No active silences" : counted(active, "active silence");
  return {
    title: words,
    here: "silences",
    parameters: { show: "silences" },
    path: "?show=silences",
    body: html`<h1>${words}</h1>
<p><a class="button" href="${silenceFormLink(ROOT, {})}">New silence</a></p>
${cards.length === 0 ? NONE : html`<ul class="cards">${cards}</ul>`}
${pager(listing, "silences", link, "active first")}`,
  };
}

/** Active by their end, pending by their start, expired with the latest first. */
function keyOf(silence: Silence, now: number): string {
  const state = silenceState(silence, now);
  const at = { active: silence.endsAt, pending: silence.startsAt, expired: 1e15 - silence.endsAt }[state];
  const rank = `${silenceStates.indexOf(state)}${String(Math.round(at)).padStart(16, "0")}`;
  return sortKey(rank, [], silence.id);
}

const NONE = html`<p class="soft">Silenced alerts are not notified; they are still shown here.</p>`;

function countSuppressed({ suppressed }: PageData): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { silencedBy = [] } of suppressed.values()) {
    for (const id of silencedBy) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

function silenceCard(silence: Silence, data: PageData, visitor: Visitor, suppressions: number): Markup {
  const state = silenceState(silence, data.moment.now);
  const zone = zoneOf(silence.matchers, data.fleet.inventory);
  const suppressed = suppressions === 0 ? "no alert now" : counted(suppressions, "alert");
  const about = matchersInWords(silence.matchers, namesIn(data));
  const comment = html`<p><q><bdi>${cut(silence.comment, 300)}</bdi></q></p>`;
  return html`<li class="card ${state === "active" ? "info" : "unknown"} ${state}" id="silence-${silence.id}">
<h3><bdi>${cut(about, 300)}</bdi></h3>
<p><strong>${STATES[state]}</strong> ${whenOf(silence, state, zone, data)}
${state === "active" ? html` · suppresses ${suppressed}` : nothing}</p>${silence.comment === "" ? nothing : comment}
<p class="soft">by <bdi>${nameOf(silence.createdBy, "somebody")}</bdi>,
set ${timeAt(silence.updatedAt, zone, data.moment)}</p>
${buttons(silence, about, data, visitor, longer(silence, zone, data))}
${state === "expired" ? silenceAgain(silence) : nothing}
${about === matchersOf(silence) ? nothing : html`<details><summary>Details</summary><code>${cut(matchersOf(silence), 300)}</code></details>`}</li>`;
}

/** One that cannot be shown can be expired all the same, and takes no other with it. */
function unshownCard(silence: Silence, data: PageData, visitor: Visitor): Markup {
  const { id } = silence;
  const state = silenceState(silence, data.moment.now);
  return html`<li class="card ${state === "active" ? "info" : "unknown"} ${state}"><p><strong>${STATES[state]}</strong> Silence <bdi>${id}</bdi> cannot be shown.</p>
${buttons(silence, id, data, visitor)}</li>`;
}

const STATES: Readonly<Record<SilenceState, string>> = { active: "Active", pending: "Pending", expired: "Expired" };

function whenOf({ startsAt, endsAt }: Silence, state: SilenceState, zone: string, { moment }: PageData): Markup {
  if (state === "expired") return html`since ${timeAt(endsAt, zone, moment)}`;
  if (state === "pending") return html`from ${timeAt(startsAt, zone, moment)} until ${timeAt(endsAt, zone, moment)}`;
  return html`until ${timeAt(endsAt, zone, moment, false, `${span(moment.now, endsAt)} left`)}`;
}

function matchersOf({ matchers }: Silence): string {
  return matchers.map(formatMatcher).join(", ");
}

type Later = readonly [words: string, until: Instant];

/** Later ends, where they are later. */
function longer({ endsAt }: Silence, zone: string, { moment: { now, times } }: PageData): Later[] {
  const morning = nextMorning(now, times.zoneFor(zone));
  const all: Later[] = [
    ["+1 h", endsAt + HOUR_MS],
    [`until ${times.at(morning, zone)}`, morning],
  ];
  return all.filter(([, until]) => until > endsAt && until <= now + LONGEST_MS);
}

/** One form: each button has its own address. */
function buttons(
  silence: Silence,
  name: string,
  { moment: { now } }: PageData,
  visitor: Visitor,
  later: readonly Later[] = [],
): Markup {
  const isOver = silenceState(silence, now) === "expired";
  const isUndone = !isUndoable(silence.last, now);
  if (visitor.formToken === undefined || (isOver && isUndone)) return nothing;
  const path = `${ROOT}silences/${encodeURIComponent(silence.id)}`;
  const what = `the silence ${cut(name, 100)}`;
  const extending = later.map(([words, until]) => {
    const to = new Date(until).toISOString();
    return html`<button formaction="${path}/extend" name="until" value="${to}" aria-label="${words}: ${what}">${words}</button>`;
  });
  const undo = html`<button formaction="${path}/undo" aria-label="Undo the last change: ${what}">Undo</button>`;
  const expire = html`${extending}<button aria-label="Expire ${what}">Expire</button>`;
  return html`<form class="actions" method="post" action="${path}/end">${formToken(visitor)}${isOver ? nothing : expire}
${isUndone ? nothing : undo}</form>`;
}

/** Nothing where the matchers are too long for a link. */
function silenceAgain(silence: Silence): Markup {
  const parameters = { matchers: matchersOf(silence), comment: cut(silence.comment, 300) };
  if (parameters.matchers.length > LONGEST_LINKED) return nothing;
  return html`<p><a href="${silenceFormLink(ROOT, parameters)}">Silence again</a></p>`;
}
