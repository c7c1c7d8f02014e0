/** The state that a page shows: the fleet and its alerts at one moment, and a version that changes with it. */
import { type Banner, bannerOf } from "../../alerting/banner.ts";
import type { Episode } from "../../alerting/incident.ts";
import { type IncidentNames, namesFrom } from "../../alerting/incident-words.ts";
import { type Silence, silenceState } from "../../alerting/silence.ts";
import type { Alert } from "../../health/alert.ts";
import { GAP_INTERVALS } from "../../health/rhythm.ts";
import type { FleetOverview } from "../../health/shard-overview.ts";
import type { FleetSnapshot, RecordingState } from "../../health/shard-state.ts";
import { totalOf } from "../../health/status-counts.ts";
import type { Instant } from "../../lib/clock.ts";
import { withDeadline } from "../../lib/closer.ts";
import { timesSeenAt } from "../../lib/when.ts";
import type { ActiveAlert, HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { limitsOf } from "../limits.ts";
import type { Moment } from "./when.ts";

export interface PageData {
  readonly fleet: FleetOverview;
  /** Firing ones. */
  readonly alerts: readonly Alert[];
  /** The same by `key`, with what suppresses them. */
  readonly suppressed: ReadonlyMap<string, ActiveAlert>;
  /** Episodes that ended in the last day. */
  readonly ended: readonly Episode[];
  /** By id, including recently expired ones. */
  readonly silences: ReadonlyMap<string, Silence>;
  /** The worst that is wrong with lenswatch itself. */
  readonly banner: Banner | undefined;
  readonly moment: Moment;
}

export type PageDataDeps = Pick<HttpDeps, "overview" | "alerts" | "endedLately" | "silences" | "limits">;

/** With times in this zone. Throws HttpError `unavailable` where the state cannot be read in time. */
export async function readPageData(deps: PageDataDeps, zone?: string): Promise<PageData> {
  const reading = Promise.all([deps.overview(), deps.alerts(), deps.silences(), deps.endedLately()]);
  const [fleet, alerts, silences, ended] = await inTime(reading, deps);
  const active = alerts.filter(({ alert }) => alert.state === "firing");
  const firing = active.map(({ alert }) => alert);
  return {
    fleet,
    ended,
    alerts: firing,
    banner: bannerOf({ fleet, alerts: firing }),
    suppressed: new Map(active.map((one) => [one.alert.key, one])),
    silences: new Map(silences.map((silence) => [silence.id, silence])),
    moment: { now: fleet.now, times: timesSeenAt(fleet.now, zone) },
  };
}

/** The shard that has a location, with what is not of that; no shard where none has it. Throws as `readPageData`. */
export async function readShardOf(
  locationId: string,
  { fleet }: Pick<PageData, "fleet">,
  deps: Pick<HttpDeps, "shards" | "limits">,
): Promise<FleetSnapshot> {
  const { shard } = fleet.locations.get(locationId) ?? {};
  return inTime(deps.shards(shard === undefined ? [] : [shard]), deps);
}

/** The recordings of a location in the shard that was read for it. */
export function statesAt({ shards }: Pick<FleetSnapshot, "shards">, locationId: string): RecordingState[] {
  return shards.flatMap(({ recordings }) => [...recordings.values()].filter((one) => one.locationId === locationId));
}

const LATE =
  "The stored state cannot be read in time, Redis may be slow or unreachable: " +
  "the current status of recordings is not known. /readyz says more.";

/** The result of `reading`, or HttpError `unavailable` once it takes too long. */
export function inTime<T>(reading: Promise<T>, deps: Pick<HttpDeps, "limits">): Promise<T> {
  return withDeadline(reading, limitsOf(deps).readMs, () => new HttpError("unavailable", LATE));
}

/** The last good reading, where it was so long ago that every status is unknown; else undefined. */
export function oldSince({ fleet: { now, readAt, statusIntervalMs } }: Pick<PageData, "fleet">): Instant | undefined {
  return readAt !== undefined && now - readAt > GAP_INTERVALS * statusIntervalMs ? readAt : undefined;
}

/**
 * A short text that changes with the shown state, the same at every replica, whatever the order of rows; ages and
 * figures that change all the time do not count. Sums stay below 2^53: a hundred thousand of 32 bits.
 */
export function versionOf({ fleet, suppressed, silences, moment, banner }: PageData): string {
  const { mark, counts } = fleet;
  let alerts = textSum(banner?.summary ?? "");
  for (const active of suppressed.values()) alerts += textSum(suppressionText(active));
  for (const silence of silences.values()) {
    alerts += textSum(`${silence.id} ${silence.updatedAt} ${silenceState(silence, moment.now)}`);
  }
  const sums = [totalOf(counts), counts.unknown, mark >>> 0, suppressed.size, alerts >>> 0];
  return sums.map((n) => n.toString(36)).join("-");
}

function suppressionText({ alert, silencedBy, inhibitedBy, mutedBy, maintenance, ...acks }: ActiveAlert): string {
  const ack = JSON.stringify(acks.acknowledgement ?? [acks.endedAcknowledgement]);
  const suppressions = [silencedBy, inhibitedBy, mutedBy].map((ids = []) => ids.toSorted().join());
  return [alert.id, ...suppressions, maintenance?.by, maintenance?.until, ack, alert.facts.paused ? "paused" : ""].join(
    "|",
  );
}

/** FNV-1a, 32 bits. */
function textSum(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** The names of an incident's subjects. */
export function namesIn({ fleet: { inventory } }: Pick<PageData, "fleet">): IncidentNames {
  return namesFrom(inventory);
}
