/** The overview: what needs somebody, and the locations of the fleet; computed once for pages, the API and the command line. Pure. */
import { type Alert, isGroupLabel } from "../health/alert.ts";
import { groupNameIn } from "../health/directory.ts";
import { labelOf } from "../health/members.ts";
import { type RecordingStatus, worstFirst } from "../health/recording.ts";
import { type FleetOverview, type LocationOverview, lastKnown } from "../health/shard-overview.ts";
import { type StatusCounts, totalOf } from "../health/status-counts.ts";
import type { Instant } from "../lib/clock.ts";
import { sortKey } from "../lib/sort-key.ts";
import { type Attention, attentions, attentionTo, isOfLenswatch, type Suppressors } from "./attention.ts";
import { alertsOfIncident, type Episode, episodeOf, type Incident, incidentsOf } from "./incident.ts";
import { type GroupSize, type GroupSizes, type SharedCause, sharedCause } from "./incident-cause.ts";
import { breadths, countsTone, type Rated, severityRank, type Tone, toneOf, tones, worstTone } from "./tone.ts";

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
  /** The tone of all alerts together. */
  readonly tone: Tone;
}

export function overviewOf(seen: Seen): Overview {
  const by = new Map<Attention, Alert[]>(attentions.map((attention) => [attention, []]));
  for (const alert of seen.alerts) by.get(attentionIn(seen, alert))?.push(alert);
  const needed = by.get("needed") ?? [];
  by.delete("needed");
  const entries = entriesOf(needed, seen);
  const [lead] = entries.filter(({ alerts }) => alerts.length > 1).sort((a, b) => b.alerts.length - a.alerts.length);
  return { needed, entries, lead, handled: by, tone: toneOf(ratedIn(seen, seen.alerts)) };
}

/** The incidents of these alerts, with what explains each. */
export function entriesOf(
  needed: readonly Alert[],
  { fleet, alerts: firing, ended }: Pick<Seen, "fleet" | "alerts" | "ended">,
): OverviewEntry[] {
  const byId = new Map(needed.map((alert) => [alert.id, alert]));
  const sizes = groupSizes(fleet);
  return incidentsOf([...ended, ...firing.map(episodeOf)]).flatMap((incident): OverviewEntry[] => {
    const alerts = incident.episodes.flatMap(({ id }) => byId.get(id) ?? []);
    if (alerts.length === 0) return [];
    return [{ incident, alerts, since: incident.startsAt, cause: sharedCause(incident.cause, alerts, sizes) }];
  });
}

/** The numbers of recordings with a label, which explain incidents. */
function groupSizes({ counts, locations, inventory, offlineWith }: FleetOverview): GroupSizes {
  const known = new Map<string, GroupSize>();

  function sizeOf(label: string, value: string): GroupSize {
    if (!isGroupLabel(label)) return { known: 0, offline: 0 };
    const all = inventory.labelled(label, value).values();
    const sum = all.reduce((total, recordings) => total + recordings, 0);
    return { known: sum, offline: Math.min(sum, offlineWith(label, value)) };
  }

  return {
    fleet: { known: totalOf(counts), offline: counts.offline, unknown: counts.unknown },
    of(label, value) {
      if (label === "location_id") {
        const here = locations.get(value)?.counts;
        return here && { known: totalOf(here), offline: here.offline };
      }
      const key = `${label}=${value}`;
      const size = known.get(key) ?? sizeOf(label, value);
      known.set(key, size);
      return size.known > 0 ? size : undefined;
    },
    has(id, label, value) {
      const recording = inventory.recording(id);
      if (label === "location_id") return recording?.locationId === value;
      return isGroupLabel(label) && labelOf(recording, label) === value;
    },
  };
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
  return sortKey(`${severityRank(labels)}${breadths[subject.kind]}${newest}`, [], id);
}

/** Alerts of an incident that are acknowledged or silenced in one request. */
export const MOST_AT_ONCE = 2_000;

/** The alerts that a button of an incident means: those that need somebody now and fired when the page was made. */
export function alertsMeant(id: string, seenAt: Instant, seen: Seen): readonly Alert[] {
  return alertsOfIncident(id, seen.alerts, seen.ended)
    .filter((one) => one.firedAt <= seenAt && attentionIn(seen, one) === "needed")
    .slice(0, MOST_AT_ONCE);
}

/** The alerts of a location and its recordings: how many need somebody, and how bad they are. */
interface LocationAlerts {
  readonly needed: number;
  readonly tone: Tone;
}

export interface LocationSummary extends LocationOverview {
  readonly name: string;
  /** The organisation of one of its recordings; empty where it is not known, or all are of one. */
  readonly organisation: string;
  readonly needed: number;
  /** The worse of the tones of its alerts and of its statuses, as last known. */
  readonly tone: Tone;
  /** Some of it was not read lately. */
  readonly isLast: boolean;
}

/** The alerts by location id; those of no location under an empty one. */
export function alertsByLocation(seen: Pick<Seen, "alerts" | "suppressed">): ReadonlyMap<string, LocationAlerts> {
  const by = Map.groupBy(ratedIn(seen, seen.alerts), ([{ labels }]) => labels.location_id ?? "");
  const needs = (rated: readonly Rated[]) => rated.filter(([, attention]) => attention === "needed").length;
  return new Map([...by].map(([id, rated]) => [id, { needed: needs(rated), tone: toneOf(rated) }]));
}

/** These alerts, with what suppresses them. */
export function ratedIn(seen: Pick<Seen, "suppressed">, alerts: readonly Alert[]): Rated[] {
  return alerts.map((alert) => [alert, attentionIn(seen, alert)]);
}

export function summaryOf(
  location: LocationOverview,
  { inventory }: Pick<FleetOverview, "inventory">,
  alerts: ReadonlyMap<string, LocationAlerts>,
): LocationSummary {
  const { id, counts, were } = location;
  const { needed = 0, tone = "good" } = alerts.get(id) ?? {};
  const name = inventory.location(id)?.name || id;
  const organisation = groupNameIn(inventory, inventory.organisationAt(id));
  const worst = worstTone([tone, countsTone(lastKnown(location))]);
  return { ...location, name, organisation, needed, tone: worst, isLast: counts.unknown > were.unknown };
}

/** The tone of locations now: what was not read lately may be anything. */
export function toneNow(locations: readonly LocationSummary[]): Tone {
  return worstTone(locations.flatMap(({ tone, isLast }) => [tone, isLast ? "unknown" : tone]));
}

/** The key of a location: by how bad it is, then by the share of its recordings that are online. */
export function locationSortKey({ id, name, tone, counts }: LocationSummary): string {
  const online = String(Math.round((1000 * counts.online) / Math.max(1, totalOf(counts)))).padStart(4, "0");
  return sortKey(`${tones.indexOf(tone)}${online}`, [name], id);
}

/** The statuses that occur, the worst first. */
export function occurring(counts: StatusCounts): RecordingStatus[] {
  return worstFirst.filter((status) => counts[status] > 0);
}
