/** Incidents of the stored episodes, as pages and the API list and find them. */
import type { StoredAcknowledgement } from "../alerting/acknowledgement.ts";
import { durationOf, findIncident, type Incident, incidentsOf, widestSubjects } from "../alerting/incident.ts";
import { visitsOnce } from "../alerting/uncounted.ts";
import { DAY_MS, type Instant } from "../lib/clock.ts";
import type { StoredEpisode } from "../store/episodes.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { inTime, type PageData } from "./page/page-data.ts";
import { knownZone } from "./page/when.ts";
import { type Listing, listingOf, type PageQuery } from "./paging.ts";

export type KnownIncident = Incident<StoredEpisode>;

/** Episodes are stored for so many days; most people ask for newer incidents. */
const SEARCHED_DAYS = [2, 90];
/** Messages about the end come after it. */
const AFTER_MS = 600_000;
/** Subjects whose decisions are shown, the widest first. */
const SUBJECTS_SHOWN = 12;

/** The incidents of these episodes, each visit that was not counted at one of them. */
function knownIncidents(episodes: readonly StoredEpisode[], now: Instant): KnownIncident[] {
  return visitsOnce(incidentsOf(episodes), { from: 0, to: now }, now);
}

/** The incident that an id means, with the decisions about it. Throws HttpError `not_found` where none has or had the id. */
export async function readIncident(id: string, now: Instant, deps: HttpDeps) {
  for (const days of SEARCHED_DAYS) {
    const incident = findIncident(knownIncidents(await inTime(deps.episodes(now - days * DAY_MS), deps), now), id);
    if (!incident) continue;
    const lines = await inTime(deps.timeline(widestSubjects(incident, SUBJECTS_SHOWN), incident.startsAt - 1), deps);
    return { incident, lines: lines.filter(({ at }) => at <= (incident.endsAt ?? now) + AFTER_MS) };
  }
  throw new HttpError("not_found", "No incident of the last 90 days has this id: it may be cut off.");
}

interface IncidentsWanted extends PageQuery {
  /** `newest` by default: the latest start first. */
  readonly sort?: "newest" | "longest";
  /** True of one of its episodes. */
  matches(episode: StoredEpisode): boolean;
}

/** One page of the incidents of these episodes. */
export function incidentListing(
  episodes: readonly StoredEpisode[],
  { sort, matches, ...page }: IncidentsWanted,
  now: Instant,
): Listing<KnownIncident> {
  return listingOf(knownIncidents(episodes, now), page, (incident) => {
    if (!incident.episodes.some(matches)) return undefined;
    const { id, startsAt } = incident;
    const most = sort === "longest" ? Math.round(durationOf(incident, now)) : startsAt;
    // A key that goes up as the start goes back.
    return `${String(Number.MAX_SAFE_INTEGER - most).padStart(16, "0")} ${id}`;
  });
}

/** The zone of its recordings, where they share one; else UTC. */
export function incidentZone({ episodes }: Incident, { fleet: { inventory } }: Pick<PageData, "fleet">): string {
  const zones = new Set(
    episodes.map(({ subject, locationId }) =>
      knownZone(
        subject.kind === "recording" ? inventory.recording(subject.id)?.timezone : undefined,
        inventory.location(locationId ?? "")?.timezone,
      ),
    ),
  );
  const [only = "UTC", ...others] = zones;
  return others.length === 0 ? only : "UTC";
}

/** The acknowledgements in force, by episode. */
export function acknowledgementsIn({ suppressed }: Pick<PageData, "suppressed">) {
  const all = suppressed.values().flatMap(({ alert: { id }, acknowledgement }) => {
    return acknowledgement ? [[id, acknowledgement] as const] : [];
  });
  return new Map<string, StoredAcknowledgement>(all);
}
