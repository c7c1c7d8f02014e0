/** `GET /?q=`: recordings, locations, camera servers and incidents with the words in their names. */
import { countFleet, locationSortKey } from "../../alerting/overview.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Incident } from "../../store/incidents.ts";
import { listingOf } from "../paging.ts";
import { recordingMatcher, textMatcher } from "../search.ts";
import { incidentsFound } from "./incidents-page.ts";
import type { HtmlPage } from "./layout.ts";
import { alertPageLink, type HomeQuery, homeLink, recordingLink } from "./links.ts";
import { listed, section, tableOf } from "./listing.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import { recordingListing, recordingTable } from "./recording-table.ts";
import { locationTable } from "./summary.ts";

/** Rows of locations, camera servers and incidents each. */
const MOST_LISTED = 12;
/** Incidents of so many days are found. */
export const DAYS_SEARCHED = 7;

const ROOT = "./";

/** A page that lists what was found; the link to it where it is one thing: a location with its recordings is one. */
export function* searchPage(
  data: PageData,
  { q = "", cursor }: Pick<HomeQuery, "q" | "cursor">,
  incidents: readonly Incident[],
): Generator<void, HtmlPage | string> {
  const { fleet } = data;
  const matches = textMatcher(q);
  const { locations: all } = yield* countFleet(fleet, data.alerts);
  const locations = yield* listingOf(all.values(), { limit: MOST_LISTED }, (location) =>
    matches([location.name, location.id]) ? locationSortKey(location) : undefined,
  );
  const [location] = locations.items;
  const isFound = recordingMatcher(q, fleet);
  const servers = new Map<string, number>();
  let elsewhere = 0;
  const recordings = yield* recordingListing(all.values(), data, { cursor }, (row) => {
    if (!isFound(row)) return false;
    const { cameraServer = "" } = fleet.inventory.recording(row.id) ?? {};
    if (cameraServer !== "" && matches([cameraServer])) servers.set(cameraServer, (servers.get(cameraServer) ?? 0) + 1);
    if (row.locationId !== location?.id) elsewhere += 1;
    return true;
  });
  const ended = yield* incidentsFound(incidents, q, MOST_LISTED, data);
  const [recording] = recordings.items;
  if (locations.total === 1 && location && elsewhere === 0) return homeLink(ROOT, { location: location.id });
  if (locations.total === 0 && recordings.total === 1 && recording) return recordingLink(ROOT, recording.id);
  if (locations.total + recordings.total === 0 && ended.only?.fingerprint)
    return alertPageLink(ROOT, ended.only.fingerprint);
  const link = (next: string | undefined) => homeLink(ROOT, { q, cursor: next });
  const table = listed(recordings, "recordings", link, recordingTable(recordings.items, data, true));
  const others = html`${locationSection(locations.total, locationTable(locations.items), q)}${serverSection(servers)}`;
  return {
    title: `${count(recordings.total)} found`,
    refresh: "never",
    sought: q,
    path: link(undefined).slice(ROOT.length),
    body: html`<h1>Found: <bdi>${q}</bdi></h1>${unreachableNotice(data)}${cursor === undefined ? others : nothing}
${section("recordings", counted(recordings.total, "recording"), table)}${cursor === undefined ? ended.found : nothing}`,
  };
}

function locationSection(total: number, table: Markup, q: string): Markup {
  const all = html`<p class="pager"><a href="${homeLink(ROOT, { show: "locations", q })}">All of them</a></p>`;
  const body = html`${table}${total > MOST_LISTED ? all : nothing}`;
  return total === 0 ? nothing : section("locations", counted(total, "location"), body);
}

/** The camera servers found, the one with the most recordings first; each leads to its recordings. */
function serverSection(servers: ReadonlyMap<string, number>): Markup {
  if (servers.size === 0) return nothing;
  const sorted = [...servers].sort(([, a], [, b]) => b - a).slice(0, MOST_LISTED);
  const rows = sorted.map(([name, recordings]) => [
    html`<a href="${homeLink(ROOT, { q: name.slice(0, 256) })}"><bdi>${nameOf(name, "")}</bdi></a>`,
    html`${count(recordings)}`,
  ]);
  const table = tableOf("Camera servers", [["Camera server"], ["Recordings", "recordings", "n"]], rows);
  return section("servers", counted(servers.size, "camera server"), table);
}
