/** `GET /incidents`: what happened, filtered and sorted, also as CSV; and the last day of it for the overview. */

import { durationOf, episodeOf, type Incident, incidentsOf } from "../../alerting/incident.ts";
import { incidentTitle } from "../../alerting/incident-words.ts";
import type { Inventory } from "../../health/shard-state.ts";
import { DAY_MS } from "../../lib/clock.ts";
import { type CsvColumns, csvTable } from "../../lib/csv.ts";
import { count, counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { lastedText } from "../../lib/when.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import { incidentListing, incidentZone } from "../incidents.ts";
import { textMatcher } from "../search.ts";
import { type ApiIncident, incidentRows } from "../v1/incidents.ts";
import { filterForm, selectOf, textInput } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import { type IncidentsQuery, incidentLink, incidentsLink, periods, type Root } from "./links.ts";
import { listed, section, tableOf } from "./listing.ts";
import { namesIn, type PageData } from "./page-data.ts";
import { BRIEF_MS, timeAt } from "./when.ts";

const INCIDENTS_A_PAGE = 100;
const RECENT_SHOWN = 8;
const RULES_LISTED = 100;

const ROOT = "./";

/** `episodes` are those of the days that the query asks for. */
export function incidentsPage(episodes: readonly StoredEpisode[], query: IncidentsQuery, data: PageData): HtmlPage {
  const { q, rule, days, sort } = query;
  const listing = incidentListing(
    episodes,
    { ...wantedBy(query, data), limit: INCIDENTS_A_PAGE, cursor: query.cursor },
    data.moment.now,
  );
  const table = incidentTable(listing.items, data, ROOT, "Incidents");
  const parameters = { q, rule, days, sort };
  const link = (cursor: string | undefined) => incidentsLink(ROOT, { ...parameters, cursor });
  const csv = html`<p><a href="${incidentsLink(ROOT, parameters, "incidents.csv")}" download>As CSV</a></p>`;
  const rules = [...new Set(episodes.map(({ alertname }) => alertname))].sort().slice(0, RULES_LISTED);
  return {
    title: counted(listing.total, "incident"),
    here: "incidents",
    path: incidentsLink(ROOT, parameters).slice(ROOT.length),
    refresh: "never",
    data,
    body: html`<h1>${counted(listing.total, "incident")}</h1><p><a href="./report">Lost time by cause</a></p>${filters(query, rules)}
${listing.total === 0 ? NONE : html`${listed(listing, "incidents", link, table, `the ${sort} first`)}${csv}`}`,
  };
}

/** The incidents wanted: those with an episode of the rule that has the words of `q` in its names. */
function wantedBy({ q, rule, sort }: Pick<IncidentsQuery, "q" | "rule" | "sort">, { fleet: { inventory } }: PageData) {
  const matches = q === undefined ? undefined : textMatcher(q);
  const isWanted = (one: StoredEpisode) =>
    (rule === undefined || one.alertname === rule) && (matches?.(namesOf(one, inventory)) ?? true);
  return { sort, matches: isWanted };
}

const NONE = html`<p class="soft">No incidents in that time.</p>`;

function namesOf({ subject, locationId = "", alertname }: StoredEpisode, inventory: Inventory): string[] {
  const recording = subject.kind === "recording" ? inventory.recording(subject.id)?.name : undefined;
  return [recording ?? "", subject.id, inventory.location(locationId)?.name ?? "", locationId, alertname];
}

/** The newest incidents with the words of `q` in their names, as a section; `only` where it is one. */
export function incidentsFound(
  episodes: readonly StoredEpisode[],
  q: string,
  limit: number,
  data: PageData,
): { readonly total: number; readonly only: Incident | undefined; readonly found: Markup } {
  const { items, total } = incidentListing(
    episodes,
    { ...wantedBy({ q, sort: "newest" }, data), limit },
    data.moment.now,
  );
  const all = html`<p class="pager"><a href="${incidentsLink(ROOT, { q })}">All of them</a></p>`;
  const table = incidentTable(items, data, ROOT, "Incidents");
  const found = total === 0 ? nothing : section("incidents", counted(total, "incident"), html`${table}${all}`);
  return { total, only: total === 1 ? items[0] : undefined, found };
}

function filters({ q, rule = "", days, sort }: IncidentsQuery, rules: readonly string[]): Markup {
  const names = [
    ["", "all"] as const,
    ...[...new Set([...rules, rule])].filter(Boolean).map((one) => [one, one] as const),
  ];
  const sorts = [["newest", "the newest first"] as const, ["longest", "the longest first"] as const];
  return filterForm(incidentsLink(ROOT), [
    ["Location or recording", textInput("q", q)],
    ["Rule", selectOf("rule", names, rule)],
    ["Last", selectOf("days", Object.entries(periods), days)],
    ["Order", selectOf("sort", sorts, sort)],
  ]);
}

const csvColumns: CsvColumns<ApiIncident> = {
  incident: ({ id }) => id,
  title: ({ title }) => title,
  alertnames: ({ episodes }) => setText(episodes.map(({ alertname }) => alertname)),
  locations: ({ episodes }) => setText(episodes.map(({ location }) => location)),
  location_ids: ({ episodes }) => setText(episodes.map(({ locationId }) => locationId)),
  recordings_offline: ({ recordings }) => recordings,
  cause: ({ cause }) => (cause ? `${cause.label}=${cause.value}` : undefined),
  began: ({ startsAt }) => startsAt,
  ended: ({ endsAt }) => endsAt ?? undefined,
  lasted_seconds: ({ durationSeconds }) => Math.round(durationSeconds),
  acknowledged_by: ({ acknowledgement }) => acknowledgement?.author,
  planned: ({ episodes }) => setText(episodes.map(({ planned }) => planned)),
  visits_uncounted: ({ uncounted }) => uncounted?.estimate,
  visits_uncounted_low: ({ uncounted }) => uncounted?.low,
  visits_uncounted_high: ({ uncounted }) => uncounted?.high,
};

/** `Leeds; York`. */
function setText(values: readonly (string | null)[]): string | undefined {
  return [...new Set(values)].filter((one) => one !== null).join("; ") || undefined;
}

/** All incidents that the query asks for, instants in UTC; empty cells where one is not over. */
export function* incidentsCsv(
  episodes: readonly StoredEpisode[],
  query: IncidentsQuery,
  data: PageData,
): Generator<void, string> {
  const wanted = { ...wantedBy(query, data), limit: episodes.length };
  const { items } = incidentListing(episodes, wanted, data.moment.now);
  let text = "";
  for (const lines of csvTable(csvColumns, incidentRows(items, data))) {
    text += lines;
    yield;
  }
  return text;
}

/** The incidents that ended in the last 24 hours, for the overview: the newest; nothing where none did. */
export function recentIncidents(data: PageData, root: Root): Markup {
  const { moment } = data;
  const open = data.alerts.map(episodeOf);
  const ended = incidentsOf([...data.ended, ...open]).filter(({ endsAt = 0 }) => endsAt >= moment.now - DAY_MS);
  if (ended.length === 0) return nothing;
  const table = incidentTable(ended.slice(0, RECENT_SHOWN), data, root, "What ended in the last 24 hours");
  const all = html`<p class="pager"><a href="${incidentsLink(root, { days: "1" })}">${count(ended.length)} ended, all of them</a></p>`;
  return section("recent", "What happened in the last 24 hours", html`${table}${all}`);
}

function incidentTable(incidents: readonly Incident[], data: PageData, root: Root, caption: string): Markup {
  const { moment } = data;
  const rows = incidents.map((incident) => {
    const { id, startsAt, endsAt = moment.now } = incident;
    const zone = incidentZone(incident, data);
    const isBrief = endsAt - startsAt < BRIEF_MS;
    return [
      html`<a href="${incidentLink(root, id)}"><bdi>${incidentTitle(incident, namesIn(data))}</bdi></a> <small>${id}</small>`,
      timeAt(startsAt, zone, moment, isBrief),
      incident.endsAt === undefined ? nothing : timeAt(endsAt, zone, moment, isBrief),
      html`${lastedText(durationOf(incident, moment.now), startsAt, endsAt)}`,
    ];
  });
  return tableOf(caption, [["Incident"], ["Began", "began"], ["Ended", "ended"], ["Lasted", "lasted", "t"]], rows);
}
