/**
 * The decision log: per subject the newest decisions, as writes of the transaction that they belong to. Lines that repeat
 * others are folded when they are read; `prune` keeps the log for `watch.history` and within bounded memory.
 */
import type { Redis } from "ioredis";
import type { LogLine } from "../alerting/decision-log.ts";
import { foldRepeats } from "../alerting/repeats.ts";
import type { Subject } from "../health/alert.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { newId, type Transact, type Write } from "./transact.ts";

const PAGE = 500;
/** Each subject keeps an equal share of MOST lines, within LEAST_EACH and MOST_EACH. */
const [MOST, MOST_EACH, LEAST_EACH] = [1_500_000, 500, 10];

export function createDecisionLog(redis: Redis, keys: Keys, { transact }: Transact, historyMs: number) {
  /** Leaves of each list its `most` newest lines, and of these no line before `oldest`. */
  async function trim(lists: readonly string[], most: number, oldest: Instant): Promise<void> {
    await pipelined(redis, (batch) => {
      for (const list of lists) batch.ltrim(list, 0, most - 1);
    });
    for (let left = lists; left.length > 0; ) {
      const last = await pipelined<string | null>(redis, (batch) => {
        for (const list of left) batch.lindex(list, -1);
      });
      left = left.filter((_, i) => Number.parseInt(last[i]?.slice(1) ?? "", 10) < oldest);
      await pipelined(redis, (batch) => {
        for (const list of left) batch.rpop(list);
      });
    }
  }

  return {
    /** Writes lines that belong to no other transaction. */
    async write(lines: readonly LogLine[]): Promise<void> {
      for (const page of chunksOf(lines, PAGE)) {
        await transact({ id: newId(), checks: [], writes: logWrites(keys, page) });
      }
    },

    /** The decisions about these subjects at or after `since`, oldest first. */
    async read(subjects: readonly Subject[], since: Instant): Promise<LogLine[]> {
      const replies = await pipelined<string[]>(redis, (batch) => {
        for (const subject of subjects) batch.lrange(keys.log(subjectKey(subject)), 0, -1);
      });
      // The same text was written twice by a call whose reply was lost.
      const lines = subjects
        .flatMap((subject, i) => [...new Set(replies[i])].reverse().map((text) => decode(text, subject)))
        .sort((a, b) => a.at - b.at);
      return foldRepeats(lines).filter(({ at }) => at >= since);
    },

    /** Deletes the oldest lines: those before the history, and as many that `most` lines remain. Harmless when repeated. */
    async prune(now: Instant, most = MOST): Promise<void> {
      const subjects = await redis.zcard(keys.logs);
      const each = Math.min(MOST_EACH, Math.max(LEAST_EACH, Math.floor(most / subjects)));
      const beyond = Math.floor(most / LEAST_EACH);
      const [, newest = 0] = await redis.zrevrange(keys.logs, beyond, beyond, "WITHSCORES");
      const oldest = Math.max(now - historyMs, Number(newest) + 1);
      for (let from = 0; from < subjects; from += PAGE) {
        const page = await redis.zrange(keys.logs, from, `${from + PAGE - 1}`);
        await trim(page.map(keys.log), each, oldest);
      }
      await redis.zremrangebyscore(keys.logs, "-inf", `(${oldest}`);
    },
  };
}

/** The writes that add lines. */
export function logWrites(keys: Keys, lines: readonly LogLine[] = []): Write[] {
  const bySubject = [...Map.groupBy(lines, ({ subject }) => subjectKey(subject))];
  const lists = bySubject.flatMap(([subject, own]): Write[] => [
    ["LPUSH", keys.log(subject), ...own.map(encode)],
    ["LTRIM", keys.log(subject), 0, MOST_EACH - 1],
  ]);
  const newest = chunksOf(bySubject, PAGE).map((page): Write => {
    const scores = page.flatMap(([subject, own]) => [Math.max(...own.map(({ at }) => Math.round(at))), subject]);
    return ["ZADD", keys.logs, "GT", ...scores];
  });
  return [...lists, ...newest];
}

function encode({ at, ruleId = "", integration = "", reason, detail, until, eta }: LogLine): string {
  return JSON.stringify([Math.round(at), ruleId, integration, reason, detail, until, eta]).replace(/(,null)+\]$/, "]");
}

function decode(text: string, subject: Subject): LogLine {
  type Row = [
    at: Instant,
    rule: string,
    integration: string,
    reason: string,
    detail?: string | null,
    until?: Instant | null,
    eta?: Instant,
  ];
  const [at, rule, integration, reason, detail, until, eta] = JSON.parse(text) as Row;
  const of = { ruleId: rule || undefined, integration: integration || undefined };
  return { subject, at, ...of, reason, detail: detail ?? undefined, until: until ?? undefined, ...(eta && { eta }) };
}

function subjectKey({ kind, id }: Subject): string {
  return `${kind}/${id}`;
}
