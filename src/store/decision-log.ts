/**
 * The decision log: per subject the newest decisions whose reason changed, kept for `watch.history` within bounded
 * memory. Lines are encoded and read here, and written by the script that does what they record (`scripts/log.lua`).
 */

import type { Redis } from "ioredis";
import type { LogLine } from "../alerting/decision-log.ts";
import { suppressionReasons } from "../alerting/model.ts";
import type { Subject } from "../health/alert.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript, pipelined } from "./redis.ts";

const PAGE = 500;

export function createDecisionLog(redis: Redis, keys: Keys, encodeLog: EncodeLog) {
  const write = loadScript(redis, keys, "write_log", "log");
  return {
    /** Writes lines that belong to no other script. */
    async write(lines: readonly LogLine[], now: Instant): Promise<void> {
      for (const page of chunksOf(lines, PAGE)) await write(keys.logs, { log: encodeLog(page, now) });
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

function decode(text: string, subject: Subject): LogLine {
  type Row = [at: Instant, rule: string, integration: string, reason: string, detail?: string, until?: Instant];
  const [at, rule, integration, reason, detail, until] = JSON.parse(text) as Row;
  return { subject, at, ruleId: rule || undefined, integration: integration || undefined, reason, detail, until };
}

/**
 * The way in which a line is written that may repeat: `spell`, once until its rule and integration have another reason; `count`, the
 * newest replaces the one before and counts it. Others of delivery are written once (`same`), however often sent.
 */
const REPEATS: Readonly<Record<string, "spell" | "count">> = {
  ...Object.fromEntries(
    [...suppressionReasons, "no_location", "listed_elsewhere", "failed", "owed_nowhere", "not_escalated"].map(
      (one) => [one, "spell"] as const,
    ),
  ),
  reminded: "count",
};

/** Lines as scripts take them (`log.lua`); undefined where there are none. */
export type EncodeLog = ReturnType<typeof createEncodeLog>;

/** `historyMs`: how long a line is kept. */
export function createEncodeLog(historyMs: number) {
  return (lines: readonly LogLine[] = [], now: Instant) =>
    lines.length === 0 ? undefined : { oldest: Math.floor(now - historyMs), lines: lines.map(encodeLine) };
}

/** The line's JSON in pieces, so that scripts compare text instead of parsing it. */
function encodeLine({ subject, at, ruleId, integration, reason, detail, until }: LogLine) {
  const rest = JSON.stringify(until === undefined ? [detail] : [detail, until]).slice(1);
  return {
    subject: subjectKey(subject),
    at: Math.round(at),
    mode: REPEATS[reason] ?? (integration === undefined ? "" : "same"),
    track: `${JSON.stringify(ruleId ?? "")},${JSON.stringify(integration ?? "")},`,
    reason: JSON.stringify(reason),
    rest: detail === undefined ? "]" : `,${rest}`,
  };
}

function subjectKey({ kind, id }: Subject): string {
  return `${kind}/${id}`;
}
