/**
 * The uptime history of one shard, read incrementally: all of the window once, then today, and a day again when
 * it is over (the service finishes older periods overnight). In pages: all at once would be hundreds of megabytes.
 */
import { LACKS_SEGMENTS, type Presence } from "../health/absence.ts";
import { isReadingFresh, noteOnline, type ReadEvery } from "../health/online-span.ts";
import { noteQuality } from "../health/quality.ts";
import type { RecordingUptime, UptimeBucket } from "../health/recording.ts";
import { type KnownSchedule, knownHours, type LearnedSchedule, learnSchedule } from "../health/schedule.ts";
import type { RecordingState, ShardState } from "../health/shard-state.ts";
import {
  bucketLengthMs,
  type Figure,
  type KeptFigure,
  onlineArrived,
  windowArrived,
  windowUptime,
} from "../health/uptime.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { CodedError, toError } from "../lib/errors.ts";
import { createLocalHours, type LocalHours } from "../lib/local-hours.ts";
import { dayOf } from "../lib/when.ts";
import { createYielder } from "../lib/yield.ts";
import type { Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import type { UptimeHistory } from "../store/uptime-history.ts";
import type { PollContext } from "./commit.ts";
import { advance, calendarOf, firstDay } from "./uptime-days.ts";

/** Four days of a recording are 12 kB: a page is parsed in a few milliseconds. */
const IDS_PER_REQUEST = 50;
/** A schedule is learned from so many days at once; fewer recordings make a page then. */
const LEARN_FROM_MS = 21 * 86_400_000;
const LEARNERS_PER_REQUEST = 10;
/** Weeks that failed are asked for again at the next refresh; after so many failures they count as refused. */
const WEEKS_TRIED = 3;
const SHARDS_AT_ONCE = 3;

interface RefreshUptimeDeps extends Pick<PollContext, "clock" | "log">, Pick<Store, "uptime" | "inventory"> {
  readonly service: Pick<Service, "uptimes">;
  readonly store: Pick<Store["shards"], "read" | "noteAttempt">;
  readonly watch: ReadEvery;
  readonly figures: readonly KeptFigure[];
  /** How long buckets are kept, ms. */
  readonly retainMs: number;
  /** `utc`: days and bucket indexes are UTC's, not the recording's. */
  readonly indexTimezone: "recording" | "utc";
}

/**
 * Gives `refresh(shard)`; a failure is noted and logged once, figures stay until they are too old. Resolves to false
 * where the shard was not swept yet: its recordings are not known.
 */
export function createRefreshUptime(deps: RefreshUptimeDeps): (shard: number) => Promise<boolean> {
  const failing = new Set<number>();
  const weeksFailed = new Map<number, number>();
  const localHours = createLocalHours();
  const daysAt = createDays(deps);
  const zoneOf = (id: string) =>
    deps.indexTimezone === "utc" ? "UTC" : (deps.inventory.recording(id)?.timezone ?? "UTC");

  return async (shard) => {
    const { recordings, sweptAt } = (await deps.store.read(shard)).state;
    if (sweptAt === 0) return false;
    const ids = [...recordings.keys()];
    try {
      const ratios = new Map(deps.figures.map(({ key }) => [key, new Map<string, number>()]));
      const schedules = new Map<string, KnownSchedule>();
      const failed = weeksFailed.get(shard) ?? 0;
      const isLastTry = failed + 1 >= WEEKS_TRIED;
      const gathered = { ratios, schedules, localHours, daysAt, isLastTry, recordings };
      let missed = false;
      for (const page of pagesByZone(ids, zoneOf)) missed = (await refreshPage(deps, shard, page, gathered)) || missed;
      if (missed) weeksFailed.set(shard, failed + 1);
      else weeksFailed.delete(shard);
      const now = deps.clock.now();
      await deps.uptime.saveFigures(shard, now, ratios, schedules);
      await deps.uptime.forgetOthers(shard, new Set(ids));
      await deps.store.noteAttempt(`uptime:${shard}`, now, undefined, now, segmentsOf(ratios));
      if (failing.delete(shard)) deps.log.info({ shard }, "uptime figures read again");
    } catch (thrown) {
      const err = toError(thrown);
      if (!failing.has(shard)) deps.log.warn({ err, shard }, "uptime figures not read, keeping the old ones");
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

/** Ids in pages of one zone each. */
export function* pagesByZone(ids: readonly string[], zoneOf: (id: string) => string): Generator<Page> {
  for (const [zone, all] of Map.groupBy(ids, zoneOf)) {
    for (const page of chunksOf(all, IDS_PER_REQUEST)) yield { zone, ids: page };
  }
}

type Ratios = ReadonlyMap<Figure, Map<string, number>>;

/** How many recordings were online, and of how many of them hardly any segments came. */
function segmentsOf(ratios: Ratios): Presence {
  const arrived = new Map([...ratios].flatMap(([key, all]) => (String(key).startsWith("online") ? [...all] : [])));
  return {
    known: arrived.size,
    absent: arrived
      .values()
      .filter((ratio) => ratio < LACKS_SEGMENTS)
      .toArray().length,
  };
}

interface Gathered extends Pick<ShardState, "recordings"> {
  readonly ratios: Ratios;
  readonly schedules: Map<string, KnownSchedule>;
  readonly localHours: LocalHours;
  readonly daysAt: ReturnType<typeof createDays>;
  /** Whether weeks that fail now are not asked for again. */
  readonly isLastTry: boolean;
}

/** Whether weeks failed that are to be asked for again. */
async function refreshPage(
  deps: RefreshUptimeDeps,
  shard: number,
  { zone, ids }: Page,
  { ratios, schedules, localHours, daysAt, isLastTry, recordings }: Gathered,
): Promise<boolean> {
  const maybeYield = createYielder();
  const known = await deps.uptime.histories(shard, ids);
  const now = deps.clock.now();
  const hasSchedule = (id: string) => deps.inventory.recording(id)?.useUploadingSchedule;
  const learners = new Set(ids.filter((id) => hasSchedule(id) && !known.get(id)?.schedule));
  const { results, unread } = await ask(deps, { zone, ids, learners, known, now, isLastTry });
  await deps.inventory.saveRecordings(results.map(({ recording }) => recording));
  const { calendar, kept } = daysAt(now, zone);
  const histories = new Map<string, UptimeHistory>();
  for (const { recording, buckets, from } of results) {
    const before = known.get(recording.id);
    const hourAt = (at: Instant) => localHours.at(at, recording.timezone);
    const learns = before?.schedule !== undefined || learners.has(recording.id);
    const advanced = advance(before, { from, buckets }, calendar);
    const isUnread = unread.has(recording.id);
    const schedule =
      recording.useUploadingSchedule && learns
        ? learnSchedule(before?.schedule, isUnread ? advanced.buckets : buckets, now, hourAt)
        : undefined;
    // Without the weeks, what the days show counts for this refresh only.
    const quality = noteQuality(before?.quality, qualityOf(recordings.get(recording.id), now, deps.watch), now);
    const online = noteOnline(before?.online, recordings.get(recording.id), now, deps.watch);
    const history = { ...advanced, schedule: isUnread ? undefined : schedule, quality, online };
    histories.set(recording.id, history);
    if (schedule) schedules.set(recording.id, toKnown(schedule, history.buckets, recording.timezone));
    const lengthMs = bucketLengthMs(history.buckets);
    for (const figure of kept) {
      // Of a window that was not read as a whole there is no figure.
      if (history.readFrom === undefined || history.readFrom > figure.first) continue;
      const ratio = ratioOf(figure, history, { now, lengthMs });
      if (ratio !== undefined) ratios.get(figure.key)?.set(recording.id, ratio);
    }
    await maybeYield();
  }
  await deps.uptime.saveHistories(shard, histories);
  return unread.size > 0;
}

function ratioOf(
  { kind, overMs, below = 1 }: KeptFigure,
  { buckets, online }: UptimeHistory,
  at: { readonly now: Instant; readonly lengthMs: number },
) {
  const window = { ...at, overMs };
  if (kind === "online") return onlineArrived(buckets, { ...window, onlineSince: online?.from });
  const uptime = windowUptime(buckets, window);
  if (kind === "uptime" || uptime === undefined) return uptime;
  return uptime < below ? windowArrived(buckets, window) : undefined;
}

/** The days of a zone, and from which on each figure needs them: computed once a minute for thousands of recordings. */
function createDays({ figures, retainMs }: Pick<RefreshUptimeDeps, "figures" | "retainMs">) {
  const daysOf = (now: Instant, zone: string) => ({
    calendar: calendarOf(now, zone, retainMs),
    kept: figures.map((figure) => ({ ...figure, first: dayOf(now - figure.overMs, zone) })),
  });
  const known = new Map<string, ReturnType<typeof daysOf>>();
  return (now: Instant, zone: string) => {
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

interface Asking extends Page, Pick<Gathered, "isLastTry"> {
  readonly learners: ReadonlySet<string>;
  readonly known: ReadonlyMap<string, UptimeHistory>;
  readonly now: Instant;
}

/**
 * The days the page lacks; for recordings that learn a schedule the weeks before as well, where the service gives them.
 * `unread` are learners without their weeks, which are asked for again.
 */
async function ask(deps: RefreshUptimeDeps, { zone, ids, learners, known, now, isLastTry }: Asking) {
  const end = dayOf(now, zone);
  const results: (RecordingUptime & { readonly from: string })[] = [];
  const unread = new Set<string>();
  const weeksFrom = dayOf(now - Math.max(LEARN_FROM_MS, deps.retainMs), zone);
  for (const recids of chunksOf([...learners], LEARNERS_PER_REQUEST)) {
    const weeks = await askForWeeks(deps, { start: weeksFrom, end, recids });
    if (weeks === "later" && !isLastTry) for (const id of recids) unread.add(id);
    if (typeof weeks !== "string") results.push(...weeks.map((one) => ({ ...one, from: weeksFrom })));
  }
  const notified = new Set(results.map(({ recording }) => recording.id));
  const recids = ids.filter((id) => !notified.has(id));
  if (recids.length === 0) return { results, unread };
  const histories = recids.map((id) => known.get(id) ?? { finishedDay: undefined });
  const from = firstDay(histories, now, zone, deps.retainMs);
  const asked = await deps.service.uptimes({ start: from, end, recids });
  results.push(...asked.results.map((one) => ({ ...one, from })));
  return { results, unread };
}

/** The longest period of a request is not documented: where weeks are refused, a schedule is learned day by day. */
async function askForWeeks(
  { service, log }: RefreshUptimeDeps,
  query: { start: string; end: string; recids: readonly string[] },
): Promise<readonly RecordingUptime[] | "refused" | "later"> {
  try {
    return (await service.uptimes(query)).results;
  } catch (thrown) {
    log.info({ err: toError(thrown), start: query.start }, "weeks of uptime not read, asking for days");
    return thrown instanceof CodedError && thrown.retryable ? "later" : "refused";
  }
}

function toKnown(schedule: LearnedSchedule, buckets: readonly UptimeBucket[], timezone: string): KnownSchedule {
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

type UptimeWork = Pick<PollContext, "queues" | "assigned" | "statusIntervalMs"> & Pick<Store, "uptime">;

/**
 * The worker of uptime figures, in a queue of its own: a hanging Core API must not delay the self alerts. A shard that
 * was not swept yet, of which `refresh` gives false, is asked for again; one without a kind of figure, at once.
 */
export async function startUptimeWork(
  { queues, assigned, statusIntervalMs, uptime }: UptimeWork,
  figures: readonly KeptFigure[],
  refresh: ReturnType<typeof createRefreshUptime>,
): Promise<void> {
  const keys = figures.map(({ key }) => key);
  for (const shard of assigned.shards()) {
    if (!(await uptime.lacksFigure(shard, keys))) continue;
    await queues.add("uptime", { shard }, { id: `uptime-${shard}-${keys.join("-")}` });
  }
  await queues.work("uptime", SHARDS_AT_ONCE, async ({ data }) => {
    const shard = Number(data.shard);
    if ((await refresh(shard)) || !assigned.shards().includes(shard)) return;
    await queues.add("uptime", { shard }, { delayMs: statusIntervalMs });
  });
}
