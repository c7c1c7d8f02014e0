/** A digest's figures from the store, page by page: the histories of a large fleet are never in memory together. */

import { DateTime } from "luxon";
import { isInForce } from "../alerting/acknowledgement.ts";
import { windowsIn } from "../alerting/maintenance.ts";
import { matchesAny } from "../alerting/views.ts";
import type { Config, DigestConfig } from "../config/config.ts";
import type { VisitsLost } from "../counts/visits-lost.ts";
import type { Alert } from "../health/alert.ts";
import type { Rule } from "../health/model.ts";
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
import { digestEpisode, groupKey } from "./compute/episode.ts";
import { AROUND_MS } from "./compute/recording.ts";
import type { AcknowledgedAlert, Digest, DigestPeriod, DigestRecording, DigestScope } from "./digest.ts";
import { periodOf } from "./period.ts";

/** The fleet, and which shard each recording's history is in. */
export type DigestFleet = FleetSnapshot & { readonly shardNumbers: readonly number[] };

/** The sources of a digest's figures. */
export interface FiguresSource {
  readonly config: Pick<Config, "rules" | "service"> & Partial<Pick<Config, "maintenance" | "counts">>;
  readonly store: Pick<Store, "episodes" | "shards" | "uptime" | "coverage" | "acks">;
  fleet(): Promise<DigestFleet>;
  /** Visits not counted while alerts fire, by episode. */
  readonly uncounted?: { of(alerts: readonly Alert[], now: Instant): Promise<ReadonlyMap<string, VisitsLost>> };
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
  const acknowledged = await acknowledgedOf(source, digest, fleet.now);
  return { ...(await runYielding(digester.finish())), acknowledged, visitWorth: source.config.counts };
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

async function acknowledgedOf({ store }: FiguresSource, { matchers }: DigestConfig, now: Instant) {
  const acks = await store.acks.read();
  const alerts = acks.size === 0 ? [] : await store.shards.alerts();
  const found = alerts.flatMap((alert): AcknowledgedAlert[] => {
    const { id, state, labels, startsAt } = alert;
    const ack = acks.get(id);
    if (!ack || state !== "firing" || !isInForce(ack, now) || !matchesAny(matchers, alert)) return [];
    const { alertname = "", recording, location } = labels;
    const names = [recording, location].filter((name) => name !== undefined);
    return [{ alertname, names, startsAt, author: ack.author, at: ack.at, comment: ack.comment }];
  });
  return found.sort((a, b) => a.startsAt - b.startsAt);
}

/** The subject of a digest or a report. */
export interface Wanted extends Pick<DigestConfig, "timezone" | "matchers"> {
  readonly period: DigestPeriod;
  /** To compare with. */
  readonly before?: DigestPeriod;
}

export async function readScope(
  { config, store, uncounted }: FiguresSource,
  { period, before, ...wanted }: Wanted,
  fleet: FleetStates,
): Promise<DigestScope> {
  const { rules, maintenance = [] } = config;
  const { now } = fleet;
  const from = (before ?? period).from - AROUND_MS;
  const [all, alerts, coverage, completeSince] = await Promise.all([
    store.episodes.endedSince(from),
    store.shards.alerts(),
    store.coverage.since(from),
    store.episodes.completeSince(),
  ]);
  const until = Math.min(period.to + AROUND_MS, now);
  // Outages that ended before may have been dropped to make room.
  const unseen = subtract([{ from, to: until }], clip(coverage, { from: completeSince, to: until }));
  const isOwn = ({ subject }: Pick<Alert, "subject">) => subject.kind !== "external";
  const ended = all.filter(isOwn);
  const firing = alerts.filter((alert) => alert.state === "firing" && isOwn(alert));
  const visits = await uncounted?.of(firing, now);
  const unreachable = unreachableTime([...ended, ...firing], rules, period.to, now);
  return {
    now,
    period,
    before: before && { period: before, isWatched: isWatched(before, [...unseen, ...unreachable], completeSince) },
    timezone: wanted.timezone,
    dayZone: config.service.uptimeIndexTimezone === "utc" ? "UTC" : undefined,
    episodes: [
      ...ended.map((row) => digestEpisode({ ...row, labels: { alertname: row.alertname } }, rules)),
      ...firing.map((alert) => digestEpisode({ ...alert, uncounted: visits?.get(alert.id) }, rules)),
    ],
    matchers: wanted.matchers,
    maintenance: maintenance.map((one) => ({
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

function unreachableTime(
  alerts: readonly Pick<Alert, "ruleId" | "startsAt" | "endsAt">[],
  rules: readonly Rule[],
  before: Instant,
  now: Instant,
): Interval[] {
  const isUnreachable = ({ when }: Rule) => when.kind === "service" && when.state === "unreachable";
  const ids = new Set(rules.filter(isUnreachable).map(({ id }) => id));
  return alerts
    .filter(({ ruleId, startsAt }) => ids.has(ruleId) && startsAt < before)
    .map(({ startsAt, endsAt }) => ({ from: startsAt, to: endsAt ?? now }));
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
