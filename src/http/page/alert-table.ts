/** Alerts as a table: what, where, since when, for how long, and whether somebody sees to it. */
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Alert, SubjectKind } from "../../health/alert.ts";
import { counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import type { ActiveAlert } from "../deps.ts";
import { problemOf, type ShownAlert, whatOf } from "./alert-words.ts";
import { alertLink, homeLink, type Root, recordingLink } from "./links.ts";
import { sortKey } from "./order.ts";
import { suppressionPhrase } from "./suppressed.ts";
import { type Column, tableOf } from "./table.ts";
import { type Moment, timeAt } from "./when.ts";

export interface AlertTable {
  readonly root: Root;
  readonly moment: Moment;
  /** Said to those who do not see the table. */
  readonly caption: string;
  /** By key, what holds an alert back. */
  readonly suppressed: ReadonlyMap<string, ActiveAlert>;
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
  external: 4,
};

const COLUMNS: readonly Column[] = [
  { head: "What" },
  { head: "Where" },
  { head: "Since", label: "since" },
  { head: "For", label: "for", brief: true },
  { head: "Handled" },
];

/** Alerts of the whole fleet; `within` counts, by location, alerts that are not listed beside its own. */
export function alertTable(
  alerts: readonly Alert[],
  { root, moment, caption, suppressed }: AlertTable,
  within: ReadonlyMap<string, number> = new Map(),
): Markup {
  const rows = alerts.map((alert) => [
    whatOf(alert, html`<a href="${alertLink(root, fingerprint(alert.labels))}">${problemOf(alert)}</a>`),
    whereOf(alert, root, within),
    ...sinceCells(alert, moment),
    suppressionCell(alert, suppressed),
  ]);
  return tableOf(caption, COLUMNS, rows);
}

function suppressionCell(alert: Alert, suppressed: AlertTable["suppressed"]): Markup {
  const words = suppressionPhrase(alert, suppressed.get(alert.key));
  return words === "" ? html`<span class="soft">by nobody yet</span>` : html`<bdi>${words}</bdi>`;
}

/** What the alert speaks of, with the way there. */
export function whereOf(
  { subject: { kind, id }, labels, annotations, facts }: Alert,
  root: Root,
  within: ReadonlyMap<string, number> = new Map(),
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
    case "external": {
      const who = labels.instance ?? labels.job ?? "from outside";
      const why = annotations.summary ?? annotations.description ?? "";
      return html`<bdi>${cut(who, 100)}</bdi> <small>${cut(why, 300)} ${location}</small>`;
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
