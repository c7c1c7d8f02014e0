/** What scripts take and answer with in more than one place: destinations, lines of the decision log, wake-ups. */
import type { LogLine } from "../alerting/decision-log.ts";
import type { Destination } from "../alerting/route.ts";
import { suppressionReasons } from "../alerting/suppression.ts";
import type { Subject } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";

/** A destination with its labels as the text that is stored. */
export function encodeDestination(to: Destination) {
  return { ...to, labels: JSON.stringify(to.labels) };
}

/** By integration, when something is due there: the reply of a script that makes groups due. */
export function toWakes(reply: unknown): Map<string, Instant> {
  return new Map(Object.entries(reply as Record<string, Instant>));
}

/**
 * How a line is written that may repeat: `spell`, once until its rule and integration have another reason; `count`, the
 * newest replaces the one before and counts it. What delivery writes is written once (`same`), however often its
 * script is sent.
 */
const REPEATS: Readonly<Record<string, "spell" | "count">> = {
  no_location: "spell",
  failed: "spell",
  owed_nowhere: "spell",
  ...Object.fromEntries(suppressionReasons.map((reason) => [reason, "spell"] as const)),
  reminded: "count",
};

/** Lines as scripts take them (`log.lua`); undefined where there are none. */
export type EncodeLog = (
  lines: readonly LogLine[] | undefined,
  now: Instant,
) => { readonly oldest: Instant; readonly lines: readonly object[] } | undefined;

/** `historyMs`: how long a line is kept. */
export function createEncodeLog(historyMs: number): EncodeLog {
  return (lines = [], now) =>
    lines.length === 0 ? undefined : { oldest: Math.floor(now - historyMs), lines: lines.map(encodeLine) };
}

/** The line's JSON in pieces, so that scripts compare text instead of parsing it. */
function encodeLine({ subject, at, ruleId, integration, reason, detail }: LogLine) {
  return {
    subject: subjectKey(subject),
    at: Math.round(at),
    mode: REPEATS[reason] ?? (integration === undefined ? "" : "same"),
    track: `${JSON.stringify(ruleId ?? "")},${JSON.stringify(integration ?? "")},`,
    reason: JSON.stringify(reason),
    rest: detail === undefined ? "]" : `,${JSON.stringify(detail)}]`,
  };
}

export function subjectKey({ kind, id }: Subject): string {
  return `${kind}/${id}`;
}
