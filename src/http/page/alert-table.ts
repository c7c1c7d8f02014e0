/** Alerts by their names, short and whole, and their subjects. */

import { alertSubjectName } from "../../alerting/incident-words.ts";
import {
  type Alert,
  type AlertFacts,
  groupName,
  groupNouns,
  groupOfSubject,
  leftOutPhrase,
  type ProblemKind,
  placesPhrase,
  problems,
  recordingProblems,
  type SubjectKind,
  sharedOutages,
} from "../../health/alert.ts";
import type { AlertState } from "../../health/alert-machine.ts";
import { guiltyFactor } from "../../health/uptime.ts";
import { count, nameOf, nameWithin, percent } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { homeLink, type Root, recordingLink } from "./links.ts";

/** The subject of an alert, with its link. `isNamed`: trouble of lenswatch itself, of which the banner says more. */
export function subjectOf({ subject, labels, annotations, facts }: Alert, root: Root, isNamed = false): Markup {
  const { kind, id } = subject;
  const { location_id: locationId, location: name = "" } = labels;
  const href = homeLink(root, { location: locationId });
  const location =
    locationId === undefined ? nothing : html`<a href="${href}"><bdi>${nameOf(name, locationId)}</bdi></a>`;
  if (kind === "recording") {
    const recording = nameOf(nameWithin(labels.recording ?? "", name), id);
    return html`<a href="${recordingLink(root, id)}"><bdi>${recording}</bdi></a> <small>${location}</small>`;
  }
  if (kind === "location") return location;
  const group = groupOfSubject(subject);
  if (group) {
    const value = html`<a href="${homeLink(root, { q: group.value.slice(0, 256) })}"><bdi>${cut(groupName(group, labels), 100)}</bdi></a>`;
    const places = locationId === undefined ? placesPhrase(facts) : "";
    return html`${groupNouns[group.label]} ${value} <small>${location}${places && html`at <bdi>${places}</bdi>`}</small>`;
  }
  if (kind === "group")
    return html`<bdi>${cut(id, 100)}</bdi> <small>${cut(annotations.description ?? "", 300)} ${location}</small>`;
  if (kind === "external") {
    const source = labels.instance ?? labels.job ?? "external";
    const detail = annotations.summary ?? annotations.description ?? "";
    return html`<bdi>${cut(source, 100)}</bdi> <small>${cut(detail, 300)} ${location}</small>`;
  }
  const words = kind === "service" ? "the service" : alertSubjectName({ subject, labels });
  const detail = isNamed ? "" : (facts.detail ?? annotations.description ?? "");
  return html`<bdi>${cut(words, 100)}</bdi> <small>${cut(detail, 300)}</small>`;
}

/** The shown part of a firing or pending alert. */
export type ShownAlert = Pick<AlertState, "labels" | "annotations" | "startsAt" | "facts">;

/** `Low quality, 40 %`; the alert's own name where its rule is not one of ours. */
export function alertTitle({ labels, facts }: Pick<ShownAlert, "labels" | "facts">): string {
  const words = facts.problem && problems[facts.problem]?.name;
  return `${words ?? nameOf(labels.alertname ?? "", "alert", 80)}${figure(facts)}`;
}

/** The subject of an alert or an episode, by names that may be empty. */
interface About {
  readonly kind: SubjectKind;
  readonly recording?: string | undefined;
  readonly location?: string | undefined;
  readonly alertname: string;
  readonly problem?: ProblemKind | undefined;
  readonly figure?: string;
}

/** `Entrance offline · Leeds Briggate`: the title of its own page. */
export function headingOf({ kind, recording = "", location = "", alertname, problem, figure = "" }: About): string {
  const words = problem === undefined ? undefined : problems[problem]?.name;
  const short = Object.entries(recordingProblems).find(([name]) => name === problem)?.[1].short;
  const own = recording === "" ? "" : nameOf(nameWithin(recording, location), "");
  const name = words ?? nameOf(alertname, "alert", 80);
  const what = kind === "recording" && own !== "" ? (short ? `${own} ${short}` : `${name} · ${own}`) : name;
  return `${what}${figure}${location === "" ? "" : ` · ${nameOf(location, "")}`}`;
}

export function alertHeading({ subject, labels, facts }: Pick<Alert, "subject" | "labels" | "facts">): string {
  const { alertname = "", recording, location, instance, job } = labels;
  const where = location ?? (subject.kind === "external" ? (instance ?? job) : undefined);
  const figured = figure(facts);
  return headingOf({
    kind: subject.kind,
    recording,
    location: where,
    alertname,
    problem: facts.problem,
    figure: figured,
  });
}

/** `RecordingOffline · critical`. */
export function classOf({ labels, facts }: Pick<ShownAlert, "labels" | "facts">): string {
  const name = facts.problem === undefined ? [] : [nameOf(labels.alertname ?? "", "alert", 80)];
  return [...name, nameOf(labels.severity ?? "", "no severity", 30)].join(" · ");
}

function figure(facts: AlertFacts): string {
  const { problem, averageQuality, overallUptime, arrived, decimals, offline, of, outside = 0, unread = 0 } = facts;
  if (problem === "low_quality" && averageQuality !== undefined) return `, ${percent(averageQuality, decimals)}`;
  if (problem === "low_uptime" && overallUptime !== undefined) {
    const cause = guiltyFactor(overallUptime, arrived);
    return `, ${percent(overallUptime, decimals)}${cause ? `, ${cause}` : ""}`;
  }
  if (problem === "not_uploading" && arrived !== undefined) return `, ${percent(arrived, decimals)} of segments`;
  if (!sharedOutages.has(problem) || offline === undefined || of === undefined) return "";
  const leftOut = leftOutPhrase(facts);
  return `, ${count(offline)} of ${count(of + outside + unread)}${leftOut && `; ${leftOut}`}`;
}
