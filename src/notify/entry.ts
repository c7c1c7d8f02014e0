/** One alert, or all alerts of one location, as an entry of a message's list. */
import type { NotifiedAlert } from "../alerting/notification.ts";
import type { ProblemKind } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { percent } from "../lib/format.ts";
import { span, type Times } from "../lib/when.ts";
import { endCounts, endFacts } from "./ending.ts";
import { type Link, printableUrl, silenceLink, statusLink } from "./link.ts";
import { locationKey, locationName, plainName } from "./name.ts";
import { notesOf } from "./notes.ts";
import { countPhrase } from "./title.ts";
import { wordingOf } from "./wording.ts";

export interface MessageEntry {
  readonly name: string;
  readonly isFiring: boolean;
  /** What is or was wrong, since when, how long: the line after the name. */
  readonly facts: string;
  /** Further lines: annotations, zones, causes. */
  readonly notes: readonly string[];
  /** The status page first, where there is one. */
  readonly links: readonly Link[];
}

interface EntryContext {
  readonly now: Instant;
  readonly times: Times;
  readonly externalUrl: string | undefined;
  /** Whether each line names the location. */
  readonly withLocation?: boolean;
}

/** A longer link is left out: it would displace more important text. */
const LINK_LENGTH = 600;

/** `Till 3`: `offline since 14:05 GMT (12 m)`, or `recovered, was offline 14:05–14:14 GMT (9 m)`. */
export function entryOf(alert: NotifiedAlert, context: EntryContext): MessageEntry {
  const isFiring = alert.state === "firing";
  const facts = isFiring
    ? [`${stateOf(alert)} ${since(alert, context)}`, ...figures(alert)]
    : [...endFacts(alert, context.times, context.now), stillOffline(alert)];
  return {
    name: plainName(alert),
    isFiring,
    facts: [...facts, location(alert, context)].filter((part) => part !== "").join(" · "),
    notes: isFiring ? notesOf(alert) : [],
    links: links(alert, context).filter(({ label }) => isFiring || label === "Status"),
  };
}

function since({ startsAt, facts }: NotifiedAlert, { now, times }: EntryContext): string {
  return `since ${times.at(startsAt, facts.timezone)} (${span(startsAt, now)})`;
}

/** `offline`; `firing` for an external alert that has no name but its alertname. */
function stateOf(alert: NotifiedAlert): string {
  const is = wordingOf(alert).is(alert);
  return alert.subject.kind === "external" && is === plainName(alert) ? "firing" : is;
}

/** Alerts by location, those with most recordings affected first. */
export function byLocation(alerts: readonly NotifiedAlert[]): NotifiedAlert[][] {
  const affected = (here: readonly NotifiedAlert[]) =>
    here.reduce((most, { facts }) => Math.max(most, facts.offline ?? 0), here.length);
  return [...Map.groupBy(alerts, locationKey).values()].sort((a, b) => affected(b) - affected(a));
}

/** All alerts of one location in a line: `Leeds Briggate`: `12 recordings offline since 14:05 GMT (12 m)`. */
export function locationEntry(here: readonly NotifiedAlert[], context: EntryContext): MessageEntry {
  const [first] = here;
  const isFiring = first?.state === "firing";
  const facts = isFiring ? firingHere(here, context) : endedHere(here, context);
  return { name: (first && locationName(first)) || "No location", isFiring, facts, notes: [], links: [] };
}

/** An offline location counts for its recordings; a single recording is named. */
function firingHere(alerts: readonly NotifiedAlert[], context: EntryContext): string {
  const first = alerts.reduce((a, b) => (b.startsAt < a.startsAt ? b : a));
  const oldest = since(first, context);
  if (first.subject.kind === "recording" && alerts.length === 1)
    return `${plainName(first)} ${wordingOf(first).is(first)} ${oldest}`;
  const whole = alerts.find(({ facts }) => facts.problem === "location_offline");
  const others = alerts.filter((alert) => alert !== whole && !(whole && alert.facts.problem === "offline"));
  const phrases = [whole && wordingOf(whole).is(whole), others.length > 0 && countPhrase(others, false)];
  return `${phrases.filter((phrase) => phrase).join(", ")} ${oldest}`;
}

function endedHere(alerts: readonly NotifiedAlert[], context: EntryContext): string {
  const [only] = alerts;
  if (!only || alerts.length > 1) return endCounts(alerts).join(", ");
  const name = only.subject.kind === "recording" ? `${plainName(only)} ` : "";
  return `${name}${entryOf(only, { ...context, withLocation: false }).facts}`;
}

/** With these problems there is no quality worth showing. */
const WITHOUT_QUALITY: ReadonlySet<ProblemKind | undefined> = new Set(["offline", "missing", "flapping"]);

function figures({ facts: { problem, averageQuality, overallUptime, decimals } }: NotifiedAlert): string[] {
  const hasQuality = averageQuality !== undefined && !WITHOUT_QUALITY.has(problem);
  const hasUptime = overallUptime !== undefined && problem === "low_uptime";
  return [
    hasQuality ? `quality ${percent(averageQuality, decimals)}` : "",
    hasUptime ? `uptime ${percent(overallUptime, decimals)}` : "",
  ];
}

/** The alert of a location may end while some of its recordings are offline. */
function stillOffline({ subject, facts: { offline = 0, of } }: NotifiedAlert): string {
  if (subject.kind !== "location" || offline === 0 || of === undefined) return "";
  return `${offline} of ${of} recordings still offline`;
}

function location(alert: NotifiedAlert, { withLocation = false }: EntryContext): string {
  return withLocation && alert.subject.kind === "recording" ? locationName(alert) : "";
}

function links(alert: NotifiedAlert, { externalUrl }: EntryContext): Link[] {
  const outside = { Runbook: alert.annotations.runbook_url, Source: alert.facts.generatorUrl };
  const all = [
    externalUrl === undefined ? undefined : statusLink(externalUrl, alert),
    externalUrl === undefined ? undefined : silenceLink(externalUrl, alert),
    ...Object.entries(outside).map(([label, text]) => ({ label, url: printableUrl(text) ?? "" })),
  ];
  return all.filter((link) => link !== undefined).filter(({ url }) => url !== "" && url.length <= LINK_LENGTH);
}
