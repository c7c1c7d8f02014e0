/** One alert, or all alerts of one location, as a row of a message's list. */

import type { Link, Row } from "../alerting/document.ts";
import type { NotifiedAlert } from "../alerting/model.ts";
import { suppressionText } from "../alerting/suppression-words.ts";
import { visitsWords } from "../alerting/uncounted.ts";
import { phraseOf, stateOf, wordsOf } from "../alerting/words.ts";
import { type ProblemKind, sharedOutages } from "../health/alert.ts";
import { guiltyFactor } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { count, counted, percent } from "../lib/format.ts";
import { capital } from "../lib/text.ts";
import { span, type Times } from "../lib/when.ts";
import { endCounts, endFacts } from "./ending.ts";
import { alertLink, printableUrl, silenceLink, statusLink } from "./link.ts";
import { clean, locationKey, locationName, plainName, shortName } from "./name.ts";
import { notesOf } from "./notes.ts";
import { outageExtent } from "./title.ts";

interface RowContext {
  readonly now: Instant;
  readonly times: Times;
  readonly externalUrl: string | undefined;
  /** True if each line names the location. */
  readonly withLocation?: boolean;
  /** True if the title is about this alert alone, and says what and where. */
  readonly isTitled?: boolean;
  /** True if its end says which visits were not counted at its location. */
  readonly isDearest?: boolean;
}

/** A longer link is left out: it would displace more important text. */
const LINK_LENGTH = 600;

/** `Till 3`: `offline since 14:05 GMT (12 m)`, or `recovered, was offline 14:05–14:14 GMT (9 m)`. */
export function rowOf(alert: NotifiedAlert, context: RowContext): Row {
  const { isTitled = false, isDearest = isTitled, withLocation, times, now } = context;
  const isFiring = alert.state === "firing";
  const facts = isFiring
    ? [
        alert.facts.clearing
          ? backSince(alert, context)
          : `${isTitled ? "" : `${lineState(alert)} `}${since(alert, context)}`,
        ...figures(alert),
        ...(isTitled ? impactWords([alert]) : []),
        ...suppressedWords(alert, times),
      ]
    : [...endFacts(alert, times, now, isTitled), stillOffline(alert), isDearest ? visitsOf([alert]) : ""];
  const place = withLocation && alert.subject.kind === "recording" ? locationName(alert) : "";
  const line = [...facts, place].filter((part) => part !== "").join(" · ");
  return {
    name: isTitled ? "" : shortName(alert),
    text: isTitled ? capital(line) : line,
    notes: isFiring ? notesOf(alert) : [],
    links: links(alert, context).filter(({ label }) => isFiring || label === "Status"),
  };
}

function lineState(alert: NotifiedAlert): string {
  return sharedOutages.has(alert.facts.problem) ? outageExtent(alert) : stateOf(alert);
}

function since({ startsAt, facts }: NotifiedAlert, { now, times }: RowContext): string {
  return `since ${times.at(startsAt, facts.timezone, false, span(startsAt, now))}`;
}

/** `back since 14:15 GMT (2 m), was offline since 14:05`: it resolves unless it fails again soon. */
function backSince(alert: NotifiedAlert, { now, times }: RowContext): string {
  const { startsAt, updatedAt, facts } = alert;
  const was = `${wordsOf(alert).was} since ${times.at(startsAt, facts.timezone)}`;
  return `back since ${times.at(updatedAt, facts.timezone, false, span(updatedAt, now))}, ${was}`;
}

/** `acknowledged by Ana until 15:00 GMT: on my way`; of both where it is acknowledged and silenced. */
function suppressedWords({ suppressedBy: by, facts }: NotifiedAlert, times: Times): string[] {
  const all = [by?.acknowledged, by].flatMap((one) => (one === undefined || one.reason === "clearing" ? [] : one));
  return all.map((one) => suppressionText(one, (at) => times.at(at, facts.timezone), clean));
}

/** `3 of 4 recordings here still online`, `about 95 visits uncounted so far (80–110)`: of alerts of one location. */
export function impactWords(alerts: readonly NotifiedAlert[]): string[] {
  const here = alerts.find(({ impact }) => impact?.here)?.impact?.here;
  const online = here && `${here.online === 0 ? "none" : count(here.online)} of ${counted(here.of, "recording")}`;
  return [
    ...(online && here.of > 1 ? [`${online} here still online`] : []),
    ...[visitsOf(alerts)].filter((words) => words !== ""),
  ];
}

/** The visits that the whole location did not count while the costliest of its alerts fired. */
function visitsOf(alerts: readonly NotifiedAlert[]): string {
  const [alert] = dearestOf(alerts);
  return visitsWords(alert?.impact?.uncounted, alert?.impact?.worth, alert?.state === "firing");
}

/** The alert of each location while which most visits were not counted: those of the others are among them. */
export function dearestOf(alerts: readonly NotifiedAlert[]): Set<NotifiedAlert> {
  const cost = ({ impact }: NotifiedAlert) => impact?.uncounted?.estimate ?? 0;
  const costly = Map.groupBy(
    alerts.filter((alert) => cost(alert) > 0),
    locationKey,
  ).values();
  return new Set(costly.map((here) => here.reduce((a, b) => (cost(b) > cost(a) ? b : a))));
}

/** Alerts by location, and those of each group, the ones with most recordings affected first. */
export function byLocation(alerts: readonly NotifiedAlert[]): NotifiedAlert[][] {
  const affected = (here: readonly NotifiedAlert[]) =>
    here.reduce((most, { facts }) => Math.max(most, facts.offline ?? 0), here.length);
  const keyOf = (alert: NotifiedAlert) => (alert.subject.kind === "group" ? alert.subject.id : locationKey(alert));
  return [...Map.groupBy(alerts, keyOf).values()].sort((a, b) => affected(b) - affected(a));
}

/** A row for all alerts of one location; a single recording is named. */
export function locationRow(here: readonly NotifiedAlert[], context: RowContext): Row {
  const [first] = here;
  const name = (first?.subject.kind === "group" && plainName(first)) || (first && locationName(first)) || "No location";
  return {
    name,
    text: first?.state === "firing" ? firingHere(here, context) : endedHere(here, context),
    notes: [],
    links: [],
  };
}

function firingHere(alerts: readonly NotifiedAlert[], context: RowContext): string {
  const oldest = alerts.reduce((a, b) => (b.startsAt < a.startsAt ? b : a));
  if (oldest.subject.kind === "recording" && alerts.length === 1)
    return `${shortName(oldest)} ${stateOf(oldest)} ${since(oldest, context)}`;
  const whole = alerts.find(({ facts }) => sharedOutages.has(facts.problem));
  const others = alerts.filter((alert) => alert !== whole && !(whole && alert.facts.problem === "offline"));
  const phrases = [whole && outageExtent(whole), others.length > 0 && phraseOf(others, { isWide: false })];
  return `${phrases.filter((part) => part).join(", ")} ${since(oldest, context)}`;
}

function endedHere(alerts: readonly NotifiedAlert[], context: RowContext): string {
  const [only, ...others] = alerts;
  if (!only || others.length > 0) return endCounts(alerts).join(", ");
  const { text } = rowOf(only, { ...context, withLocation: false });
  return only.subject.kind === "recording" ? `${shortName(only)} ${text}` : text;
}

/** With these problems there is no quality worth showing. */
const WITHOUT_QUALITY: ReadonlySet<ProblemKind | undefined> = new Set([
  "offline",
  "missing",
  "flapping",
  "not_uploading",
]);

function figures({ facts, updatedAt }: NotifiedAlert): string[] {
  const { problem, averageQuality, overallUptime, arrived, decimals, changes, changesSince } = facts;
  const hasQuality = averageQuality !== undefined && !WITHOUT_QUALITY.has(problem);
  const hasUptime = overallUptime !== undefined && problem === "low_uptime";
  const cause = hasUptime ? guiltyFactor(overallUptime, arrived) : undefined;
  return [
    hasQuality ? `quality ${percent(averageQuality, decimals)}` : "",
    hasUptime ? `uptime ${percent(overallUptime, decimals)}${cause ? ` (${cause})` : ""}` : "",
    changes && changesSince !== undefined ? `${changes} changes in ${span(changesSince, updatedAt)}` : "",
    problem === "not_uploading" && arrived !== undefined ? `${percent(arrived, decimals)} of segments arrived` : "",
  ];
}

/** The alert of a location or a group may end while some of its recordings are offline. */
function stillOffline({ facts: { problem, offline = 0, of } }: NotifiedAlert): string {
  if (!sharedOutages.has(problem) || offline === 0 || of === undefined) return "";
  return `${count(offline)} of ${counted(of, "recording")} still offline`;
}

function links(alert: NotifiedAlert, { externalUrl }: RowContext): Link[] {
  const outside = { Runbook: alert.annotations.runbook_url, Source: alert.facts.generatorUrl };
  const ours = [alertLink, silenceLink, statusLink];
  const all = [
    ...ours.map((linkOf) => (externalUrl === undefined ? undefined : linkOf(externalUrl, alert))),
    ...Object.entries(outside).map(([label, text]) => ({ label, url: printableUrl(text) ?? "" })),
  ];
  return all.filter((link) => link !== undefined).filter(({ url }) => url !== "" && url.length <= LINK_LENGTH);
}
