/** `GET /?q=`: recordings, locations, camera servers and incidents with the words in their names. */
import { findIncident, incidentsOf, isIncidentId } from "../../alerting/incident.ts";
import { alertsByLocation, type LocationSummary, locationSortKey, summaryOf } from "../../alerting/overview.ts";
import { type DirectoryLookup, groupNameIn } from "../../health/directory.ts";
import type { Recording } from "../../health/recording.ts";
import { briefId, count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { sortKey } from "../../lib/sort-key.ts";
import { eachRow } from "../../lib/yield.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import { listingOf } from "../paging.ts";
import { recordingMatcher, textMatcher } from "../search.ts";
import { incidentsFound } from "./incidents-page.ts";
import type { HtmlPage } from "./layout.ts";
import { type HomeQuery, homeLink, incidentLink, recordingLink } from "./links.ts";
import { listed, section, tableOf } from "./listing.ts";
import type { PageData } from "./page-data.ts";
import { countBadges, locationTable } from "./summary.ts";

/** Rows of locations, camera servers and incidents each. */
const MOST_LISTED = 12;
const RECORDINGS_A_PAGE = 100;
/** Incidents of so many days are found. */
export const DAYS_SEARCHED = 7;

const ROOT = "./";

/** A page that lists what was found; the link to it where it is one thing: a location with its recordings is one. */
export function* searchPage(
  data: PageData,
  { q = "", cursor }: Pick<HomeQuery, "q" | "cursor">,
  episodes: readonly StoredEpisode[],
): Generator<void, HtmlPage | string> {
  const { fleet, alerts } = data;
  const { inventory } = fleet;
  const matches = textMatcher(q);
  const byLocation = alertsByLocation(data);
  const all = fleet.locations.values().map((one) => summaryOf(one, fleet, byLocation));
  const locations = listingOf(all, { limit: MOST_LISTED }, (location) =>
    matches([location.name, location.id]) ? locationSortKey(location) : undefined,
  );
  const [location] = locations.items;
  const isFound = recordingMatcher(q, inventory);
  const alertsOf = Map.groupBy(alerts, ({ labels }) => labels.recording_id);
  const servers = new Map<string, number>();
  let elsewhere = 0;
  const found: Recording[] = [];
  yield* eachRow(inventory.recordings(), (row) => {
    const { cameraServer, locationId } = row;
    if (!fleet.locations.has(locationId) || !isFound(row)) return;
    found.push(row);
    if (cameraServer !== "" && matches([cameraServer, inventory.nameOf?.(cameraServer) ?? ""]))
      servers.set(cameraServer, (servers.get(cameraServer) ?? 0) + 1);
    if (locationId !== location?.id) elsewhere += 1;
  });
  const keyOf = ({ id, name, locationId }: Recording) =>
    sortKey(alertsOf.has(id) ? 0 : 1, [inventory.location(locationId)?.name || locationId, name || id], id);
  const recordings = listingOf(found, { limit: RECORDINGS_A_PAGE, cursor }, keyOf);
  const ended = incidentsFound(episodes, q, MOST_LISTED, data);
  const [recording] = recordings.items;
  if (locations.total === 1 && location && elsewhere === 0) return homeLink(ROOT, { location: location.id });
  if (locations.total === 0 && recordings.total === 1 && recording) return recordingLink(ROOT, recording.id);
  const named = isIncidentId(q) ? findIncident(incidentsOf(episodes), q) : undefined;
  const incident = named ?? (locations.total + recordings.total === 0 ? ended.only : undefined);
  if (incident) return incidentLink(ROOT, incident.id);
  const link = (next: string | undefined) => homeLink(ROOT, { q, cursor: next });
  const rows = recordings.items.map((row) => recordingRow(row, data, alertsOf.get(row.id)?.length ?? 0));
  const columns = [["Recording"], ["Location", "location"], ["Alerts", "", "n"]] as const;
  const table = tableOf("Recordings, those with alerts first", columns, rows);
  const list = listed(recordings, "recordings", link, table, "those with alerts first");
  const others = html`${locationSection(locations.total, locationTable(locations.items), q)}${serverSection(servers, inventory)}`;
  return {
    title: `${count(recordings.total)} found`,
    refresh: "never",
    sought: q,
    path: link(undefined).slice(ROOT.length),
    body: html`<h1>Found: <bdi>${briefId(q)}</bdi></h1>${cursor === undefined ? others : nothing}
${section("recordings", counted(recordings.total, "recording"), list)}${cursor === undefined ? ended.found : nothing}`,
  };
}

/** A recording found, with the statuses at its location: its own is on its page. */
function recordingRow({ id, name, locationId }: Recording, { fleet }: PageData, firing: number): Markup[] {
  const location = nameOf(fleet.inventory.location(locationId)?.name ?? "", locationId);
  const tally = fleet.locations.get(locationId) as LocationSummary;
  return [
    html`<a href="${recordingLink(ROOT, id)}"><bdi>${nameOf(name, id)}</bdi></a>`,
    html`<a href="${homeLink(ROOT, { location: locationId })}"><bdi>${location}</bdi></a> <small>${countBadges(tally)}</small>`,
    firing === 0 ? nothing : html`${counted(firing, "alert")}`,
  ];
}

function locationSection(total: number, table: Markup, q: string): Markup {
  const all = html`<p class="pager"><a href="${homeLink(ROOT, { show: "locations", q })}">All of them</a></p>`;
  const body = html`${table}${total > MOST_LISTED ? all : nothing}`;
  return total === 0 ? nothing : section("locations", counted(total, "location"), body);
}

/** The camera servers found, the one with the most recordings first; each leads to its recordings. */
function serverSection(servers: ReadonlyMap<string, number>, inventory: DirectoryLookup): Markup {
  if (servers.size === 0) return nothing;
  const sorted = [...servers].sort(([, a], [, b]) => b - a).slice(0, MOST_LISTED);
  const rows = sorted.map(([name, recordings]) => [
    html`<a href="${homeLink(ROOT, { q: name.slice(0, 256) })}"><bdi>${nameOf(groupNameIn(inventory, name), "")}</bdi></a>`,
    html`${count(recordings)}`,
  ]);
  const table = tableOf("Camera servers", [["Camera server"], ["Recordings", "recordings", "n"]], rows);
  return section("servers", counted(servers.size, "camera server"), table);
}
