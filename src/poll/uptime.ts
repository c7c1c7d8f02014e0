/**
 * The uptime history of one shard, read incrementally: all of the window once, then today, and a day again when
 * it is over (the service finishes older periods overnight). In pages: all at once would be hundreds of megabytes.
 */
import { countSegments, createSegmentTally, noSegmentCounts, type SegmentCounts } from "../health/late-segments.ts";
import { isReadingFresh, noteOnline, type ReadEvery } from "../health/online-span.ts";
import { noteQuality } from "../health/quality.ts";
import type { Recording } from "../health/recording.ts";
import { learnSchedule, shareWithin, toKnown } from "../health/schedule.ts";
import type { RecordingState, ShardState } from "../health/shard-state.ts";
import { bucketLengthMs, type KeptFigure, onlineArrived, windowArrived, windowUptime } from "../health/uptime.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { createLocalHours, type LocalHours } from "../lib/local-hours.ts";
import { dayOf } from "../lib/when.ts";
import { createYielder } from "../lib/yield.ts";
import type { Store } from "../store/store.ts";
import type { FigureRow } from "../store/uptime.ts";
import type { UptimeHistory } from "../store/uptime-history.ts";
import type { PollContext } from "./commit.ts";
import { createFailureLog } from "./rounds.ts";
import { type AskUptimeDeps, createAskUptime, inShorterPeriods, type UptimeAnswer } from "./uptime-ask.ts";
import { advance, calendarOf, firstDay } from "./uptime-days.ts";

/** Histories that are read at once. */
const PAGE = 200;
/** A schedule is learned from so many days at once. */
const LEARN_FROM_MS = 21 * 86_400_000;
/** Weeks that failed are asked for again at the next refresh; after so many failures they count as refused. */
const WEEKS_TRIED = 3;

export interface RefreshUptimeDeps
  extends AskUptimeDeps,
    Pick<PollContext, "clock">,
    Pick<Store, "uptime" | "inventory"> {
  readonly store: Pick<Store["shards"], "read" | "noteAttempt">;
  readonly watch: ReadEvery;
  readonly figures: readonly KeptFigure[];
  /** The time for which buckets are kept, ms. */
  readonly retainMs: number;
  /** `utc`: days and bucket indexes are UTC's, not the recording's. */
  readonly indexTimezone: "recording" | "utc";
}

/**
 * Gives `refresh(shard, signal)`; a failure is noted and logged once, figures stay until they are too old. Ends between
 * two requests once the signal is aborted.
 */
export function createRefreshUptime(deps: RefreshUptimeDeps): (shard: number, signal: AbortSignal) => Promise<void> {
  const note = createFailureLog(deps.log, "uptime figures not read, keeping the old ones", "uptime figures read again");
  const weeksFailed = new Map<number, number>();
  const shared = createShared(deps);

  return async (shard, signal) => {
    const { recordings, sweptAt } = (await deps.store.read(shard)).state;
    if (sweptAt === 0) return;
    const ids = [...recordings.keys()];
    try {
      await deps.inventory.follow();
      if (!shared.segments.has(shard)) shared.segments.keep(shard, await segmentsStored(deps, shard, ids));
      const segments = noSegmentCounts();
      const rows = new Map<string, FigureRow>();
      const failed = weeksFailed.get(shard) ?? 0;
      const isLastTry = failed + 1 >= WEEKS_TRIED;
      const gathered = { rows, segments, isLastTry, recordings, signal };
      let missed = false;
      for (const page of chunksOf(ids, PAGE)) {
        missed = (await refreshPage(deps, shard, page, gathered, shared)) || missed;
      }
      if (signal.aborted) return;
      if (missed) weeksFailed.set(shard, failed + 1);
      else weeksFailed.delete(shard);
      shared.segments.keep(shard, segments);
      const now = deps.clock.now();
      await deps.uptime.saveFigures(shard, { at: now, kinds: deps.figures.map(({ key }) => key), rows });
      await deps.uptime.forgetOthers(shard, new Set(ids));
      await deps.store.noteAttempt(`uptime:${shard}`, now, undefined, now, segments.last);
      note(shard, undefined);
    } catch (thrown) {
      if (signal.aborted) return;
      const err = toError(thrown);
      note(shard, err);
      await deps.store.noteAttempt(`uptime:${shard}`, deps.clock.now(), err.message);
    }
  };
}

interface Gathered extends Pick<ShardState, "recordings"> {
  readonly rows: Map<string, FigureRow>;
  readonly segments: SegmentCounts;
  readonly isLastTry: boolean;
  readonly signal: AbortSignal;
}

/** The parts that all refreshes of a process share. */
type Shared = ReturnType<typeof createShared>;

function createShared(deps: RefreshUptimeDeps) {
  const ask = createAskUptime({ ...deps, service: inShorterPeriods(deps.service, deps.inventory) });
  return { ask, localHours: createLocalHours(), daysAt: createDays(deps), segments: createSegmentTally() };
}

/** The counts of the last refresh of a shard, which may have been another process's. */
async function segmentsStored({ uptime, clock }: RefreshUptimeDeps, shard: number, ids: readonly string[]) {
  const counts = noSegmentCounts();
  for (const page of chunksOf(ids, PAGE)) {
    for (const { buckets, online } of (await uptime.histories(shard, page)).values())
      countSegments(counts, buckets, { now: clock.now(), lengthMs: bucketLengthMs(buckets), online });
  }
  return counts;
}

/** Refreshes a page; true where weeks failed that are to be asked for again. */
async function refreshPage(
  deps: RefreshUptimeDeps,
  shard: number,
  ids: readonly string[],
  gathered: Gathered,
  { ask, localHours, daysAt, segments: { isLate } }: Shared,
): Promise<boolean> {
  const known = await deps.uptime.histories(shard, ids);
  const now = deps.clock.now();
  const daysOf = (id: string) => daysAt(now, deps.inventory.recording(id)?.timezone);
  const hasSchedule = (id: string) => deps.inventory.recording(id)?.useUploadingSchedule;
  const learners = new Set(ids.filter((id) => hasSchedule(id) && !known.get(id)?.schedule));
  const learns = (id: string) => known.get(id)?.schedule !== undefined || learners.has(id);
  const answers = ask({
    ids,
    learners,
    daysOf(id) {
      const { calendar } = daysOf(id);
      return { start: firstDay(known.get(id), calendar), end: calendar.today };
    },
    weeksOf: (id) => ({ start: daysOf(id).weeksFrom, end: daysOf(id).calendar.today }),
    isLastTry: gathered.isLastTry,
    signal: gathered.signal,
  });
  let isUnread = false;
  for await (const answer of answers) {
    isUnread ||= answer.unread.size > 0;
    const times = { now, learns, daysOf, hourAt: localHours.at, isLate };
    await deps.uptime.saveHistories(shard, keepAnswer(deps, answer, { ...gathered, ...times, known }));
  }
  return isUnread;
}

interface Keeping extends Gathered {
  readonly now: Instant;
  readonly known: ReadonlyMap<string, UptimeHistory>;
  learns(id: string): boolean;
  daysOf(id: string): ReturnType<Shared["daysAt"]>;
  readonly hourAt: LocalHours["at"];
  isLate(startAt: Instant): boolean;
}

/** A history at a time, written before the next: many of them outlive two collections of young objects. */
async function* keepAnswer(
  { inventory, log, watch }: RefreshUptimeDeps,
  { results, from, unread }: UptimeAnswer,
  { rows, segments, recordings, now, known, learns, daysOf, hourAt, isLate }: Keeping,
): AsyncGenerator<readonly [id: string, UptimeHistory], void> {
  const maybeYield = createYielder();
  const { recordings: believed, doubted } = await inventory.takeRecordings(results.map(({ recording }) => recording));
  if (doubted.length > 0) log.warn({ fields: doubted }, "recordings changed at once, waiting for another answer");
  for (const [i, { buckets }] of results.entries()) {
    const { id, timezone, useUploadingSchedule } = believed[i] as Recording;
    const [before, state] = [known.get(id), recordings.get(id)];
    const { calendar, kept } = daysOf(id);
    const advanced = advance(before, { from, buckets }, calendar);
    const lengthMs = bucketLengthMs(advanced.buckets);
    const isUnread = unread.has(id);
    const hourIn = (at: Instant) => hourAt(at, timezone);
    const schedule =
      useUploadingSchedule && learns(id)
        ? learnSchedule(before?.schedule, isUnread ? advanced.buckets : buckets, now, hourIn, lengthMs)
        : undefined;
    // Without the weeks, what the days show counts for this refresh only.
    const quality = noteQuality(before?.quality, qualityOf(state, now, watch), now);
    const online = noteOnline(before?.online, state, now, watch);
    const history = Object.assign(advanced, { schedule: isUnread ? undefined : schedule, quality, online });
    const weekly = schedule && toKnown(schedule, history.buckets, { now, lengthMs, timezone });
    const scheduled = weekly && shareWithin(weekly);
    countSegments(segments, history.buckets, { now, lengthMs, online });
    const arrived = history.buckets.filter(({ startAt }) => !isLate(startAt));
    const ratios = kept.map((figure) => {
      // Of a window that was not read as a whole there is no figure.
      if (history.readFrom === undefined || history.readFrom > figure.first) return null;
      return ratioOf(figure, { buckets: arrived, online }, { now, lengthMs, scheduled }) ?? null;
    });
    rows.set(id, { ratios, schedule: weekly });
    yield [id, history];
    const pause = maybeYield();
    if (pause) await pause;
  }
}

function ratioOf(
  { kind, overMs, below = 1 }: KeptFigure,
  { buckets, online }: Pick<UptimeHistory, "buckets" | "online">,
  at: { readonly now: Instant; readonly lengthMs: number; readonly scheduled: number | undefined },
) {
  const window = { ...at, overMs };
  if (kind === "online") return onlineArrived(buckets, { ...window, onlineSince: online?.from });
  const uptime = windowUptime(buckets, window);
  if (kind === "uptime" || uptime === undefined) return uptime;
  return uptime < below ? windowArrived(buckets, window) : undefined;
}

/** The days of a zone, and from which on each figure needs them: computed once a minute for thousands of recordings. */
function createDays({ figures, retainMs, indexTimezone }: RefreshUptimeDeps) {
  const daysOf = (now: Instant, zone: string) => ({
    calendar: calendarOf(now, zone, retainMs),
    weeksFrom: dayOf(now - Math.max(LEARN_FROM_MS, retainMs), zone),
    kept: figures.map((figure) => ({ ...figure, first: dayOf(now - figure.overMs, zone) })),
  });
  const known = new Map<string, ReturnType<typeof daysOf>>();
  return (now: Instant, timezone = "UTC") => {
    const zone = indexTimezone === "utc" ? "UTC" : timezone;
    const before = known.get(zone);
    if (before && Math.floor(before.calendar.now / 60_000) === Math.floor(now / 60_000)) return before;
    const days = daysOf(now, zone);
    known.set(zone, days);
    return days;
  };
}

/** An offline recording has no quality, and an old reading says nothing about this hour. */
function qualityOf(state: RecordingState | undefined, now: Instant, every: ReadEvery): number | undefined {
  if (!state || state.status === "offline" || !isReadingFresh(state, now, every)) return undefined;
  return state.averageQuality;
}
