/** Requests of a backtest to the analytics service: the fleet, and the recordings' history in pages. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Location, RecordingUptime } from "../../health/recording.ts";
import { completed } from "../../health/reported-recording.ts";
import { type BackoffPolicy, backoffMs } from "../../lib/backoff.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { DAY_MS } from "../../lib/clock.ts";
import { dayOf } from "../../lib/when.ts";
import { recordingIds } from "../../query/service-directory.ts";
import { type Days, type Service, ServiceError } from "../../service/service.ts";

export interface HistoryDeps {
  readonly service: Pick<Service, "locations" | "statusUptime" | "uptimes">;
  readonly signal: AbortSignal;
}

export type FleetToReplay = { readonly locations: readonly Location[]; readonly recordingIds: readonly string[] };

/** About 24,000 buckets, 3 MB. */
const RECORDING_DAYS_PER_PAGE = 1_000;
const MOST_PER_PAGE = 50;
const PAGES_AT_ONCE = 3;

const ATTEMPTS = 6;
const BACKOFF: BackoffPolicy = { baseMs: 500, capMs: 15_000 };
const LONGEST_WAIT_MS = 120_000;
/** Requests for at most so many days are not split further. */
const FEWEST_DAYS = 7;

/** The selected locations and their current recordings. Throws ServiceError. */
export async function findFleet(
  deps: HistoryDeps,
  isWanted: (location: Location) => boolean,
  locationsPerRequest: number,
): Promise<FleetToReplay> {
  const attempt = <T>(request: () => Promise<T>) => withRetries(deps, request);
  const locations = (await attempt(() => deps.service.locations(deps.signal))).locations.filter(isWanted);
  const ids = locations.map(({ id }) => id);
  return { locations, recordingIds: await recordingIds(ids, { ...deps, attempt, locationsPerRequest }) };
}

/**
 * The history of all recordings, in pages in any order; `take` gets each page once, with the number of recordings in its
 * request. Throws ServiceError once a page fails for good, after all other requests have ended.
 */
export async function readHistories(
  deps: HistoryDeps,
  recordingIds: readonly string[],
  days: Days,
  take: (results: readonly RecordingUptime[], asked: number) => void,
): Promise<void> {
  const size = Math.max(1, Math.min(MOST_PER_PAGE, Math.floor(RECORDING_DAYS_PER_PAGE / lengthOf(days))));
  // One iterator shared by all workers.
  const pages = chunksOf(recordingIds, size);
  const failed = new AbortController();
  const signal = AbortSignal.any([deps.signal, failed.signal]);
  const read = async () => {
    for (const recids of pages) {
      if (signal.aborted) return;
      take(await readPage({ ...deps, signal }, recids, days), recids.length);
    }
  };
  const workers = Array.from({ length: PAGES_AT_ONCE }, () => read().catch((thrown) => failed.abort(thrown)));
  await Promise.all(workers);
  failed.signal.throwIfAborted();
}

/** The limit on days per request is not documented: a refused request is split in halves. */
async function readPage(deps: HistoryDeps, recids: readonly string[], days: Days): Promise<readonly RecordingUptime[]> {
  try {
    const { results } = await withRetries(deps, () => deps.service.uptimes({ ...days, recids }, deps.signal));
    return results.map((one) => ({ ...one, recording: completed(one.recording) }));
  } catch (thrown) {
    const isRefused = thrown instanceof ServiceError && thrown.code === "bad_request";
    if (!isRefused || lengthOf(days) <= FEWEST_DAYS) throw thrown;
    const middle = Date.parse(days.start) + Math.floor(lengthOf(days) / 2) * DAY_MS;
    const before = await readPage(deps, recids, { ...days, end: dayOf(middle - DAY_MS, "utc") });
    const after = await readPage(deps, recids, { ...days, start: dayOf(middle, "utc") });
    return joined(before, after);
  }
}

function joined(before: readonly RecordingUptime[], after: readonly RecordingUptime[]): RecordingUptime[] {
  const byId = new Map(before.map((one) => [one.recording.id, one]));
  for (const one of after) {
    const earlier = byId.get(one.recording.id);
    byId.set(one.recording.id, earlier ? { ...one, buckets: [...earlier.buckets, ...one.buckets] } : one);
  }
  return [...byId.values()];
}

/** Repeats what failed for a while. Throws ServiceError, or the signal's reason. */
export async function withRetries<T>({ signal }: Pick<HistoryDeps, "signal">, ask: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await ask();
    } catch (thrown) {
      signal.throwIfAborted();
      const isRetried = thrown instanceof ServiceError && thrown.retryable && failures < ATTEMPTS;
      const waitMs = isRetried ? Math.max(backoffMs(BACKOFF, failures), thrown.retryAfterMs ?? 0) : 0;
      if (!isRetried || waitMs > LONGEST_WAIT_MS) throw thrown;
      await sleep(waitMs, undefined, { signal });
    }
  }
}

function lengthOf({ start, end }: Days): number {
  return Math.round((Date.parse(end) - Date.parse(start)) / DAY_MS) + 1;
}
