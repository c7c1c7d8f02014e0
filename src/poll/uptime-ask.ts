/** Requests for days of uptime, at a bounded rate: those of the same days together, as many as an answer may be long. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ReportedUptime } from "../health/recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import { DAY_MS } from "../lib/clock.ts";
import { CodedError, toError } from "../lib/errors.ts";
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
    const days = (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;
    for (const recids of chunksOf(same, Math.ceil(DAYS_PER_REQUEST / days))) yield { start, end, recids };
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

/** Rows are read by what is known of their recordings. */
export function readAsKnown(
  service: AskUptimeDeps["service"],
  { recording: known }: Pick<Store["inventory"], "recording">,
): AskUptimeDeps["service"] {
  return { uptimes: (query) => service.uptimes({ ...query, known }) };
}

/** Each request waits for its turn; those of a second may be made at once. */
export function pacedUptimes(
  service: AskUptimeDeps["service"],
  perSecond = REQUESTS_PER_SECOND,
): AskUptimeDeps["service"] {
  const gapMs = 1_000 / perSecond;
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
