/**
 * The decision log: per subject the newest decisions whose reason changed, kept for `watch.history` within bounded
 * memory. Lines are written by the script that does what they record (`scripts/log.lua`), and read here.
 */
import type { Redis } from "ioredis";
import type { LogLine } from "../alerting/decision-log.ts";
import type { Subject } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import { type EncodeLog, subjectKey } from "./encode.ts";
import type { Keys } from "./keys.ts";
import { loadScript, pipelined } from "./redis.ts";

const PAGE = 500;

export function createDecisionLog(redis: Redis, keys: Keys, encodeLog: EncodeLog) {
  const write = loadScript(redis, keys, "write_log", "log");
  return {
    /** Writes lines that belong to no other script. */
    async write(lines: readonly LogLine[], now: Instant): Promise<void> {
      for (let from = 0; from < lines.length; from += PAGE)
        await write(keys.logs, { log: encodeLog(lines.slice(from, from + PAGE), now) });
    },

    /** The decisions about these subjects at or after `since`, oldest first. */
    async read(subjects: readonly Subject[], since: Instant): Promise<LogLine[]> {
      const replies = await pipelined<string[]>(redis, (batch) => {
        for (const subject of subjects) batch.lrange(keys.log(subjectKey(subject)), 0, -1);
      });
      return subjects
        .flatMap((subject, i) => (replies[i] ?? []).reverse().map((row) => decode(row, subject)))
        .filter(({ at }) => at >= since)
        .sort((a, b) => a.at - b.at);
    },
  };
}

export type DecisionLog = ReturnType<typeof createDecisionLog>;

type Row = [at: Instant, rule: string, integration: string, reason: string, detail?: string];

function decode(text: string, subject: Subject): LogLine {
  const [at, rule, integration, reason, detail] = JSON.parse(text) as Row;
  return { subject, at, ruleId: rule || undefined, integration: integration || undefined, reason, detail };
}
