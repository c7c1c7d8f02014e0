/**
 * The days of uptime from before a recording was known, read once, so that its charts do not begin empty. A few requests
 * follow each refresh of a shard; what was read is marked, and the next refresh goes on after it.
 */
import { chunksOf } from "../lib/chunks.ts";
import { CodedError, toError } from "../lib/errors.ts";
import { dayOf } from "../lib/when.ts";
import type { UptimeHistory } from "../store/uptime-history.ts";
import { type createRefreshUptime, pagesByZone } from "./uptime.ts";
import { calendarOf, withPast } from "./uptime-days.ts";

const PAST_MS = 30 * 86_400_000;
/** A month of hours of a recording is about 90 kB. */
const IDS_PER_REQUEST = 10;
const REQUESTS_PER_REFRESH = 5;

type BackfillUptimeDeps = Parameters<typeof createRefreshUptime>[0];

/** Gives `backfill(shard)`, which never throws: what the service does not give now is asked for at the next refresh. */
export function createBackfillUptime(deps: BackfillUptimeDeps): (shard: number) => Promise<void> {
  const { clock, log, inventory, uptime, store, indexTimezone } = deps;
  const done = new Set<string>();
  const zoneOf = (id: string) => (indexTimezone === "utc" ? "UTC" : (inventory.recording(id)?.timezone ?? "UTC"));

  async function readPast(shard: number, zone: string, recids: readonly string[]): Promise<void> {
    const now = clock.now();
    const found = await pastOf(deps, { start: dayOf(now - PAST_MS, zone), end: dayOf(now, zone), recids });
    const calendar = calendarOf(now, zone, PAST_MS);
    const known = await uptime.histories(shard, recids);
    const histories = [...known].map(([id, one]) => [id, withPast(one, found.get(id) ?? [], calendar)] as const);
    await uptime.saveHistories(shard, new Map<string, UptimeHistory>(histories));
    for (const id of recids) done.add(id);
  }

  return async (shard) => {
    try {
      const { recordings } = (await store.read(shard)).state;
      const unknown = [...recordings.keys()].filter((id) => !done.has(id));
      let requests = 0;
      for (const { zone, ids } of pagesByZone(unknown, zoneOf)) {
        const known = await uptime.histories(shard, ids);
        for (const [id, { hasPast }] of known) if (hasPast) done.add(id);
        const lacking = ids.filter((id) => known.has(id) && !done.has(id));
        for (const recids of chunksOf(lacking, IDS_PER_REQUEST)) {
          if (++requests > REQUESTS_PER_REFRESH) return;
          await readPast(shard, zone, recids);
        }
      }
    } catch (thrown) {
      log.debug({ err: toError(thrown), shard }, "earlier days of uptime not read, asking again later");
    }
  };
}

/** The longest period of a request is not documented: where a month is refused, the past is not known. */
async function pastOf(
  { service, log }: BackfillUptimeDeps,
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
