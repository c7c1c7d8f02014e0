/** The overview: what needs somebody, and the locations of the fleet; computed once for pages, the API and the command line. Pure. */
import type { Alert } from "../health/alert.ts";
import { type RecordingStatus, worstFirst } from "../health/recording.ts";
import type { FleetOverview, LocationOverview } from "../health/shard-overview.ts";
import { type StatusCounts, totalOf } from "../health/status-counts.ts";
import type { Instant } from "../lib/clock.ts";
import { sortKey } from "../lib/sort-key.ts";
import { type Attention, attentions, attentionTo, isOfLenswatch, type Suppressors } from "./attention.ts";
import { groupSizes } from "./group-sizes.ts";
import { type Episode, episodeOf, findIncident, type Incident, incidentsOf } from "./incident.ts";
import { type SharedCause, sharedCause } from "./incident-cause.ts";
import { severityRank } from "./words.ts";

/** The fleet, its firing alerts, and by their `key` what suppresses them. */
export interface Seen {
  readonly fleet: FleetOverview;
  readonly alerts: readonly Alert[];
  readonly suppressed: ReadonlyMap<string, Omit<Suppressors, "isPaused"> & { readonly alert: Alert }>;
  /** Episodes that ended in the last day: what fires may be of an incident with them. */
  readonly ended: readonly Episode[];
}

/** An open incident of which alerts need somebody. */
export interface OverviewEntry {
  readonly incident: Incident;
  readonly cause?: SharedCause | undefined;
  /** The alerts that need somebody, oldest first; at least one. */
  readonly alerts: readonly Alert[];
  readonly since: Instant;
}

export interface Overview {
  readonly needed: readonly Alert[];
  /** `entrySortKey` puts the worst first. */
  readonly entries: readonly OverviewEntry[];
  /** The entry of most alerts, where it has several. */
  readonly lead: OverviewEntry | undefined;
  readonly handled: ReadonlyMap<Attention, readonly Alert[]>;
}

export function overviewOf(seen: Seen): Overview {
  const by = new Map<Attention, Alert[]>(attentions.map((attention) => [attention, []]));
  for (const alert of seen.alerts) by.get(attentionIn(seen, alert))?.push(alert);
  const needed = by.get("needed") ?? [];
  by.delete("needed");
  const entries = entriesOf(needed, seen);
  const [lead] = entries.filter(({ alerts }) => alerts.length > 1).sort((a, b) => b.alerts.length - a.alerts.length);
  return { needed, entries, lead, handled: by };
}

/** The incidents of these alerts, with what explains each. */
export function entriesOf(
  needed: readonly Alert[],
  { fleet, ...seen }: Pick<Seen, "fleet" | "alerts" | "ended">,
): OverviewEntry[] {
  const byId = new Map(needed.map((alert) => [alert.id, alert]));
  const sizes = groupSizes(fleet);
  return incidentsSeen(seen).flatMap((incident): OverviewEntry[] => {
    const alerts = incident.episodes.flatMap(({ id }) => byId.get(id) ?? []);
    if (alerts.length === 0) return [];
    return [{ incident, alerts, since: incident.startsAt, cause: sharedCause(incident.cause, alerts, sizes) }];
  });
}

function incidentsSeen({ alerts, ended }: Pick<Seen, "alerts" | "ended">): Incident[] {
  return incidentsOf([...ended, ...alerts.map(episodeOf)]);
}

/** The attention for an alert; one that waits for its first evaluation counts as well. */
export function attentionIn({ suppressed }: Pick<Seen, "suppressed">, alert: Alert): Attention {
  return attentionTo({ ...suppressed.get(alert.key), alert });
}

/** The key of an entry: trouble of lenswatch itself first; then by the worst alert in it. */
export function entrySortKey({ alerts }: OverviewEntry): string {
  let worst = "";
  for (const alert of alerts) {
    const key = `${isOfLenswatch(alert) ? 0 : 1}${alertSortKey(alert)}`;
    if (worst === "" || key < worst) worst = key;
  }
  return worst;
}

/** The key of an alert: by severity, then alerts of more recordings before alerts of fewer, then the newest. */
export function alertSortKey({ labels, subject, startsAt, id }: Alert): string {
  const newest = String(Number.MAX_SAFE_INTEGER - startsAt).padStart(16, "0");
  return sortKey(`${severityRank(labels)}${BREADTH[subject.kind]}${newest}`, [], id);
}

const BREADTH = { service: 0, integration: 1, group: 2, location: 3, recording: 4, external: 5, directory: 6 } as const;

/** Alerts of an incident that are acknowledged or silenced in one request. */
export const MOST_AT_ONCE = 2_000;

/** The alerts that a button of an incident means: those that need somebody now and fired when the page was made. */
export function alertsMeant(id: string, seenAt: Instant, seen: Seen): readonly Alert[] {
  const episodes = new Set(findIncident(incidentsSeen(seen), id)?.episodes.map((one) => one.id));
  return seen.alerts
    .filter((one) => episodes.has(one.id) && one.firedAt <= seenAt && attentionIn(seen, one) === "needed")
    .slice(0, MOST_AT_ONCE);
}

export interface LocationSummary extends LocationOverview {
  readonly name: string;
  /** The organisation of one of its recordings; empty where it is not known, or all are of one. */
  readonly organisation: string;
  /** The given alerts that are of the location and its recordings. */
  readonly firing: number;
}

/** Alerts by location id; those of no location under an empty one. */
export function firingBy(alerts: readonly Alert[]): ReadonlyMap<string, number> {
  const firing = new Map<string, number>();
  for (const { labels } of alerts) {
    const id = labels.location_id ?? "";
    firing.set(id, (firing.get(id) ?? 0) + 1);
  }
  return firing;
}

export function summaryOf(
  location: LocationOverview,
  { inventory }: Pick<FleetOverview, "inventory">,
  firing: ReadonlyMap<string, number>,
): LocationSummary {
  const { id } = location;
  const name = inventory.location(id)?.name || id;
  return { ...location, name, organisation: inventory.organisationAt(id), firing: firing.get(id) ?? 0 };
}

/** The standings of a location, the worst first: its worst status; `alerts` where all are online and yet something fires. */
export const standings = ["offline", "unknown", "degraded", "alerts", "empty", "online"] as const;
export type Standing = (typeof standings)[number];

export function standingOf({ counts, firing }: LocationSummary): Standing {
  const [worst] = occurring(counts);
  if (worst !== "online" && worst !== undefined) return worst;
  return firing > 0 ? "alerts" : (worst ?? "empty");
}

/** The key of a location: by standing, then by the share of its recordings with that status. */
export function locationSortKey(location: LocationSummary): string {
  const standing = standingOf(location);
  const worst = standing === "alerts" || standing === "empty" ? "online" : standing;
  const share = location.counts[worst] / Math.max(1, totalOf(location.counts));
  const better = String(Math.round((1 - share) * 1000)).padStart(4, "0");
  return sortKey(`${standings.indexOf(standing)}${better}`, [location.name], location.id);
}

/** The statuses that occur, the worst first. */
export function occurring(counts: StatusCounts): RecordingStatus[] {
  return worstFirst.filter((status) => counts[status] > 0);
}
