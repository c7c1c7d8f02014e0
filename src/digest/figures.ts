/** A digest's figures from the store, page by page: the histories of a large fleet are never in memory together. */

import { DateTime } from "luxon";
import { isInForce } from "../alerting/acknowledgement.ts";
import { namesFrom } from "../alerting/incident-words.ts";
import { windowsIn } from "../alerting/maintenance.ts";
import type { Config, DigestConfig } from "../config/config.ts";
import type { UptimeBucket } from "../health/recording.ts";
import { knownHours } from "../health/schedule.ts";
import { type FleetSnapshot, type RecordingState, statusOf } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { clip, type Interval, lengthIn, subtract } from "../lib/intervals.ts";
import { createYielder, eachRow, runYielding } from "../lib/yield.ts";
import type { Store } from "../store/store.ts";
import type { UptimeHistory } from "../store/uptime-history.ts";
import { createDigester, type Digester } from "./compute/compute.ts";
import { groupKey } from "./compute/episode.ts";
import { AROUND_MS } from "./compute/recording.ts";
import type { Digest, DigestPeriod, DigestRecording, DigestScope } from "./digest.ts";
import { periodOf } from "./period.ts";
import { type EpisodesSource, readEpisodes } from "./read-episodes.ts";

/** The fleet, and which shard each recording's history is in. */
export type DigestFleet = FleetSnapshot & { readonly shardNumbers: readonly number[] };

/** The sources of a digest's figures. */
export interface FiguresSource extends EpisodesSource {
  readonly config: Pick<Config, "service"> & Partial<Pick<Config, "maintenance" | "counts">>;
  readonly store: Pick<Store, "episodes" | "shards" | "uptime" | "coverage" | "acks">;
  fleet(): Promise<DigestFleet>;
}

/** A page of histories is about a megabyte. */
const IDS_PER_READ = 100;
/** Days are stored for two months. */
const FIGURES_FROM_MS = 64 * 86_400_000;
/** With less of the period before watched there is nothing to compare with. */
const WATCHED_SHARE = 0.95;
const MIN_UNWATCHED_MS = 15 * 60_000;

/** The figures of a digest about the fleet. */
export async function computeFleet(source: FiguresSource, digest: DigestConfig, period: DigestPeriod): Promise<Digest> {
  const fleet = await readStates(source);
  const before = periodOf(digest, period.from);
  const scope = await readScope(source, { ...digest, period, before }, fleet);
  const digester = createDigester(scope);
  await addFleet(source, fleet, digester, period.to - FIGURES_FROM_MS);
  return { ...(await runYielding(digester.finish())), visitWorth: source.config.counts };
}

type FleetStates = Awaited<ReturnType<typeof readStates>>;

/** The fleet, and each recording in it once. */
export async function readStates(source: Pick<FiguresSource, "fleet">) {
  const fleet = await source.fleet();
  return { ...fleet, latest: await runYielding(latestOf(fleet)) };
}

/** By id. A recording that moves between two shards is where it was read last. */
function* latestOf({ shards }: FleetSnapshot): Generator<void, ReadonlyMap<string, RecordingState>> {
  const latest = new Map<string, RecordingState>();
  const visit = (state: RecordingState) => {
    if ((latest.get(state.id)?.readAt ?? -1) < state.readAt) latest.set(state.id, state);
  };
  for (const { recordings } of shards) yield* eachRow(recordings.values(), visit);
  return latest;
}

/** The subject of a digest or a report. */
export interface Wanted extends Pick<DigestConfig, "timezone" | "matchers"> {
  readonly period: DigestPeriod;
  /** To compare with. */
  readonly before?: DigestPeriod;
}

export async function readScope(
  source: FiguresSource,
  { period, before, ...wanted }: Wanted,
  fleet: FleetStates,
): Promise<DigestScope> {
  const { config, store } = source;
  const { now } = fleet;
  const from = (before ?? period).from - AROUND_MS;
  const [all, acks, coverage, completeSince] = await Promise.all([
    readEpisodes(source, from, now),
    store.acks.read(),
    store.coverage.since(from),
    store.episodes.completeSince(),
  ]);
  const until = Math.min(period.to + AROUND_MS, now);
  // Outages that ended before may have been dropped to make room.
  const unseen = subtract([{ from, to: until }], clip(coverage, { from: completeSince, to: until }));
  const episodes = all.filter(({ subject }) => subject.kind !== "external");
  const unreachable = episodes
    .filter(({ problem, startsAt }) => problem === "service_unreachable" && startsAt < period.to)
    .map(({ startsAt, endsAt }) => ({ from: startsAt, to: endsAt ?? now }));
  return {
    now,
    period,
    before: before && { period: before, isWatched: isWatched(before, [...unseen, ...unreachable], completeSince) },
    timezone: wanted.timezone,
    dayZone: config.service.uptimeIndexTimezone === "utc" ? "UTC" : undefined,
    episodes,
    acknowledgements: new Map([...acks].filter(([, ack]) => isInForce(ack, now))),
    names: namesFrom(fleet.inventory),
    matchers: wanted.matchers,
    maintenance: (config.maintenance ?? []).map((one) => ({
      ...one,
      windows: windowsIn(one, { from, to: Math.max(now, period.to) }),
    })),
    groupSizes: await runYielding(groupSizes(fleet)),
    unreachable,
    unwatched: unseen.filter(({ from, to }) => to - from >= MIN_UNWATCHED_MS),
  };
}

function* groupSizes({ latest, inventory }: FleetStates): Generator<void, ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  const add = (key: string) => sizes.set(key, (sizes.get(key) ?? 0) + 1);
  yield* eachRow(latest.values(), ({ id, locationId }) => {
    const recording = inventory.recording(id);
    add(groupKey("location", recording?.locationId ?? locationId));
    if (recording) add(groupKey("camera_server", recording.cameraServer));
  });
  return sizes;
}

/** True where nearly all of a period was watched, and its episodes are still stored. */
function isWatched(period: Interval, unwatched: readonly Interval[], completeSince: Instant) {
  const { from, to } = period;
  return completeSince <= from && lengthIn([period], period, unwatched) >= (to - from) * WATCHED_SHARE;
}

/** Adds every recording that is wanted, with its figures from the day of `from` on and before `to`. */
export async function addFleet(
  { config, store }: FiguresSource,
  fleet: FleetStates,
  digester: Pick<Digester, "wants" | "add">,
  from: Instant,
  to = Number.POSITIVE_INFINITY,
): Promise<void> {
  const bucketsOf = createDailyBuckets();
  const maybeYield = createYielder();
  const figuresOf = (history: UptimeHistory | undefined, { recording }: DigestRecording) => {
    if (!history) return { buckets: [] };
    const zone = config.service.uptimeIndexTimezone === "utc" ? "UTC" : recording.timezone;
    const scheduleHours = history.schedule && knownHours(history.schedule);
    return { buckets: bucketsOf(history, zone, from, to), scheduleHours };
  };
  for (const [shard, { recordings }] of fleet.shards.entries()) {
    const subjects = [...recordings.values()]
      .filter((state) => fleet.latest.get(state.id) === state)
      .map((state) => subjectOf(fleet, state))
      .filter((subject) => digester.wants(subject));
    for (const page of chunksOf(subjects, IDS_PER_READ)) {
      const ids = page.map(({ recording }) => recording.id);
      const histories = await store.uptime.histories(fleet.shardNumbers[shard] ?? 0, ids);
      for (const subject of page) {
        digester.add(subject, figuresOf(histories.get(subject.recording.id), subject));
        await maybeYield();
      }
    }
  }
}

function subjectOf(fleet: DigestFleet, state: RecordingState): DigestRecording {
  const { id, locationId, since } = state;
  return {
    recording: fleet.inventory.recording(id) ?? { id, name: id, locationId, ...UNKNOWN },
    locationName: fleet.inventory.location(locationId)?.name ?? locationId,
    shop: fleet.inventory.shop?.(locationId),
    status: statusOf(state, fleet),
    since,
  };
}

/** The traits of a recording that is in a snapshot but not in the inventory yet. */
const UNKNOWN = { organisation: "", cameraServer: "", useUploadingSchedule: false, timezone: "UTC" };

/** Days and zones are few and recordings many: the bounds of a day are computed once. */
const DAYS_CACHED = 10_000;

/**
 * Gives `bucketsOf(history, zone, from, to)`: buckets from the day of `from` on and before `to`, oldest first. A day whose hours are all
 * stored is given by its hours, an older one as a day.
 */
export function createDailyBuckets(): (
  history: UptimeHistory,
  zone: string,
  from: Instant,
  to?: Instant,
) => UptimeBucket[] {
  const days = new Map<string, { readonly from: Instant; readonly to: Instant }>();

  function dayAt(day: string, zone: string) {
    const key = `${day} ${zone}`;
    const known = days.get(key);
    if (known) return known;
    const start = DateTime.fromISO(day, { zone }).startOf("day");
    const made = { from: start.toMillis(), to: start.plus({ days: 1 }).toMillis() };
    if (days.size >= DAYS_CACHED) days.clear();
    days.set(key, made);
    return made;
  }

  return (history, zone, from, to = Number.POSITIVE_INFINITY) => {
    const firstHour = history.buckets[0]?.startAt ?? Number.POSITIVE_INFINITY;
    let hoursFrom = from;
    const older = Object.entries(history.days).flatMap(([date, { ratio, segmentsExpected }]) => {
      const day = dayAt(date, zone);
      if (day.to <= from || day.from >= Math.min(to, firstHour)) return [];
      hoursFrom = Math.max(hoursFrom, day.to);
      return [{ ...DAY, startAt: day.from, segmentsExpected, overallUptime: ratio }];
    });
    older.sort((a, b) => a.startAt - b.startAt);
    if (firstHour >= to) return older;
    return [...older, ...history.buckets.filter(({ startAt }) => startAt >= hoursFrom && startAt < to)];
  };
}

const DAY = {
  withinSchedule: true,
  segmentsReceived: undefined,
  avgUptimeOnSegment: undefined,
  pcSegmentsReceived: undefined,
};
