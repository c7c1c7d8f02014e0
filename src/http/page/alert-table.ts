/** Alerts as a table: what, where, since when, for how long. */
import type { Alert, AlertFacts, ProblemKind, SubjectKind } from "../../health/alert.ts";
import type { AlertState } from "../../health/state.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import { count, counted, nameOf, percent } from "../../lib/words.ts";
import { homeLink, type Root, recordingLink } from "./links.ts";
import { sortKey } from "./order.ts";
import { type Column, tableOf } from "./table.ts";
import { type Moment, timeAt } from "./when.ts";

/** Of an alert that fires or is pending, what is shown. */
export type ShownAlert = Pick<AlertState, "labels" | "annotations" | "startsAt" | "facts">;

export interface AlertTable {
  readonly root: Root;
  readonly moment: Moment;
  /** Said to those who do not see the table. */
  readonly caption: string;
}

/** The worst first: by severity, what speaks of much before what speaks of little, the newest first. */
export function alertKey({ labels, subject, startsAt, id }: Alert): string {
  const severity = SEVERITIES.indexOf(labels.severity ?? "");
  const newest = String(Number.MAX_SAFE_INTEGER - startsAt).padStart(16, "0");
  return sortKey(`${severity < 0 ? SEVERITIES.length : severity}${BREADTH[subject.kind]}${newest}`, [], id);
}

const SEVERITIES: readonly string[] = ["critical", "error", "warning", "info"];

const BREADTH: Readonly<Record<SubjectKind, number>> = {
  service: 0,
  integration: 1,
  location: 2,
  recording: 3,
};

const COLUMNS: readonly Column[] = [
  { head: "What" },
  { head: "Where" },
  { head: "Since", label: "since" },
  { head: "For", label: "for", brief: true },
];

/** Alerts of the whole fleet; `within` counts, by location, alerts that are not listed beside its own. */
export function alertTable(
  alerts: readonly Alert[],
  { root, moment, caption }: AlertTable,
  within: ReadonlyMap<string, number> = new Map(),
): Markup {
  const rows = alerts.map((alert) => [
    whatOf(alert),
    whereOf(alert, root, within),
    ...sinceCells(alert, moment),
  ]);
  return tableOf(caption, COLUMNS, rows);
}

const COLUMNS_HERE = COLUMNS.with(1, { head: "State" });

/** Alerts at one recording, pending ones too; `at` says of which of its location they speak. */
export function alertTableHere(
  alerts: readonly (ShownAlert & { readonly state: string; readonly at: string })[],
  { moment, caption }: Omit<AlertTable, "root">,
): Markup {
  const rows = alerts.map((alert) => {
    const note = cut(alert.annotations.description ?? "", 300);
    const said = note === "" ? nothing : html` <small>${note}</small>`;
    return [html`${whatOf(alert)}${said}`, html`${alert.state}, ${alert.at}`, ...sinceCells(alert, moment)];
  });
  return tableOf(caption, COLUMNS_HERE, rows);
}

const PROBLEMS: Readonly<Record<ProblemKind, string>> = {
  offline: "Offline",
  degraded: "Degraded",
  low_quality: "Low quality",
  low_uptime: "Low uptime",
  missing: "Missing",
  flapping: "Flapping",
  location_offline: "Location offline",
  service_unreachable: "Service out of reach",
  service_partly_unreachable: "Service partly out of reach",
  notifications_failing: "Messages do not get out",
};

function whatOf({ labels, facts }: ShownAlert): Markup {
  const name = nameOf(labels.alertname ?? "", "alert", 80);
  const words = facts.problem && PROBLEMS[facts.problem];
  const also = [...(words === undefined ? [] : [name]), nameOf(labels.severity ?? "", "no severity", 30)];
  return html`${words ?? name}${figure(facts)} <small>${also.join(" · ")}</small>`;
}

/** The figure that the alert is about. */
function figure({ problem, averageQuality, overallUptime, offline, of }: AlertFacts): string {
  if (problem === "low_quality" && averageQuality !== undefined) return `, ${percent(averageQuality)}`;
  if (problem === "low_uptime" && overallUptime !== undefined) return `, ${percent(overallUptime)}`;
  if (problem !== "location_offline" || offline === undefined || of === undefined) return "";
  return `, ${count(offline)} of ${count(of)}`;
}

function whereOf(
  { subject: { kind, id }, labels, annotations, facts }: Alert,
  root: Root,
  within: ReadonlyMap<string, number>,
): Markup {
  const place = labels.location_id;
  const location =
    place === undefined
      ? nothing
      : html`<a href="${homeLink(root, { location: place })}"><bdi>${nameOf(labels.location ?? "", place)}</bdi></a>`;
  switch (kind) {
    case "recording":
      return html`<a href="${recordingLink(root, id)}"><bdi>${nameOf(labels.recording ?? "", id)}</bdi></a> <small>${location}</small>`;
    case "location": {
      const others = within.get(id) ?? 0;
      return html`${location}${others === 0 ? nothing : html` <small>and ${counted(others, "alert")} of its recordings</small>`}`;
    }
    default: {
      const who =
        kind === "service" ? "the service" : `${labels.receiver ?? ""} by ${labels.integration ?? ""}`;
      const why = facts.detail ?? annotations.description ?? "";
      return html`<bdi>${cut(who, 100)}</bdi> <small>${cut(why, 300)}</small>`;
    }
  }
}

function sinceCells({ startsAt, facts }: ShownAlert, moment: Moment): Markup[] {
  return [timeAt(startsAt, facts.timezone, moment), html`${span(startsAt, moment.now)}`];
}
