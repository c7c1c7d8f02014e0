/**
 * The days of uptime from before a recording was known, read once, so that its charts do not begin empty. A few requests
 * follow each refresh of a shard; what was read is marked, and the next refresh goes on after it.
 */
import { chunksOf } from "../lib/chunks.ts";
import { CodedError, toError } from "../lib/errors.ts";
import type { UptimeHistory } from "../store/uptime-history.ts";
import type { RefreshUptimeDeps } from "./uptime.ts";
import { inShorterPeriods, pacedUptimes } from "./uptime-ask.ts";
import { calendarOf, withPast } from "./uptime-days.ts";

const PAST_MS = 30 * 86_400_000;
/** A month of hours of a recording is about 90 kB. */
const IDS_PER_REQUEST = 10;
/** Such a request takes 10 ms of CPU. */
const REQUESTS_PER_SECOND = 5;

/** Gives `backfill`, which never throws: what the service does not give now is asked for after the next refresh. */
export function createBackfillUptime(
  deps: RefreshUptimeDeps,
): (shard: number, ids: readonly string[], signal: AbortSignal) => Promise<void> {
  const { clock, log, inventory, uptime, indexTimezone } = deps;
  const service = inShorterPeriods(pacedUptimes(deps.service, REQUESTS_PER_SECOND), inventory);
  const zoneOf = (id: string) => (indexTimezone === "utc" ? "UTC" : (inventory.recording(id)?.timezone ?? "UTC"));

  return async (shard, ids, signal) => {
    try {
      await inventory.follow();
      const now = clock.now();
      for (const [zone, own] of Map.groupBy(ids, zoneOf)) {
        const calendar = calendarOf(now, zone, PAST_MS);
        for (const recids of chunksOf(own, IDS_PER_REQUEST)) {
          if (signal.aborted) return;
          const found = await pastOf({ service, log }, { start: calendar.oldest, end: calendar.today, recids });
          const known = await uptime.histories(shard, recids);
          const histories = [...known].map(([id, one]) => [id, withPast(one, found.get(id) ?? [], calendar)] as const);
          await uptime.saveHistories(shard, new Map<string, UptimeHistory>(histories));
        }
      }
    } catch (thrown) {
      log.debug({ err: toError(thrown), shard }, "earlier days of uptime not read, asking again later");
    }
  };
}

/** Reads the days of the past; where a day is refused too, it is not known. */
async function pastOf(
  { service, log }: Pick<RefreshUptimeDeps, "service" | "log">,
  query: { start: string; end: string; recids: readonly string[] },
) {
  try {
    const { results } = await service.uptimes(query);
    return new Map(results.map(({ recording, buckets }) => [recording.id, buckets]));
  } catch (thrown) {
    if (!(thrown instanceof CodedError) || thrown.retryable) throw thrown;
    log.info({ err: toError(thrown), start: query.start }, "a month of uptime was refused");
    return new Map<string, never>();
  }
}
