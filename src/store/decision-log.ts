/**
 * The incident log: per subject the newest decisions whose reason changed, kept for `watch.history` within bounded
 * memory. Lines are written by the scripts that do what they speak of (`scripts/log.lua`), and read here.
 */
import type { Redis } from "ioredis";
import type { LogLine } from "../alerting/decision-log.ts";
import { suppressionReasons } from "../alerting/suppression.ts";
import type { Subject } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

const PAGE = 500;

/** `watch.history` where nobody says otherwise. */
export const HISTORY_MS = 90 * 86_400_000;

/**
 * What is decided or tried again and again is one line: `spell`, until something else is said at its place; `count`,
 * the newest of them, counted. What delivery writes is written once (`same`), however often its script is sent.
 */
const REPEATS: Readonly<Record<string, "spell" | "count">> = {
  no_location: "spell",
  failed: "spell",
  owed_nowhere: "spell",
  ...Object.fromEntries(suppressionReasons.map((reason) => [reason, "spell"] as const)),
  reminded: "count",
};

/** Lines as the scripts take them; empty where there are none. */
export function encodeLog(lines: readonly LogLine[], oldest: Instant): string {
  if (lines.length === 0) return "";
  return JSON.stringify({ oldest: Math.floor(oldest), lines: lines.map(toWire) });
}

/** The line's JSON in pieces, so that scripts compare text instead of parsing it. */
function toWire({ subject, at, ruleId, integration, reason, detail }: LogLine): string[] {
  const mode = REPEATS[reason] ?? (integration === undefined ? "" : "same");
  const track = `${JSON.stringify(ruleId ?? "")},${JSON.stringify(integration ?? "")},`;
  const rest = detail === undefined ? "" : `,${JSON.stringify(detail)}`;
  return [subjectKey(subject), String(Math.round(at)), track, JSON.stringify(reason), `${rest}]`, mode];
}

function subjectKey({ kind, id }: Subject): string {
  return `${kind}/${id}`;
}

export function createDecisionLog(redis: Redis, keys: Keys, historyMs: number) {
  const write = loadScript(redis, "write_log", { withGroups: true, withLog: true });
  return {
    /** Writes lines of which no other script knows. */
    async write(lines: readonly LogLine[], now: Instant): Promise<void> {
      for (let from = 0; from < lines.length; from += PAGE) {
        const page = lines.slice(from, from + PAGE);
        await write(keys.logs, keys.prefix, encodeLog(page, now - historyMs));
      }
    },

    /** What was decided about these subjects at or after `since`, oldest first. */
    async read(subjects: readonly Subject[], since: Instant): Promise<LogLine[]> {
      const pipeline = redis.pipeline();
      for (const subject of subjects) pipeline.lrange(keys.log(subjectKey(subject)), 0, -1);
      const replies = (await pipeline.exec()) ?? [];
      return replies
        .flatMap(([error, rows], i) => {
          if (error) throw error;
          const subject = subjects[i];
          return subject ? (rows as string[]).reverse().map((row) => decode(row, subject)) : [];
        })
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
