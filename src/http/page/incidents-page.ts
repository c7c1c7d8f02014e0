/** `GET /incidents`: what happened, filtered and sorted, also as CSV; and the last day of it for the overview. */

import { MOST_ESTIMATED } from "../../alerting/uncounted.ts";
import type { Inventory } from "../../health/shard-state.ts";
import { DAY_MS } from "../../lib/clock.ts";
import { type CsvColumns, csvTable } from "../../lib/csv.ts";
import { count, counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Incident } from "../../store/incidents.ts";
import { textMatcher } from "../search.ts";
import { type ApiIncident, incidentListing } from "../v1/incidents.ts";
import { filterForm, selectOf, textInput } from "./field.ts";
import { incidentTable } from "./history.ts";
import type { HtmlPage } from "./layout.ts";
import { type IncidentsQuery, incidentsLink, periods, type Root } from "./links.ts";
import { listed, section } from "./listing.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import { knownZone } from "./when.ts";

const INCIDENTS_A_PAGE = 100;
const RECENT_SHOWN = 8;
const RULES_LISTED = 100;

const ROOT = "./";

/** `incidents` are those of the days that the query asks for. */
export function incidentsPage(incidents: readonly Incident[], query: IncidentsQuery, data: PageData): HtmlPage {
  const { fleet, moment } = data;
  const { q, rule, days, sort } = query;
  const wanted = { ...wantedBy(query, fleet.inventory), limit: INCIDENTS_A_PAGE, cursor: query.cursor };
  const listing = incidentListing(incidents, wanted, fleet.inventory, moment.now);
  const table = fleetTable(listing.items, data, ROOT, "Incidents");
  const parameters = { q, rule, days, sort };
  const link = (cursor: string | undefined) => incidentsLink(ROOT, { ...parameters, cursor });
  const csv = html`<p><a href="${incidentsLink(ROOT, parameters, "incidents.csv")}" download>All of them as CSV</a></p>`;
  const rules = [...new Set(incidents.map(({ alertname }) => alertname))].sort().slice(0, RULES_LISTED);
  const costs = areNotEstimated(incidents)
    ? html`<p class="soft">What outages that last cost in visits is not estimated: they are at more than ${count(MOST_ESTIMATED)} locations.</p>`
    : nothing;
  return {
    title: counted(listing.total, "incident"),
    here: "incidents",
    path: incidentsLink(ROOT, parameters).slice(ROOT.length),
    refresh: "never",
    madeAt: moment.now,
    body: html`<h1>${counted(listing.total, "incident")}</h1>${unreachableNotice(data)}<p><a href="./handover">Handover</a> · <a href="./report">Lost time by cause</a></p>${filters(query, rules)}
${listing.total === 0 ? NONE : html`${costs}${listed(listing, "incidents", link, table, `the ${sort} first`)}${csv}`}`,
  };
}

const NONE = html`<p class="soft">No incidents in that time.</p>`;

/** True where estimates are made, but of none that lasts, as outages are at too many locations. */
function areNotEstimated(incidents: readonly Incident[]): boolean {
  const lasting = new Set<string>();
  let estimated = 0;
  for (const { endsAt, locationId, uncounted } of incidents) {
    if (uncounted) estimated += endsAt === undefined ? Number.POSITIVE_INFINITY : 1;
    else if (endsAt === undefined && locationId !== undefined) lasting.add(locationId);
  }
  return Number.isFinite(estimated) && estimated > 0 && lasting.size > MOST_ESTIMATED;
}

function fleetTable(rows: readonly ApiIncident[], { fleet, moment }: PageData, root: Root, caption: string): Markup {
  const timezoneOf = (row: ApiIncident) => zoneOf(row, fleet.inventory);
  return incidentTable(rows, { moment, timezoneOf, root, caption, withPlace: true });
}

function wantedBy({ q, rule, sort }: Pick<IncidentsQuery, "q" | "rule" | "sort">, inventory: Inventory) {
  const matches = q === undefined ? undefined : textMatcher(q);
  return {
    alertname: rule,
    sort,
    ...(matches && { matches: (incident: Incident) => matches(namesOf(incident, inventory)) }),
  };
}

function namesOf({ subject, locationId = "", alertname }: Incident, inventory: Inventory): string[] {
  const recording = subject.kind === "recording" ? inventory.recording(subject.id)?.name : undefined;
  return [recording ?? "", subject.id, inventory.location(locationId)?.name ?? "", locationId, alertname];
}

/** The newest incidents with the words of `q` in their names, as a section; `only` where it is one. */
export function incidentsFound(
  incidents: readonly Incident[],
  q: string,
  limit: number,
  data: PageData,
): { readonly total: number; readonly only: ApiIncident | undefined; readonly found: Markup } {
  const { inventory } = data.fleet;
  const wanted = { ...wantedBy({ q, sort: "newest" }, inventory), limit };
  const { items, total } = incidentListing(incidents, wanted, inventory, data.moment.now);
  const all = html`<p class="pager"><a href="${incidentsLink(ROOT, { q })}">All of them</a></p>`;
  const found = section(
    "incidents",
    counted(total, "incident"),
    html`${fleetTable(items, data, ROOT, "Incidents")}${all}`,
  );
  return { total, only: total === 1 ? items[0] : undefined, found: total === 0 ? nothing : found };
}

function zoneOf({ subject, locationId }: ApiIncident, inventory: Inventory): string {
  const own = subject.kind === "recording" ? inventory.recording(subject.id)?.timezone : undefined;
  return knownZone(own, inventory.location(locationId ?? "")?.timezone);
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

const CSV_COLUMNS: CsvColumns<ApiIncident> = {
  alertname: ({ alertname }) => alertname,
  location: ({ location }) => location ?? undefined,
  location_id: ({ locationId }) => locationId ?? undefined,
  recording: ({ recording }) => recording ?? undefined,
  recording_id: ({ subject }) => (subject.kind === "recording" ? subject.id : undefined),
  began: ({ startsAt }) => startsAt,
  ended: ({ endsAt }) => endsAt ?? undefined,
  lasted_seconds: ({ durationSeconds }) => Math.round(durationSeconds),
  reason: ({ endReason }) => endReason ?? undefined,
  planned: ({ planned }) => planned ?? undefined,
  visits_uncounted: ({ uncounted }) => uncounted?.estimate,
  visits_uncounted_low: ({ uncounted }) => uncounted?.low,
  visits_uncounted_high: ({ uncounted }) => uncounted?.high,
};

/** All rows that the query asks for, instants in UTC; empty cells where it is not over. */
export function* incidentsCsv(
  incidents: readonly Incident[],
  query: IncidentsQuery,
  { fleet: { inventory }, moment: { now } }: PageData,
): Generator<void, string> {
  const wanted = { ...wantedBy(query, inventory), limit: incidents.length };
  const { items } = incidentListing(incidents, wanted, inventory, now);
  let text = "";
  for (const lines of csvTable(CSV_COLUMNS, items)) {
    text += lines;
    yield;
  }
  return text;
}

/**
 * The incidents that ended in the last 24 hours, for the overview: the newest, without outages of recordings within one of their
 * location; nothing where nothing ended. `incidents` are at least those of that time.
 */
export function recentIncidents(incidents: readonly Incident[], data: PageData, root: Root): Markup {
  const { fleet, moment } = data;
  const since = moment.now - DAY_MS;
  const ended = incidents.filter(({ endsAt = 0 }) => endsAt >= since);
  const whole = ended.filter(({ subject }) => subject.kind === "location");
  const ofLocations = Map.groupBy(whole, ({ locationId }) => locationId);
  const isWithin = ({ subject, locationId, startsAt, endsAt = 0 }: Incident) =>
    subject.kind === "recording" &&
    (ofLocations.get(locationId) ?? []).some((whole) => startsAt <= (whole.endsAt ?? 0) && endsAt >= whole.startsAt);
  const wanted = { limit: RECENT_SHOWN, matches: (one: Incident) => !isWithin(one) };
  const { items } = incidentListing(ended, wanted, fleet.inventory, moment.now);
  if (items.length === 0) return nothing;
  const table = fleetTable(items, data, root, "What ended in the last 24 hours");
  const all = html`<p class="pager"><a href="${incidentsLink(root, { days: "1" })}">${count(ended.length)} ended, all incidents</a></p>`;
  return section("recent", "What happened in the last 24 hours", html`${table}${all}`);
}
