/** Requests for days of uptime, at a bounded rate: those of the same days together, as many as an answer may be long. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ReportedUptime, UptimeBucket } from "../health/recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import { DAY_MS } from "../lib/clock.ts";
import { CodedError, toError } from "../lib/errors.ts";
import { utcDay } from "../lib/when.ts";
import type { Days, Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";

/** A day of a recording is 3 kB: an answer is parsed in a few milliseconds. */
const DAYS_PER_REQUEST = 200;
const REQUESTS_PER_SECOND = 20;

export interface AskUptimeDeps extends Pick<PollContext, "log"> {
  readonly service: Pick<Service, "uptimes">;
}

interface Asking {
  readonly ids: readonly string[];
  /** Recordings that learn a schedule: their weeks are asked for, where the service gives them. */
  readonly learners: ReadonlySet<string>;
  /** The days that are asked for of a recording. */
  daysOf(id: string): Days;
  weeksOf(id: string): Days;
  /** True where weeks that fail now are not asked for again. */
  readonly isLastTry: boolean;
  /** Ends the answers between two requests. */
  readonly signal: AbortSignal;
}

/** All days there are since `from`; `unread` are learners without their weeks, which are asked for again. */
export interface UptimeAnswer {
  readonly from: string;
  readonly results: readonly ReportedUptime[];
  readonly unread: ReadonlySet<string>;
}

/** Gives `ask(page)`, an answer at a time: all at once would be hundreds of megabytes. */
export function createAskUptime({ service, log }: AskUptimeDeps) {
  return async function* ask(asking: Asking): AsyncGenerator<UptimeAnswer, void> {
    const { ids, learners, daysOf, weeksOf, isLastTry, signal } = asking;
    const unread = new Set<string>();
    const known = new Set<string>();
    for (const { start, end, recids } of requestsOf([...learners], weeksOf)) {
      if (signal.aborted) return;
      const results = await askForWeeks({ service, log }, { start, end, recids });
      if (results === "later" && !isLastTry) for (const id of recids) unread.add(id);
      if (typeof results === "string") continue;
      for (const { recording } of results) known.add(recording.id);
      yield { from: start, results, unread };
    }
    const others = ids.filter((id) => !known.has(id));
    for (const { start, end, recids } of requestsOf(others, daysOf)) {
      if (signal.aborted) return;
      const { results } = await service.uptimes({ start, end, recids });
      yield { from: start, results, unread };
    }
  };
}

function* requestsOf(ids: readonly string[], daysOf: (id: string) => Days) {
  for (const [period, same] of Map.groupBy(ids, (id) => textOf(daysOf(id)))) {
    const [start = "", end = ""] = period.split(" ");
    for (const recids of chunksOf(same, Math.ceil(DAYS_PER_REQUEST / lengthOf({ start, end }))))
      yield { start, end, recids };
  }
}

const textOf = ({ start, end }: Days) => `${start} ${end}`;

/** Weeks of recordings; where they are refused, a schedule is learned day by day. */
async function askForWeeks(
  { service, log }: AskUptimeDeps,
  query: Days & { readonly recids: readonly string[] },
): Promise<readonly ReportedUptime[] | "refused" | "later"> {
  try {
    return (await service.uptimes(query)).results;
  } catch (thrown) {
    log.info({ err: toError(thrown), start: query.start }, "weeks of uptime not read, asking for days");
    return thrown instanceof CodedError && thrown.retryable ? "later" : "refused";
  }
}

/** Each request waits for its turn; those of a second may be made at once. */
export function pacedUptimes(service: AskUptimeDeps["service"]): AskUptimeDeps["service"] {
  const gapMs = 1_000 / REQUESTS_PER_SECOND;
  let freeAt = Number.NEGATIVE_INFINITY;
  return {
    async uptimes(query) {
      const now = performance.now();
      freeAt = Math.max(freeAt, now - 1_000) + gapMs;
      if (freeAt > now) await sleep(freeAt - now);
      return service.uptimes(query);
    },
  };
}

/** The longest period is not documented: a request that is refused is made again of so many days at a time. */
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
        if (thrown instanceof CodedError && thrown.code === "bad_request" && wanted > accepted && fewer !== undefined)
          most = fewer;
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

/** The service with requests of any period, whose rows are read by what is known of their recordings. */
export function inShorterPeriods(
  service: AskUptimeDeps["service"],
  { recording: known }: Pick<Store["inventory"], "recording">,
): AskUptimeDeps["service"] {
  const inPeriods = createPeriods();
  return {
    async uptimes(query, signal) {
      return joined(await inPeriods(query, (days) => service.uptimes({ ...query, ...days, known }, signal)));
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

const lengthOf = ({ start, end }: Days) => (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;

const plusDays = (day: string, days: number) => utcDay(Date.parse(day) + days * DAY_MS);
