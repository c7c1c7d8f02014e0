/** One alert in words: its name, since when and how long, what is known about it, and where to go from there. */

import type { NotifiedAlert } from "../alerting/notification.ts";
import type { EndReason } from "../health/alert.ts";
import { isExtentAtStart } from "../health/annotations.ts";
import type { Instant } from "../lib/clock.ts";
import { percent } from "../lib/format.ts";
import { span, type Times } from "../lib/when.ts";
import { isSteady, stateNow } from "./flapping.ts";
import { type Link, silenceLink, statusLink, webUrl } from "./link.ts";
import { clean, locationName, plainName } from "./name.ts";
import { problemOf } from "./problem.ts";
import { standsForNote } from "./stands-for.ts";
import { countPhrase, endCounts } from "./title.ts";

export interface Entry {
  readonly name: string;
  /** What is or was wrong, since when, how long: the line after the name. */
  readonly facts: string;
  /** Further lines: annotations, zones, causes. */
  readonly notes: readonly string[];
  /** The status page first, where there is one. */
  readonly links: readonly Link[];
}

export interface EntryContext {
  readonly now: Instant;
  readonly times: Times;
  readonly externalUrl: string | undefined;
  /** Whether the location is to be said in each line. */
  readonly withLocation?: boolean;
}

const NOTE_LENGTH = 400;
/** A longer one is left out: it would crowd out what matters. */
const LINK_LENGTH = 600;

/** `Till 3`: `offline since 14:05 GMT (12 m)`. */
export function firingEntry(alert: NotifiedAlert, context: EntryContext): Entry {
  const { facts, startsAt } = alert;
  const since = `since ${context.times.at(startsAt, facts.timezone)} (${span(startsAt, context.now)})`;
  return {
    name: plainName(alert),
    facts: joined([`${stateOf(alert)} ${since}`, ...figures(alert), place(alert, context)]),
    notes: notes(alert),
    links: links(alert, context),
  };
}

/** `offline`; of an alert from outside that has no name but what it is called, only that it fires. */
function stateOf(alert: NotifiedAlert): string {
  const is = problemOf(alert).is(alert);
  return alert.subject.kind === "external" && is === plainName(alert) ? "firing" : is;
}

/** `Till 3`: `steady again: offline since 14:05 GMT (20 m) · was flapping 13:56–14:25 GMT (29 m)`. */
export function endedEntry(alert: NotifiedAlert, context: EntryContext): Entry {
  return {
    name: plainName(alert),
    facts: joined([...endedFacts(alert, context), stillOffline(alert), place(alert, context)]),
    notes: [],
    links: links(alert, context).filter(({ label }) => label === "Status"),
  };
}

/** `recovered, was offline 14:05–14:14 GMT (9 m)`; what ended otherwise is never said to be back. */
function endedFacts(alert: NotifiedAlert, context: EntryContext): string[] {
  const { facts, startsAt, endsAt = context.now, endReason = "expired", isNew } = alert;
  const range = `${context.times.between(startsAt, endsAt, facts.timezone)} (${span(startsAt, endsAt)})`;
  const was = `${problemOf(alert).was} ${range}`;
  if (isSteady(alert)) return [`steady again: ${stateNow(alert, context.times, context.now)}`, was];
  return [isNew ? `${was}, ${LATE_ENDS[endReason]}` : `${ENDS[endReason]}${was}`];
}

const ENDS: Readonly<Record<EndReason, string>> = {
  recovered: "recovered, ",
  no_longer_watched: "no longer watched; ",
  rule_removed: "its rule was removed; ",
  expired: "expired, whether it is back is not known; ",
};

/** Of what began and ended untold: said after what it was. */
const LATE_ENDS: Readonly<Record<EndReason, string>> = {
  recovered: "recovered since",
  no_longer_watched: "then no longer watched",
  rule_removed: "then its rule was removed",
  expired: "then expired; whether it is back is not known",
};

/** Alerts by location, the worst hit first. */
export function byLocation(alerts: readonly NotifiedAlert[]): NotifiedAlert[][] {
  const places = Map.groupBy(alerts, (alert) => alert.labels.location_id ?? locationName(alert));
  return [...places.values()].sort((a, b) => hit(b) - hit(a));
}

/** How many recordings are meant: a dark location stands for its own. */
function hit(here: readonly NotifiedAlert[]): number {
  return here.reduce((most, { facts }) => Math.max(most, facts.offline ?? 0), here.length);
}

/** All of one location in a line: `Leeds Briggate`: `12 recordings offline since 14:05 GMT (12 m)`. */
export function locationEntry(here: readonly NotifiedAlert[], context: EntryContext): Entry {
  const [first] = here;
  const isOver = first?.state === "resolved";
  return {
    name: (first && locationName(first)) || "Elsewhere",
    facts: isOver ? endedHere(here, context) : firingFacts(here, context),
    notes: [],
    links: [],
  };
}

function firingFacts(alerts: readonly NotifiedAlert[], { now, times }: EntryContext): string {
  const first = alerts.reduce((a, b) => (b.startsAt < a.startsAt ? b : a));
  const since = `since ${times.at(first.startsAt, first.facts.timezone)} (${span(first.startsAt, now)})`;
  return `${wrongHere(alerts)} ${since}`;
}

/** A dark location speaks for its recordings; a recording alone is named. */
function wrongHere(alerts: readonly NotifiedAlert[]): string {
  const keyOf = (alert: NotifiedAlert) => problemOf(alert).key;
  const site = alerts.find((alert) => keyOf(alert) === "LocationOffline");
  const others = alerts.filter((alert) => alert !== site && !(site && keyOf(alert) === "RecordingOffline"));
  const [only] = alerts;
  if (only?.subject.kind === "recording" && alerts.length === 1)
    return `${plainName(only)} ${problemOf(only).is(only)}`;
  return [
    ...(site ? [problemOf(site).is(site)] : []),
    ...(others.length > 0 ? [countPhrase(others, false)] : []),
  ].join(", ");
}

function endedHere(alerts: readonly NotifiedAlert[], context: EntryContext): string {
  const [only] = alerts;
  if (!only || alerts.length > 1) return endedCounts(alerts);
  const name = only.subject.kind === "recording" ? `${plainName(only)} ` : "";
  return `${name}${endedEntry(only, { ...context, withLocation: false }).facts}`;
}

function endedCounts(alerts: readonly NotifiedAlert[]): string {
  return endCounts(alerts).join(", ");
}

const WITHOUT_QUALITY = new Set(["RecordingOffline", "RecordingMissing", "RecordingFlapping"]);

/** Figures that matter to the problem, and nothing else: an offline camera has no quality. */
function figures(alert: NotifiedAlert): string[] {
  const { averageQuality, overallUptime } = alert.facts;
  const key = problemOf(alert).key;
  const quality = WITHOUT_QUALITY.has(key) ? undefined : averageQuality;
  const uptime = key === "LowUptime" ? overallUptime : undefined;
  return [
    ...(quality === undefined ? [] : [`quality ${percent(quality)}`]),
    ...(uptime === undefined ? [] : [`uptime ${percent(uptime)}`]),
  ];
}

/** A location that is over as such may still have recordings that are offline. */
function stillOffline({ subject, facts: { offline = 0, of } }: NotifiedAlert): string {
  if (subject.kind !== "location" || offline === 0 || of === undefined) return "";
  return `${offline} of ${of} recordings still offline`;
}

function place(alert: NotifiedAlert, { withLocation = false }: EntryContext): string {
  return withLocation && alert.subject.kind === "recording" ? locationName(alert) : "";
}

function notes(alert: NotifiedAlert): string[] {
  const { summary, description, zones, impact } = alert.annotations;
  const { detail } = alert.facts;
  const lines = [
    standsForNote(alert),
    saysNothingNew(alert, summary) ? undefined : summary,
    isExtentAtStart(description) ? undefined : description,
    detail && description?.includes(detail) ? undefined : detail,
    zones && `Zones: ${zones}`,
    impact && `Impact: ${impact}`,
    scheduleNote(alert),
  ];
  return [...new Set(lines.map((line) => clean(line, NOTE_LENGTH)).filter((line) => line !== ""))];
}

function scheduleNote({ facts: { schedule, paused } }: NotifiedAlert): string | undefined {
  if (schedule === "unknown") return "It has an uploading schedule of which this hour is not known yet.";
  if (paused) return "Outside the uploading schedule now: it is judged again once that begins.";
  return schedule === "outside"
    ? "Outside its uploading schedule, which this rule does not ask for."
    : undefined;
}

/** A summary that only repeats the lines around it: `Till 3 at Leeds Briggate is offline`. */
function saysNothingNew(alert: NotifiedAlert, summary = ""): boolean {
  const { subject, annotations } = alert;
  const { recording, location } = alert.labels;
  const who = subject.kind === "location" ? location : `${recording} at ${location}`;
  const state = PLAIN_STATES.get(problemOf(alert).key);
  if (state !== undefined) return summary === `${who} is ${state}`;
  if (subject.kind === "service") return SIGHTLESS.has(summary);
  const [, threshold] = /^(?:Quality|Uptime) of .* is (below [\d.]+ %)$/s.exec(summary) ?? [];
  return (
    threshold !== undefined && (annotations.description ?? "").includes(`, ${threshold}, when this began;`)
  );
}

/** The title of such an alert says the same. */
const SIGHTLESS: ReadonlySet<string> = new Set([
  "The analytics service cannot be reached",
  "The analytics service can be reached only in part",
]);

const PLAIN_STATES: ReadonlyMap<string, string> = new Map([
  ["RecordingOffline", "offline"],
  ["RecordingDegraded", "degraded"],
  ["RecordingMissing", "missing"],
  ["RecordingFlapping", "flapping"],
  ["LocationOffline", "offline"],
]);

function links(alert: NotifiedAlert, { externalUrl }: EntryContext): Link[] {
  const runbook = webUrl(alert.annotations.runbook_url);
  const source = webUrl(alert.facts.generatorUrl);
  const all = [
    externalUrl === undefined ? undefined : statusLink(externalUrl, alert),
    externalUrl === undefined ? undefined : silenceLink(externalUrl, alert),
    runbook === undefined ? undefined : { label: "Runbook", url: runbook },
    source === undefined ? undefined : { label: "Source", url: source },
  ];
  return all.filter((link) => link !== undefined).filter(({ url }) => url.length <= LINK_LENGTH);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}
