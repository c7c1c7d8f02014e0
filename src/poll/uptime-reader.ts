/**
 * The uptime of recordings for pages and the API: what is stored, and the hours of one recording's last month, asked of
 * the service when its page is opened. Stored older days are a figure a day, and start when lenswatch knew the recording.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import type { UptimeBucket } from "../health/recording.ts";
import { DAY_MS, type Instant } from "../lib/clock.ts";
import { CodedError, toError } from "../lib/errors.ts";
import { dayOf } from "../lib/when.ts";
import type { Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import type { UptimeHistory } from "../store/uptime-history.ts";
import type { PollContext } from "./commit.ts";
import { bucketsOf, createPeriods } from "./uptime-ask.ts";

const DAYS = 30;
/** A page waits no longer; what comes later is there the next time. */
const PAGE_WAIT_MS = 700;
/** Days that are over change once more, overnight. */
const KEPT_MS = 6 * 3_600_000;
/** Requests that failed are not made again within this time; where the service fails in general, nothing is. */
const BACKOFF_MS = 60_000;
/** A month of hours is about 90 kB. */
const MAX_KEPT = 64;
/** Requests that visitors cause, apart from the sweeps': so many at once, and one a second on the whole. */
const MAX_AT_ONCE = 4;
const EVERY_MS = 1_000;

type RecallUptimeDeps = Pick<PollContext, "clock" | "log"> & { readonly service: Pick<Service, "recordingUptime"> };

interface UptimeReaderDeps extends RecallUptimeDeps {
  readonly config: Pick<Config, "service">;
  readonly store: Pick<Store, "uptime" | "inventory">;
  readonly assigned: Pick<PollContext["assigned"], "shardOf">;
}

/** A history, and the zone of its days. */
export type UptimeKept = Pick<UptimeHistory, "buckets" | "days" | "quality"> & { readonly timezone: string };

export type UptimeReader = ReturnType<typeof createUptimeReader>;

/** `kept` leaves out recordings without a stored history; `recall` gives the hours of one recording's last month. */
export function createUptimeReader(deps: UptimeReaderDeps) {
  return { kept: (ids: readonly string[]) => readStored(deps, ids), recall: createRecallUptime(deps) };
}

async function readStored(
  { config, store, assigned }: UptimeReaderDeps,
  ids: readonly string[],
): Promise<ReadonlyMap<string, UptimeKept>> {
  const { inventory, uptime } = store;
  const stored = new Map<string, UptimeKept>();
  const shardOf = (id: string) => assigned.shardOf(inventory.recording(id)?.locationId ?? "");
  for (const [shard, own] of Map.groupBy(ids, shardOf)) {
    if (shard === undefined) continue;
    const histories = await uptime.histories(shard, own);
    for (const [id, { buckets, days, quality }] of histories) {
      const zone = inventory.recording(id)?.timezone ?? "UTC";
      const timezone = config.service.uptimeIndexTimezone === "utc" ? "UTC" : zone;
      stored.set(id, { buckets, days, timezone, quality });
    }
  }
  return stored;
}

/** Gives buckets oldest first, none where the service does not answer in time. Days are those of `timezone`. */
export function createRecallUptime({ clock, log, service }: RecallUptimeDeps) {
  const kept = new Map<string, { readonly until: Instant; readonly buckets: readonly UptimeBucket[] }>();
  const asking = new Map<string, Promise<void>>();
  const inPeriods = createPeriods();
  let backoffUntil: Instant = Number.NEGATIVE_INFINITY;
  /** Until when requests at one a second would have lasted. */
  let spentUntil: Instant = Number.NEGATIVE_INFINITY;

  /** Says whether one more request may be made now, and counts it. */
  function spend(now: Instant): boolean {
    const mostUntil = now + MAX_AT_ONCE * EVERY_MS;
    // At most that, also after the clock went back.
    spentUntil = Math.max(now, Math.min(spentUntil, mostUntil));
    if (asking.size >= MAX_AT_ONCE || spentUntil + EVERY_MS > mostUntil) return false;
    spentUntil += EVERY_MS;
    return true;
  }

  async function ask(id: string, timezone: string): Promise<void> {
    const now = clock.now();
    const days = { start: dayOf(now - (DAYS - 1) * DAY_MS, timezone), end: dayOf(now, timezone) };
    try {
      const known = () => ({ timezone });
      const parts = await inPeriods(days, (part) => service.recordingUptime(id, { ...part, known }));
      keep(id, now + KEPT_MS, bucketsOf(parts));
    } catch (thrown) {
      log.debug({ err: toError(thrown), recording: id }, "hours of the last month not read");
      if (thrown instanceof CodedError && thrown.retryable) backoffUntil = now + BACKOFF_MS;
      keep(id, now + BACKOFF_MS, []);
    }
  }

  function keep(id: string, until: Instant, buckets: readonly UptimeBucket[]): void {
    kept.delete(id);
    kept.set(id, { until, buckets });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  }

  return async (id: string, timezone: string): Promise<readonly UptimeBucket[]> => {
    const known = kept.get(id);
    const now = clock.now();
    if (known && now < known.until) return known.buckets;
    if (asking.has(id) || now < backoffUntil || !spend(now)) return known?.buckets ?? [];
    const asked = ask(id, timezone).finally(() => asking.delete(id));
    asking.set(id, asked);
    await Promise.race([asked, sleep(PAGE_WAIT_MS, undefined, { ref: false })]);
    return kept.get(id)?.buckets ?? [];
  };
}
