/** Alerts as a table. */
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Alert, SubjectKind } from "../../health/alert.ts";
import { counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import { alertTitle, classOf, suppressionPhrase } from "./alert-title.ts";
import { alertLink, homeLink, type Root, recordingLink } from "./links.ts";
import { sortKey } from "./listing.ts";
import type { PageData } from "./page-data.ts";
import { type TableColumn, tableOf } from "./table.ts";
import { timeAt } from "./when.ts";

/** The worst first: by severity, then alerts of more recordings before alerts of fewer, then the newest. */
export function alertSortKey({ labels, subject, startsAt, id }: Alert): string {
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

const COLUMNS: readonly TableColumn[] = [
  { head: "Alert" },
  { head: "Location" },
  { head: "Since", label: "since" },
  { head: "For", label: "for", brief: true },
  { head: "State" },
];

/** Alerts of the whole fleet; `within` counts, by location, alerts that are folded into that of the location. */
export function alertTable(
  alerts: readonly Alert[],
  { moment, suppressed }: Pick<PageData, "moment" | "suppressed">,
  { root, caption, within }: { root: Root; caption: string; within?: ReadonlyMap<string, number> },
): Markup {
  const rows = alerts.map((alert) => {
    const title = html`<a href="${alertLink(root, fingerprint(alert.labels))}">${alertTitle(alert)}</a>`;
    const state = suppressionPhrase(alert, suppressed.get(alert.key));
    return [
      html`${title} <small>${classOf(alert)}</small>`,
      subjectOf(alert, root, within),
      timeAt(alert.startsAt, alert.facts.timezone, moment),
      html`${span(alert.startsAt, moment.now)}`,
      state === "" ? html`<span class="soft">Unacknowledged</span>` : html`<bdi>${state}</bdi>`,
    ];
  });
  return tableOf(caption, COLUMNS, rows);
}

/** The subject of an alert, with its link. */
export function subjectOf(
  { subject: { kind, id }, labels, annotations, facts }: Alert,
  root: Root,
  within: ReadonlyMap<string, number> = new Map(),
): Markup {
  const locationId = labels.location_id;
  const location =
    locationId === undefined
      ? nothing
      : html`<a href="${homeLink(root, { location: locationId })}"><bdi>${nameOf(labels.location ?? "", locationId)}</bdi></a>`;
  if (kind === "recording") {
    const name = nameOf(labels.recording ?? "", id);
    return html`<a href="${recordingLink(root, id)}"><bdi>${name}</bdi></a> <small>${location}</small>`;
  }
  if (kind === "location") {
    const others = within.get(id) ?? 0;
    return html`${location}${others === 0 ? nothing : html` <small>and ${counted(others, "alert")} of its recordings</small>`}`;
  }
  if (kind === "external") {
    const source = labels.instance ?? labels.job ?? "external";
    const detail = annotations.summary ?? annotations.description ?? "";
    return html`<bdi>${cut(source, 100)}</bdi> <small>${cut(detail, 300)} ${location}</small>`;
  }
  const integration = `${labels.receiver ?? ""} by ${labels.integration ?? ""}`;
  const detail = facts.detail ?? annotations.description ?? "";
  return html`<bdi>${cut(kind === "service" ? "the service" : integration, 100)}</bdi> <small>${cut(detail, 300)}</small>`;
}
