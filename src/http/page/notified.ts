/** Who was told of an alert, and when: the newest telling of each integration. */
import type { LogLine } from "../../alerting/decision-log.ts";
import type { Alert } from "../../health/alert.ts";
import { count } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { type Moment, timeAt } from "./when.ts";

const TOLD: ReadonlySet<string> = new Set(["notified", "notified_late", "reminded"]);
/** An alert is remembered and said to fire in one write, under clocks that may differ a little. */
const SLACK_MS = 5_000;
const SHOWN = 6;

/**
 * `lines` are oldest first, those of other subjects among them. Nothing is said where they do not go back to the
 * beginning of the alert and tell of nobody: who was told before is not known then.
 */
export function notifiedLine(alert: Alert, lines: readonly LogLine[], moment: Moment): Markup | undefined {
  const { subject, ruleId, firedAt, facts } = alert;
  const own = lines.filter(
    (line) =>
      line.ruleId === ruleId &&
      line.subject.kind === subject.kind &&
      line.subject.id === subject.id &&
      line.at >= firedAt - SLACK_MS,
  );
  const newest = new Map<string, LogLine>();
  for (const line of own) {
    if (line.integration !== undefined && TOLD.has(line.reason)) newest.set(line.integration, line);
  }
  if (newest.size === 0) {
    return own.some(({ reason }) => reason === "firing") ? html`Nobody was told of it yet.` : undefined;
  }
  const notified = [...newest]
    .slice(0, SHOWN)
    .map(
      ([integration, { at }], i) =>
        html`${i === 0 ? "" : ", "}<bdi>${cut(integration, 80)}</bdi> at ${timeAt(at, facts.timezone, moment)}`,
    );
  const left = newest.size - notified.length;
  return html`Told to ${notified}${left === 0 ? "" : ` and ${count(left)} more`}.`;
}
