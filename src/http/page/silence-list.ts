/** `GET /?show=silences`: what is held by whom, until when and why. */
import { formatMatcher } from "../../alerting/matcher.ts";
import { type Silence, type SilenceState, silenceState, silenceStates } from "../../alerting/silence.ts";
import { ROWS_PER_STEP } from "../../health/fleet-snapshot.ts";
import { counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import { type Listing, PageCollector } from "../paging.ts";
import type { Page } from "./layout.ts";
import { homeLink, silenceFormLink } from "./links.ts";
import { pager } from "./listing.ts";
import { sortKey } from "./order.ts";
import { type PageData, refreshOf, unreachableNotice } from "./page-data.ts";
import type { HomeQuery } from "./query.ts";
import { zoneOf } from "./silence-request.ts";
import { formToken, type Visitor } from "./visitor.ts";
import { timeAt } from "./when.ts";

const SILENCES_A_PAGE = 50;
const LONGEST_LINKED = 2_000;

const ROOT = "./";

/** Those that hold now, those that will, and those that ended not long ago. */
export function* silencesPage(data: PageData, query: HomeQuery, visitor: Visitor): Generator<void, Page> {
  const { now } = data.moment;
  const silences = [...data.silences.values()];
  const suppressed = yield* countSuppressed(data);
  const collector = new PageCollector<Silence>({ limit: SILENCES_A_PAGE, cursor: query.cursor });
  for (const silence of silences) collector.offer(keyOf(silence, now), silence);
  const listing = collector.page();
  const active = silences.filter((silence) => silenceState(silence, now) === "active").length;
  const link = (cursor: string | undefined) => homeLink(ROOT, { show: "silences", cursor });
  const words =
    active === 0
      ? "No silence is active"
      : `${counted(active, "silence")} ${active === 1 ? "is" : "are"} active`;
  return {
    title: words,
    mood: "unknown",
    root: ROOT,
    here: "silences",
    parameters: { show: "silences" },
    path: "?show=silences",
    madeAt: now,
    refresh: refreshOf(query),
    body: html`<h1>${words}</h1>${unreachableNotice(data)}<p><a class="button" href="${silenceFormLink(ROOT, {})}">New silence</a></p>
${list(listing, data, visitor, suppressed)}${pager(listing, { noun: "silences", link, order: "those that hold first" })}`,
  };
}

/** Active by their end, pending by their start, expired with the latest first. */
function keyOf(silence: Silence, now: number): string {
  const state = silenceState(silence, now);
  const at = { active: silence.endsAt, pending: silence.startsAt, expired: 1e15 - silence.endsAt }[state];
  return sortKey(
    `${silenceStates.indexOf(state)}${String(Math.round(at)).padStart(16, "0")}`,
    [],
    silence.id,
  );
}

function list(
  { items }: Listing<Silence>,
  data: PageData,
  visitor: Visitor,
  suppressed: ReadonlyMap<string, number>,
): Markup {
  if (items.length === 0)
    return html`<p class="soft">What is silenced is not told to anybody; it is all still shown here.</p>`;
  return html`<ul class="cards">${items.map((silence) => silenceCard(silence, data, visitor, suppressed.get(silence.id) ?? 0))}</ul>`;
}

/** By silence, how many of the alerts that fire it holds. */
function* countSuppressed({ suppressed }: PageData): Generator<void, ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let seen = 0;
  for (const { silencedBy = [] } of suppressed.values()) {
    for (const id of silencedBy) counts.set(id, (counts.get(id) ?? 0) + 1);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return counts;
}

/** One silence, with the button that ends it for who may. */
function silenceCard(silence: Silence, data: PageData, visitor: Visitor, suppressions: number): Markup {
  const state = silenceState(silence, data.moment.now);
  const zone = zoneOf(silence.matchers, data.fleet.inventory);
  const suppressed =
    state === "active"
      ? html` · holds ${suppressions === 0 ? "nothing now" : counted(suppressions, "alert")}`
      : nothing;
  const comment =
    silence.comment === "" ? nothing : html`<p><q><bdi>${cut(silence.comment, 300)}</bdi></q></p>`;
  return html`<li class="card ${state}" id="silence-${silence.id}"><p class="code"><bdi>${cut(silence.matchers.map(formatMatcher).join(", "), 300)}</bdi></p>
<p><strong>${STATES[state]}</strong> ${whenOf(silence, state, zone, data)}${suppressed}</p>${comment}<p class="soft">by <bdi>${nameOf(silence.createdBy, "somebody")}</bdi>, set ${timeAt(silence.updatedAt, zone, data.moment)}</p>${state === "expired" ? again(silence) : endButton(silence, visitor)}</li>
`;
}

const STATES: Readonly<Record<SilenceState, string>> = {
  active: "Active",
  pending: "Not begun",
  expired: "Over",
};

function whenOf(
  { startsAt, endsAt }: Silence,
  state: SilenceState,
  zone: string,
  { moment }: PageData,
): Markup {
  if (state === "expired") return html`since ${timeAt(endsAt, zone, moment)}`;
  if (state === "pending")
    return html`from ${timeAt(startsAt, zone, moment)} until ${timeAt(endsAt, zone, moment)}`;
  return html`until ${timeAt(endsAt, zone, moment)} (${span(moment.now, endsAt)} left)`;
}

function endButton({ id, matchers }: Silence, visitor: Visitor): Markup {
  if (visitor.formToken === undefined) return nothing;
  const which = cut(matchers.map(formatMatcher).join(", "), 100);
  return html`<form method="post" action="${ROOT}silences/${encodeURIComponent(id)}/end">${formToken(visitor)}<button aria-label="End the silence ${which}">End it now</button></form>`;
}

/** Matchers too long for a link are typed anew. */
function again({ matchers, comment }: Silence): Markup {
  const parameters = { matchers: matchers.map(formatMatcher).join(", "), comment: cut(comment, 300) };
  if (parameters.matchers.length > LONGEST_LINKED) return nothing;
  return html`<p><a href="${silenceFormLink(ROOT, parameters)}">Silence it again</a></p>`;
}
