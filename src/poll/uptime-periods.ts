/**
 * Uptime of periods that are too long for one request. The longest period is not documented: a request that is refused
 * is made again of 7 days at a time, then of one, and what was accepted is remembered.
 */
import type { ReportedUptime, UptimeBucket } from "../health/recording.ts";
import { DAY_MS } from "../lib/clock.ts";
import { CodedError } from "../lib/errors.ts";
import { utcDay } from "../lib/when.ts";
import type { Days, Service } from "../service/service.ts";

const SHORTER = [7, 1];

type Uptimes = Awaited<ReturnType<Service["uptimes"]>>;

/** Gives `inPeriods(days, ask)`, which resolves to the answers of all periods, oldest first. */
export function createPeriods() {
  /** Days of a request: the most to ask for, and the most that were accepted. */
  let most = Number.POSITIVE_INFINITY;
  let accepted = 0;

  return async function inPeriods<T>(days: Days, ask: (days: Days) => Promise<T>): Promise<T[]> {
    const answers: T[] = [];
    const before = most;
    for (let start = days.start; start <= days.end; ) {
      const wanted = Math.min(most, lengthOf({ start, end: days.end }));
      try {
        answers.push(await ask({ start, end: plusDays(start, wanted - 1) }));
        accepted = Math.max(accepted, wanted);
        start = plusDays(start, wanted);
      } catch (thrown) {
        const fewer = SHORTER.find((length) => length < wanted);
        if (isRefused(thrown) && wanted > accepted && fewer !== undefined) most = fewer;
        else {
          // A day that is refused too is not refused for its length.
          if (answers.length === 0) most = before;
          throw thrown;
        }
      }
    }
    return answers;
  };
}

/** The service with requests of any period. */
export function inShorterPeriods(service: Pick<Service, "uptimes">): Pick<Service, "uptimes"> {
  const inPeriods = createPeriods();
  return {
    async uptimes(query, signal) {
      return joined(await inPeriods(query, (days) => service.uptimes({ ...query, ...days }, signal)));
    },
  };
}

/** One result for each recording, with the buckets of all answers. */
function joined(answers: readonly Uptimes[]): Uptimes {
  const [only] = answers;
  if (only && answers.length === 1) return only;
  const byId = Map.groupBy(
    answers.flatMap(({ results }) => results),
    ({ recording }) => recording.id,
  );
  const results = [...byId.values()].flatMap((parts) => {
    const last = parts.at(-1);
    return last ? [{ recording: last.recording, buckets: bucketsOf(parts) }] : [];
  });
  return { results, dropped: answers.reduce((sum, { dropped }) => sum + dropped, 0) };
}

/** The buckets of all parts, oldest first; of two with the same beginning the later part's. */
export function bucketsOf(parts: readonly Pick<ReportedUptime, "buckets">[]): UptimeBucket[] {
  const byStart = new Map(parts.flatMap(({ buckets }) => buckets.map((bucket) => [bucket.startAt, bucket] as const)));
  return [...byStart.values()].sort((a, b) => a.startAt - b.startAt);
}

function isRefused(thrown: unknown): boolean {
  return thrown instanceof CodedError && thrown.code === "bad_request";
}

function lengthOf({ start, end }: Days): number {
  return (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;
}

function plusDays(day: string, days: number): string {
  return utcDay(Date.parse(day) + days * DAY_MS);
}
