/** Short names of alerts, and what suppresses them. */
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Alert, AlertFacts } from "../../health/alert.ts";
import { problems } from "../../health/problem-kinds.ts";
import type { AlertState } from "../../health/shard-state.ts";
import { count, nameOf, percent } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import type { ActiveAlert } from "../deps.ts";
import { alertLink, type Root } from "./links.ts";
import type { PageData } from "./page-data.ts";
import { timeAt } from "./when.ts";

/** The shown part of a firing or pending alert. */
export type ShownAlert = Pick<AlertState, "labels" | "annotations" | "startsAt" | "facts">;

/** `Low quality, 40 %`; the alert's own name where its rule is not one of ours. */
export function alertTitle({ labels, facts }: Pick<ShownAlert, "labels" | "facts">): string {
  const words = facts.problem && problems[facts.problem]?.name;
  return `${words ?? nameOf(labels.alertname ?? "", "alert", 80)}${figure(facts)}`;
}

/** `RecordingOffline · critical`. */
export function classOf({ labels, facts }: Pick<ShownAlert, "labels" | "facts">): string {
  const name = facts.problem === undefined ? [] : [nameOf(labels.alertname ?? "", "alert", 80)];
  return [...name, nameOf(labels.severity ?? "", "no severity", 30)].join(" · ");
}

function figure({ problem, averageQuality, overallUptime, offline, of }: AlertFacts): string {
  if (problem === "low_quality" && averageQuality !== undefined) return `, ${percent(averageQuality)}`;
  if (problem === "low_uptime" && overallUptime !== undefined) return `, ${percent(overallUptime)}`;
  if (problem !== "location_offline" || offline === undefined || of === undefined) return "";
  return `, ${count(offline)} of ${count(of)}`;
}

/** `acknowledged by dana, silenced`; empty where nobody acknowledged it and nothing suppresses it. */
export function suppressionPhrase({ facts }: Pick<Alert, "facts">, active: ActiveAlert | undefined): string {
  const { acknowledgement, silencedBy = [], inhibitedBy = [], mutedBy = [] } = active ?? {};
  return [
    ...(acknowledgement ? [`acknowledged by ${nameOf(acknowledgement.author, "somebody", 40)}`] : []),
    ...(silencedBy.length > 0 ? ["silenced"] : []),
    ...(inhibitedBy.length > 0 ? ["inhibited by another alert"] : []),
    ...(mutedBy.length > 0 ? ["muted"] : []),
    ...(facts.paused ? ["outside its schedule"] : []),
  ].join(", ");
}

/** The same in sentences with times and comments, a line each. */
export function suppressionLines(active: ActiveAlert, data: PageData, root: Root): Markup[] {
  const { alert, acknowledgement, silencedBy = [], inhibitedBy = [], mutedBy = [] } = active;
  const { timezone, paused } = alert.facts;
  const lines: Markup[] = [];
  if (acknowledgement) {
    const at = timeAt(acknowledgement.at, timezone, data.moment);
    const author = html`<bdi>${nameOf(acknowledgement.author, "somebody")}</bdi>`;
    lines.push(html`Acknowledged by ${author} at ${at}${quoted(acknowledgement.comment)}`);
  }
  for (const id of silencedBy) lines.push(silencedLine(id, data, timezone));
  for (const print of inhibitedBy) lines.push(inhibitedLine(print, data, root));
  for (const name of mutedBy) lines.push(html`Muted by the time interval <bdi>${cut(name, 80)}</bdi>.`);
  if (paused) lines.push(html`Paused: outside the recording's uploading schedule.`);
  return lines.length > 0 ? lines : [html`Unacknowledged.`];
}

function quoted(comment: string): Markup {
  return comment === "" ? html`.` : html`: <q><bdi>${cut(comment, 300)}</bdi></q>`;
}

function silencedLine(id: string, { silences, moment }: PageData, timezone: string): Markup {
  const silence = silences.get(id);
  if (!silence) return html`Silenced.`;
  const author = html`<bdi>${nameOf(silence.createdBy, "somebody")}</bdi>`;
  return html`Silenced until ${timeAt(silence.endsAt, timezone, moment)} by ${author}${quoted(silence.comment)}`;
}

function inhibitedLine(print: string, { alerts }: PageData, root: Root): Markup {
  const source = alerts.find(({ labels }) => fingerprint(labels) === print);
  if (!source) return html`Inhibited by another alert.`;
  const location = source.labels.location ?? source.labels.recording ?? "";
  const words = `${alertTitle(source)}${location === "" ? "" : ` · ${nameOf(location, "")}`}`;
  return html`Inhibited by <a href="${alertLink(root, print)}"><bdi>${words}</bdi></a>.`;
}
