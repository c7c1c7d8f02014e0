/**
 * The uptime history of one shard, read incrementally: all of the window once, then today, and a day again when
 * it is over (the service finishes older periods overnight). In pages: all at once would be hundreds of megabytes.
 */
import { DateTime } from "luxon";
import { noteQuality } from "../health/quality.ts";
import type { RecordingUptime, UptimeBucket } from "../health/recording.ts";
import type { Rule } from "../health/rule.ts";
import { type KnownSchedule, knownHours, type LearnedSchedule, learnSchedule } from "../health/schedule.ts";
import type { Inventory, RecordingState } from "../health/shard-state.ts";
import { bucketLengthMs, dayRatio, mergeBuckets, windowUptime } from "../health/uptime.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { dayOf } from "../lib/days.ts";
import { CodedError, toError } from "../lib/errors.ts";
import { createLocalHours, type LocalHours } from "../lib/local-hours.ts";
import type { Logger } from "../lib/log.ts";
import { createYielder } from "../lib/yield.ts";
import type { InventoryStore } from "../store/inventory.ts";
import type { ShardStore } from "../store/shards.ts";
import type { DayUptime, UptimeHistory, UptimeStore } from "../store/uptime.ts";

/** Four days of a recording are 12 kB: a page is read in a few milliseconds, and garbage before it grows old. */
const IDS_PER_REQUEST = 50;
/** A schedule is learned from so many days at once; a page of them is as long as one of everybody's days. */
const LEARN_FROM_MS = 21 * 86_400_000;
const LEARNERS_PER_REQUEST = 10;
/** Weeks that fail in passing are asked for again at the next refresh; so often in a row, they are taken for refused. */
const WEEKS_TRIED = 3;
/** Local hour from which the service has finished the day before. */
const FINISHED_BY_HOUR = 6;
/** Days are kept as one ratio for this long: a month's digest and the month before it. */
const DAYS_KEPT = 62;

/** A reading of quality older than this is not of this hour. */
const QUALITY_FRESH_MS = 10 * 60_000;

/** The window shown by the exposition and the status table, whatever the rules ask for. */
const SHOWN_WINDOW_MS = 86_400_000;

/** Every window a figure is kept for, ms: those of the rules, and the one shown. */
export function windowsOf(rules: readonly Rule[]): number[] {
  const asked = rules.flatMap(({ when }) => (when.kind === "overall_uptime" ? [when.overMs] : []));
  return [...new Set([SHOWN_WINDOW_MS, ...asked])];
}

export interface RefreshUptimeDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly service: {
    uptimes(query: { start: string; end: string; recids: readonly string[] }): Promise<{
      results: readonly RecordingUptime[];
    }>;
  };
  readonly store: Pick<ShardStore, "read" | "noteAttempt">;
  readonly uptime: UptimeStore;
  readonly inventory: Inventory & Pick<InventoryStore, "saveRecordings">;
  /** Windows a figure is kept for, ms. */
  readonly windowsMs: readonly number[];
  /** How long buckets are kept, ms. */
  readonly retainMs: number;
  /** `utc`: days and bucket indexes are UTC's, not the recording's. */
  readonly indexTimezone: "recording" | "utc";
}

/**
 * Gives `refresh(shard)`; a failure is noted and logged once, figures stay until they are too old. Resolves to false
 * where the shard was not swept yet, so that nobody knows whose figures to ask for.
 */
export function createRefreshUptime(deps: RefreshUptimeDeps): (shard: number) => Promise<boolean> {
  const failing = new Set<number>();
  const weeksFailed = new Map<number, number>();
  const localHours = createLocalHours();
  const zoneOf = (id: string) =>
    deps.indexTimezone === "utc" ? "UTC" : (deps.inventory.recording(id)?.timezone ?? "UTC");

  return async (shard) => {
    const { recordings, sweptAt } = (await deps.store.read(shard)).state;
    if (sweptAt === 0) return false;
    const ids = [...recordings.keys()];
    try {
      const ratios = new Map(deps.windowsMs.map((ms) => [ms, new Map<string, number>()]));
      const schedules = new Map<string, KnownSchedule>();
      const failed = weeksFailed.get(shard) ?? 0;
      const isLastTry = failed + 1 >= WEEKS_TRIED;
      const gathered = { ratios, schedules, localHours, isLastTry, recordings };
      let missed = false;
      for (const page of pagesByZone(ids, zoneOf))
        missed = (await refreshPage(deps, shard, page, gathered)) || missed;
      if (missed) weeksFailed.set(shard, failed + 1);
      else weeksFailed.delete(shard);
      const now = deps.clock.now();
      await deps.uptime.saveFigures(shard, now, ratios, schedules);
      await deps.uptime.forgetOthers(shard, new Set(ids));
      await deps.store.noteAttempt(`uptime:${shard}`, now);
      if (failing.delete(shard)) deps.log.info({ shard }, "uptime figures can be read again");
    } catch (thrown) {
      const err = toError(thrown);
      if (!failing.has(shard))
        deps.log.warn({ err, shard }, "uptime figures could not be read; the old ones stay");
      failing.add(shard);
      await deps.store.noteAttempt(`uptime:${shard}`, deps.clock.now(), err.message);
    }
    return true;
  };
}

interface Page {
  readonly zone: string;
  readonly ids: readonly string[];
}

function* pagesByZone(ids: readonly string[], zoneOf: (id: string) => string): Generator<Page> {
  for (const [zone, all] of Map.groupBy(ids, zoneOf)) {
    for (let from = 0; from < all.length; from += IDS_PER_REQUEST) {
      yield { zone, ids: all.slice(from, from + IDS_PER_REQUEST) };
    }
  }
}

interface Gathered {
  readonly ratios: ReadonlyMap<number, Map<string, number>>;
  readonly schedules: Map<string, KnownSchedule>;
  readonly localHours: LocalHours;
  /** Whether weeks that cannot be had now are not asked for again. */
  readonly isLastTry: boolean;
  /** As the last sweep saw them. */
  readonly recordings: ReadonlyMap<string, RecordingState>;
}

/** Whether weeks could not be had that are to be asked for again. */
async function refreshPage(
  deps: RefreshUptimeDeps,
  shard: number,
  { zone, ids }: Page,
  { ratios, schedules, localHours, isLastTry, recordings }: Gathered,
): Promise<boolean> {
  const yielder = createYielder();
  const known = await deps.uptime.histories(shard, ids);
  const now = deps.clock.now();
  const learners = learnersOf(deps, ids, known);
  const { results, unheard } = await ask(deps, { zone, ids }, { learners, known, now, isLastTry });
  await deps.inventory.saveRecordings(results.map(({ recording }) => recording));
  const calendar = calendarOf(now, zone, deps.retainMs);
  const histories = new Map<string, UptimeHistory>();
  for (const { recording, buckets } of results) {
    const before = known.get(recording.id);
    const hourAt = (at: Instant) => localHours.at(at, recording.timezone);
    const learns = before?.schedule !== undefined || learners.has(recording.id);
    const advanced = advance(before, buckets, calendar);
    const isUnheard = unheard.has(recording.id);
    const schedule =
      recording.useUploadingSchedule && learns
        ? learnSchedule(before?.schedule, isUnheard ? advanced.buckets : buckets, now, hourAt)
        : undefined;
    // Who is not known to have a schedule is asked about again: what the days say goes no further than this refresh.
    const quality = noteQuality(before?.quality, qualityOf(recordings.get(recording.id), now), now);
    const history = { ...advanced, schedule: isUnheard ? undefined : schedule, quality };
    histories.set(recording.id, history);
    if (schedule) schedules.set(recording.id, toKnown(schedule, history.buckets, recording.timezone));
    for (const [overMs, figures] of ratios) {
      const ratio = windowUptime(history.buckets, { now, overMs });
      if (ratio !== undefined) figures.set(recording.id, ratio);
    }
    await yielder.maybeYield();
  }
  await deps.uptime.saveHistories(shard, histories);
  return unheard.size > 0;
}

/** What is dark has no quality, and what was read long ago says nothing of this hour. */
function qualityOf(state: RecordingState | undefined, now: Instant): number | undefined {
  if (!state || state.status === "offline" || now - state.readAt > QUALITY_FRESH_MS) return undefined;
  return state.averageQuality;
}

/** Who has an uploading schedule, as far as was told, of which nothing is known yet. */
function learnersOf(
  { inventory }: RefreshUptimeDeps,
  ids: readonly string[],
  known: ReadonlyMap<string, UptimeHistory>,
): ReadonlySet<string> {
  return new Set(
    ids.filter((id) => inventory.recording(id)?.useUploadingSchedule && !known.get(id)?.schedule),
  );
}

interface Asking {
  readonly learners: ReadonlySet<string>;
  readonly known: ReadonlyMap<string, UptimeHistory>;
  readonly now: Instant;
  readonly isLastTry: boolean;
}

interface Answer {
  readonly results: readonly RecordingUptime[];
  /** Learners of whom the weeks could not be had now, and may be had later. */
  readonly unheard: ReadonlySet<string>;
}

/** What the page is missing; of those who learn a schedule the weeks before as well, where they can be had. */
async function ask(
  deps: RefreshUptimeDeps,
  { zone, ids }: Page,
  { learners, known, now, isLastTry }: Asking,
): Promise<Answer> {
  const end = dayOf(now, zone);
  const results: RecordingUptime[] = [];
  const unheard = new Set<string>();
  const learning = [...learners];
  for (let from = 0; from < learning.length; from += LEARNERS_PER_REQUEST) {
    const recids = learning.slice(from, from + LEARNERS_PER_REQUEST);
    const weeks = await askForWeeks(deps, { start: dayOf(now - LEARN_FROM_MS, zone), end, recids });
    if (weeks === "later" && !isLastTry) for (const id of recids) unheard.add(id);
    if (typeof weeks !== "string") results.push(...weeks);
  }
  const notified = new Set(results.map(({ recording }) => recording.id));
  const recids = ids.filter((id) => !notified.has(id));
  if (recids.length === 0) return { results, unheard };
  const finished = recids.map((id) => known.get(id)?.finishedDay);
  const start = firstDay(finished, now, zone, deps.retainMs);
  results.push(...(await deps.service.uptimes({ start, end, recids })).results);
  return { results, unheard };
}

/**
 * How many days may be asked for is not documented: where so many are refused, a schedule is learned day by day; what
 * fails in passing may be had later.
 */
async function askForWeeks(
  { service, log }: RefreshUptimeDeps,
  query: { start: string; end: string; recids: readonly string[] },
): Promise<readonly RecordingUptime[] | "refused" | "later"> {
  try {
    return (await service.uptimes(query)).results;
  } catch (thrown) {
    log.info(
      { err: toError(thrown), start: query.start },
      "weeks of uptime cannot be had; days are asked for",
    );
    return thrown instanceof CodedError && thrown.retryable ? "later" : "refused";
  }
}

function toKnown(
  schedule: LearnedSchedule,
  buckets: readonly UptimeBucket[],
  timezone: string,
): KnownSchedule {
  const newest = buckets.at(-1);
  return {
    timezone,
    hours: knownHours(schedule),
    current: newest && {
      from: newest.startAt,
      to: newest.startAt + bucketLengthMs(buckets),
      withinSchedule: newest.withinSchedule,
    },
  };
}

/** The first day that has to be asked for: the day after the one all of them have finished. */
export function firstDay(
  finished: readonly (string | undefined)[],
  now: Instant,
  zone: string,
  retainMs: number,
): string {
  const oldest = dayOf(now - retainMs, zone);
  const wanted = finished.map((day) => (day === undefined ? oldest : nextDay(day)));
  const [first = oldest] = [...wanted, dayOf(now, zone)].sort();
  return [first, oldest].sort()[1] ?? oldest;
}

/** The days of a zone as they are at a moment, worked out once for thousands of recordings. */
export interface Calendar {
  readonly now: Instant;
  readonly retainMs: number;
  /** The days that are over and whose buckets are all kept, oldest first. */
  readonly days: readonly { readonly day: string; readonly from: Instant; readonly to: Instant }[];
  /** The last day the service has finished. */
  readonly finishedDay: string;
}

export function calendarOf(now: Instant, zone: string, retainMs: number): Calendar {
  const local = DateTime.fromMillis(now, { zone });
  const yesterday = local.minus({ days: 1 }).toFormat("yyyy-MM-dd");
  const before = local.minus({ days: 2 }).toFormat("yyyy-MM-dd");
  const days: Calendar["days"][number][] = [];
  for (let day = nextDay(dayOf(now - retainMs, zone)); day <= yesterday; day = nextDay(day)) {
    const start = DateTime.fromISO(day, { zone }).startOf("day");
    days.push({ day, from: start.toMillis(), to: start.plus({ days: 1 }).toMillis() });
  }
  return { now, retainMs, days, finishedDay: local.hour >= FINISHED_BY_HOUR ? yesterday : before };
}

/** The history with fresh buckets over it, finished days as one ratio each. Pure. */
export function advance(
  history: UptimeHistory | undefined,
  fresh: readonly UptimeBucket[],
  calendar: Calendar,
): UptimeHistory {
  const buckets = mergeBuckets(history?.buckets ?? [], fresh, calendar);
  const days: Record<string, DayUptime> = { ...history?.days };
  for (const { day, from, to } of calendar.days) {
    const one = dayUptime(buckets, from, to);
    if (one) days[day] = one;
  }
  const kept = Object.keys(days);
  if (kept.length > DAYS_KEPT) for (const day of kept.sort().slice(0, -DAYS_KEPT)) delete days[day];
  return { buckets, days, finishedDay: calendar.finishedDay };
}

function dayUptime(buckets: readonly UptimeBucket[], from: Instant, to: Instant): DayUptime | undefined {
  const ratio = dayRatio(buckets, { from, to });
  if (ratio === undefined) return undefined;
  let segmentsExpected = 0;
  for (const bucket of buckets) {
    const counts = bucket.withinSchedule && bucket.startAt >= from && bucket.startAt < to;
    if (counts) segmentsExpected += bucket.segmentsExpected ?? 0;
  }
  return { ratio, segmentsExpected };
}

function nextDay(day: string): string {
  return DateTime.fromISO(day, { zone: "UTC" }).plus({ days: 1 }).toFormat("yyyy-MM-dd");
}
