/** `GET /`: what needs somebody, by incident, with buttons, everything else folded away; the fleet at a glance. */

import { isOfLenswatch } from "../../alerting/attention.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { type FleetHeadline, handledOf, headlineOf } from "../../alerting/headline.ts";
import { type Incident, timesOf } from "../../alerting/incident.ts";
import { causePhrase } from "../../alerting/incident-cause.ts";
import { incidentTitle } from "../../alerting/incident-words.ts";
import {
  entriesOf,
  entrySortKey,
  MOST_AT_ONCE,
  type Overview,
  type OverviewEntry,
  overviewOf,
  ratedIn,
} from "../../alerting/overview.ts";
import { handledText } from "../../alerting/suppression-words.ts";
import { looks, severityRank, severityTone, toneOf } from "../../alerting/tone.ts";
import type { Alert } from "../../health/alert.ts";
import type { Tally } from "../../health/shard-overview.ts";
import { totalOf } from "../../health/status-counts.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { listingOf } from "../paging.ts";
import { undoForm } from "./alert-card.ts";
import { alertTitle, subjectOf } from "./alert-table.ts";
import { fleetMap } from "./fleet-map.ts";
import { recentIncidents } from "./incidents-page.ts";
import type { HtmlPage } from "./layout.ts";
import {
  alertPageLink,
  type HomeQuery,
  homeLink,
  incidentLink,
  incidentsLink,
  type Root,
  signInLink,
} from "./links.ts";
import { pager, section } from "./listing.ts";
import { namesIn, type PageData } from "./page-data.ts";
import { countBadges } from "./summary.ts";
import { formToken, type Visitor } from "./visitor.ts";
import { sinceAt } from "./when.ts";

/** The first page: what needs somebody, with its buttons, every location as a tile, and the incidents of a day or more. */
export function overviewPage(data: PageData, { cursor }: Pick<HomeQuery, "cursor">, visitor: Visitor): HtmlPage {
  const { fleet } = data;
  const overview = overviewOf(data);
  const headline = headlineOf(overview, fleet, data.moment.times);
  return {
    here: "overview",
    tone: headline.tone,
    title: `${looks[headline.tone].mark} ${headline.sentence}`,
    body: html`${lead(headline, fleet)}${boardSection(overview, data, cursor, visitor)}
${fleetMap(fleet, data)}${recentIncidents(data, "./")}`,
  };
}

function lead({ tone, sentence, asides }: FleetHeadline, tally: Tally): Markup {
  const total = totalOf(tally.counts);
  const badges = html`<p>${countBadges(tally)} <span class="soft">of ${counted(total, "recording")}</span></p>`;
  return html`<div class="lead ${tone}">
<h1>${sentence}.</h1>${total === 0 ? nothing : badges}${asides.map((aside) => html`<p>${aside}</p>`)}</div>`;
}

const ENTRIES_A_PAGE = 8;
const ROWS_OF_LARGEST = 20;
const ROWS_OF_OTHERS = 5;
const HANDLED_SHOWN = 5;

/** The alerts that need somebody, page by page, and those that are handled; nothing where nothing fires. */
function boardSection(board: Overview, data: PageData, cursor: string | undefined, visitor: Visitor): Markup {
  if (data.alerts.length === 0) return nothing;
  const listing = listingOf(board.entries, { limit: ENTRIES_A_PAGE, cursor }, entrySortKey);
  const items = listing.items.map((entry) => entryItem(entry, board, data, visitor.formToken));
  const list = html`<ul class="board">${items}</ul>`;
  const link = (next: string | undefined) => homeLink("./", { cursor: next });
  const body = html`${withButtons(list, data, visitor)}${pager(listing, "entries", link)}`;
  const top = board.needed.length === 0 ? nothing : section("board", "Needs attention", body);
  const unread = unreadAlerts(board, data);
  return html`${top}${undoForms(board, data, visitor)}${unreadSection(unread, board, data)}${handledSection(board, data, new Set(unread))}`;
}

/** The incidents that somebody acknowledged a moment ago, each with a button that undoes it. */
function undoForms({ handled }: Overview, data: PageData, visitor: Visitor): Markup[] {
  const entries = entriesOf(handled.get("acknowledged") ?? [], data).slice(0, ENTRIES_A_PAGE);
  return entries.map(({ incident, alerts }) => {
    const words = html`<span><bdi>${incidentTitle(incident, namesIn(data))}</bdi> · ${incidentLinkOf(incident)}</span>`;
    return undoForm(incident.id, alerts, data, { root: "./", visitor, path: "" }, words);
  });
}

/** The alerts that fire, and are suppressed while the service does not answer. */
function unreadAlerts({ handled }: Overview, { alerts, suppressed }: PageData): Alert[] {
  const own = alerts.flatMap(({ subject, labels }) => (subject.kind === "service" ? fingerprint(labels) : []));
  const isOwn = ({ key }: Alert) => suppressed.get(key)?.inhibitedBy?.some((print) => own.includes(print)) === true;
  return own.length === 0 ? [] : (handled.get("inhibited") ?? []).filter(isOwn);
}

function unreadSection(unread: readonly Alert[], board: Overview, data: PageData): Markup {
  const listing = listingOf(entriesOf(unread, data), { limit: ENTRIES_A_PAGE }, entrySortKey);
  const items = listing.items.map((entry) => entryItem(entry, board, data, undefined));
  const left = listing.total - items.length;
  const more = left === 0 ? nothing : html`<p><a href="${ALL}">${count(left)} more</a></p>`;
  const body = html`<ul class="board">${items}</ul>${more}`;
  return unread.length === 0 ? nothing : section("unread", "Last known", body);
}

/** True for what was not read lately. */
function isLastKnown(alert: Alert, { fleet }: PageData): boolean {
  const { counts } = fleet.locations.get(alert.labels.location_id ?? "") ?? fleet;
  return !isOfLenswatch(alert) && counts.unknown > 0 && counts.unknown === totalOf(counts);
}

/** The list of everything that fires, and of what ended since yesterday. */
const ALL = incidentsLink("./", { days: "1" });

/** One form for all buttons, each with its own address: they work without the script. */
function withButtons(list: Markup, { moment }: PageData, visitor: Visitor): Markup {
  if (visitor.formToken === undefined) {
    if (visitor.isReadOnly || !visitor.canSignIn || visitor.name !== undefined) return list;
    return html`${list}<p><a href="${signInLink("./", "")}">Sign in to acknowledge</a></p>`;
  }
  return html`<form method="post" action="./incidents/ack">${formToken(visitor)}
<input type="hidden" name="seen" value="${moment.now}">${list}</form>`;
}

function entryItem(entry: OverviewEntry, board: Overview, data: PageData, token: string | undefined): Markup {
  const { alerts, incident } = entry;
  const [only, ...others] = alerts;
  const link = html` · ${incidentLinkOf(incident)}`;
  if (only && others.length === 0) return alertRow(only, data, buttonsOf(only, token), link);
  const shown = alerts.slice(0, entry === board.lead ? ROWS_OF_LARGEST : ROWS_OF_OTHERS);
  const left = alerts.length - shown.length;
  const all = html`<li><a href="${incidentLink("./", incident.id)}">${count(left)} more</a></li>`;
  const [worst = only] = alerts.toSorted((a, b) => severityRank(a.labels) - severityRank(b.labels));
  const isLast = alerts.every((alert) => isLastKnown(alert, data));
  return html`<li class="incident ${worst ? severityTone(worst.labels) : "info"}${isLast ? " last" : ""}" id="${incident.id}">
${severityWord(worst)}<div><h3><bdi>${incidentTitle(incident, namesIn(data))}</bdi></h3>
<p>${sinceOf(entry, data)}${link}${entry.cause ? html` · <bdi>${causePhrase(entry.cause)}</bdi>` : nothing}${placesOf(entry)}</p>
<details><summary>Show ${counted(alerts.length, "alert")}</summary>
<ul class="board">${shown.map((alert) => alertRow(alert, data, nothing))}${left === 0 ? nothing : all}</ul></details></div>
${token === undefined ? nothing : incidentButtons("./", incident.id, alerts.length)}</li>`;
}

/** With how often it came, if that was several times. */
function incidentLinkOf({ id, episodes }: Incident): Markup {
  const times = timesOf({ episodes });
  return html`${times > 1 ? `${count(times)} times · ` : ""}<a class="t" href="${incidentLink("./", id)}">${id}</a>`;
}

/** In a form that is about the time when the page was made; its silence has a form of its own, which asks the reason. */
export function incidentButtons(root: Root, id: string, size: number): Markup {
  return html`<p class="actions"><button class="main" name="incident" value="${id}" formaction="${root}incidents/ack">Acknowledge ${allOf(size)}</button>
<a class="button" href="${incidentLink(root, id)}#silence">Silence ${allOf(size)}…</a></p>`;
}

/** `all 12`, `2,000 of 3,512`; empty of one. */
export function allOf(size: number): string {
  if (size > MOST_AT_ONCE) return `${count(MOST_AT_ONCE)} of ${count(size)}`;
  return size === 1 ? "" : `all ${count(size)}`;
}

function buttonsOf(alert: Alert, token: string | undefined): Markup {
  if (token === undefined) return nothing;
  return html`<p class="actions"><button formaction="./alerts/${fingerprint(alert.labels)}/ack">Acknowledge</button></p>`;
}

function alertRow(alert: Alert, data: PageData, buttons: Markup, state = nothing, root: Root = "./"): Markup {
  const since = sinceOf({ alerts: [alert], since: alert.startsAt }, data);
  const isLast = isLastKnown(alert, data);
  return html`<li class="${toneOf(ratedIn(data, [alert]))}${isLast ? " last" : ""}">${severityWord(alert)}<div>
<a href="${alertPageLink(root, fingerprint(alert.labels))}">${alertTitle(alert)}</a> · ${subjectOf(alert, root, alert === data.banner?.alert)}
<p>${since}${isLast ? " · last known" : ""}${state}</p></div>${buttons}</li>`;
}

function sinceOf({ alerts: [first], since }: Pick<OverviewEntry, "alerts" | "since">, { moment }: PageData): Markup {
  return html`since ${sinceAt(since, first?.facts.timezone ?? "UTC", moment)}`;
}

const LOCATIONS_NAMED = 2;

/** ` · Leeds Briggate, York and 3 more locations`. */
function placesOf({ alerts }: OverviewEntry): Markup {
  const places = [...Map.groupBy(alerts, ({ labels }) => labels.location_id ?? "").entries()].filter(
    ([id]) => id !== "",
  );
  const named = places.slice(0, LOCATIONS_NAMED).map(([id, [alert]], i) => {
    const name = nameOf(alert?.labels.location ?? "", id);
    return html`${i === 0 ? nothing : ", "}<a href="${homeLink("./", { location: id })}"><bdi>${name}</bdi></a>`;
  });
  const left = places.length - named.length;
  return html`${places.length === 0 ? nothing : html` · ${named}`}${left === 0 ? nothing : ` and ${counted(left, "more location")}`}`;
}

function handledSection(board: Overview, data: PageData, unread: ReadonlySet<Alert>): Markup {
  const phrase = handledOf(board);
  if (phrase === "") return nothing;
  const shown = [...board.handled.values()].flatMap((alerts) =>
    alerts.filter((alert) => !unread.has(alert)).slice(0, HANDLED_SHOWN),
  );
  const all = counted(data.alerts.length, "active alert");
  return html`<details id="handled" class="handled"><summary>${phrase}</summary>${alertList(shown, data, "./")}
<p><a href="${ALL}">All ${all}</a></p></details>`;
}

/** Alerts, a row for each, with what suppresses them; nothing of none. */
export function alertList(alerts: readonly Alert[], data: PageData, root: Root): Markup {
  const rows = alerts.map((alert) => alertRow(alert, data, nothing, stateOf(alert, data, root), root));
  return rows.length === 0 ? nothing : html`<ul class="board">${rows}</ul>`;
}

/** The state of a handled alert, with a link to the alert that explains it. */
function stateOf(alert: Alert, { suppressed, moment }: PageData, root: Root): Markup {
  const active = suppressed.get(alert.key);
  const phrase = handledText({ alert, ...active }, moment.times);
  const [print] = active?.inhibitedBy ?? [];
  const link = print === undefined ? nothing : html` · <a href="${alertPageLink(root, print)}">the other alert</a>`;
  return html`${phrase === "" ? nothing : html` · <bdi>${phrase}</bdi>`}${link}`;
}

function severityWord(alert: Alert | undefined): Markup {
  return html`<strong class="s">${nameOf(alert?.labels.severity ?? "", "no severity", 20)}</strong>`;
}
