/** What an alert says, in the fewest words. */
import type { AlertFacts } from "../../health/alert.ts";
import { problems } from "../../health/problem-kinds.ts";
import type { AlertState } from "../../health/shard-state.ts";
import { count, nameOf, percent } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";

/** Of an alert that fires or is pending, what is shown. */
export type ShownAlert = Pick<AlertState, "labels" | "annotations" | "startsAt" | "facts">;

/** `Low quality, 40 %`; the alert's own name where it is about nothing of ours. */
export function problemOf({ labels, facts }: Pick<ShownAlert, "labels" | "facts">): string {
  const words = facts.problem && problems[facts.problem]?.name;
  return `${words ?? nameOf(labels.alertname ?? "", "alert", 80)}${figure(facts)}`;
}

/** `RecordingOffline · critical`. */
export function classOf({ labels, facts }: Pick<ShownAlert, "labels" | "facts">): string {
  const name = facts.problem === undefined ? [] : [nameOf(labels.alertname ?? "", "alert", 80)];
  return [...name, nameOf(labels.severity ?? "", "no severity", 30)].join(" · ");
}

/** Both, the second one small. */
export function whatOf(alert: Pick<ShownAlert, "labels" | "facts">, name?: Markup): Markup {
  return html`${name ?? html`${problemOf(alert)}`} <small>${classOf(alert)}</small>`;
}

/** The figure that the alert is about. */
function figure({ problem, averageQuality, overallUptime, offline, of }: AlertFacts): string {
  if (problem === "low_quality" && averageQuality !== undefined) return `, ${percent(averageQuality)}`;
  if (problem === "low_uptime" && overallUptime !== undefined) return `, ${percent(overallUptime)}`;
  if (problem !== "location_offline" || offline === undefined || of === undefined) return "";
  return `, ${count(offline)} of ${count(of)}`;
}
