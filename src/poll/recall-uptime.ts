/**
 * The hours of one recording's last month, asked of the service when somebody looks at it: what is kept here of older
 * days is a figure a day, and nothing from before lenswatch knew the recording. Nothing hangs on the answer.
 */
import type { RecordingUptime, UptimeBucket } from "../health/recording.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { dayOf } from "../lib/days.ts";
import { CodedError, toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";

const DAYS = 30;
const DAY_MS = 86_400_000;
/** A page does not wait any longer; what comes later is there for the next look. */
const PATIENCE_MS = 700;
/** Days that are over change once more, overnight. */
const KEPT_MS = 6 * 3_600_000;
/** What was refused is not asked for again within this time; where the service is in trouble, nothing is. */
const REST_MS = 60_000;
/** A month of hours is about 90 kB. */
const MOST_KEPT = 64;
const MOST_AT_ONCE = 4;

export interface RecallUptimeDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly service: {
    recordingUptime(id: string, days: { start: string; end: string }): Promise<RecordingUptime>;
  };
}

interface Recalled {
  readonly until: Instant;
  readonly buckets: readonly UptimeBucket[];
}

/** Gives buckets oldest first, none where the service does not tell in time. Days are those of `timezone`. */
export type RecallUptime = (id: string, timezone: string) => Promise<readonly UptimeBucket[]>;

export function createRecallUptime({ clock, log, service }: RecallUptimeDeps): RecallUptime {
  const kept = new Map<string, Recalled>();
  const asking = new Map<string, Promise<void>>();
  let restsUntil: Instant = Number.NEGATIVE_INFINITY;

  async function ask(id: string, timezone: string): Promise<void> {
    const now = clock.now();
    const days = { start: dayOf(now - (DAYS - 1) * DAY_MS, timezone), end: dayOf(now, timezone) };
    try {
      const { buckets } = await service.recordingUptime(id, days);
      keep(id, { until: now + KEPT_MS, buckets });
    } catch (thrown) {
      log.debug(
        { err: toError(thrown), recording: id },
        "the last month's hours of a recording cannot be had",
      );
      if (thrown instanceof CodedError && thrown.retryable) restsUntil = now + REST_MS;
      keep(id, { until: now + REST_MS, buckets: [] });
    }
  }

  function keep(id: string, recalled: Recalled): void {
    kept.delete(id);
    kept.set(id, recalled);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  }

  return async (id, timezone) => {
    const known = kept.get(id);
    if (known && clock.now() < known.until) return known.buckets;
    if (asking.has(id) || asking.size >= MOST_AT_ONCE || clock.now() < restsUntil)
      return known?.buckets ?? [];
    const asked = ask(id, timezone).finally(() => asking.delete(id));
    asking.set(id, asked);
    await inPatience(asked);
    return kept.get(id)?.buckets ?? [];
  };
}

async function inPatience(asked: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, PATIENCE_MS);
  await Promise.race([asked, promise]).finally(() => clearTimeout(timer));
}
