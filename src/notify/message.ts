/**
 * A notification in words, before any channel's markup: what all channels say, and say alike. Every text here is one
 * plain line, cleaned of control characters but not escaped; escaping is the channel's.
 */
import type { ColdStartFacts, Notification, NotifiedAlert } from "../alerting/notification.ts";
import { count, counted } from "../lib/format.ts";
import { timesSeenAt } from "../lib/when.ts";
import { byLocation, type Entry, endedEntry, firingEntry, locationEntry } from "./entry.ts";
import { isBack, isSteady } from "./flapping.ts";
import { type Link, overviewLink } from "./link.ts";
import { clean, locationName } from "./name.ts";
import { problemOf } from "./problem.ts";
import { titleOf } from "./title.ts";

/** What the colour says. Only what has recovered as a whole is `recovered`; what ended otherwise is `info`. */
export type Tone = "critical" | "warning" | "info" | "recovered";

export interface Message {
  /** What and where: subject, first line, lock screen. */
  readonly title: string;
  readonly tone: Tone;
  /** Whole sentences before the list. */
  readonly lead: readonly string[];
  readonly sections: readonly Section[];
  /** Lines on all that fires alike, said once after the sections instead of with each entry. */
  readonly common: readonly string[];
  /** The status page; undefined where no address of it is configured. */
  readonly overview: Link | undefined;
}

export interface Section {
  /** Undefined where the title says it all. */
  readonly heading: string | undefined;
  /** The first of them, as many as were asked for. */
  readonly entries: readonly Entry[];
  /** How many there are in all. */
  readonly total: number;
  /** What is counted: `alert` or `location`. */
  readonly unit: "alert" | "location";
}

/** More alerts than this at more than one location are told by location. */
const BY_LOCATION_ABOVE = 20;

/** The message; each section holds at most `limit` entries, counts are always of all. */
export function messageOf(notification: Notification, limit: number): Message {
  const firing = firingSections(notification, limit);
  const common = commonNotes(firing, notification);
  return {
    title: titleOf(notification),
    tone: toneOf(notification),
    lead: leadOf(notification),
    sections: [...firing.map((part) => without(part, common)), ...endedSections(notification, limit)],
    common,
    overview: overviewOf(notification),
  };
}

function overviewOf({ externalUrl }: Notification): Link | undefined {
  const link = externalUrl === undefined ? undefined : overviewLink(externalUrl);
  return link && link.url.length <= 300 ? link : undefined;
}

/** How bad: the worst severity that still fires. */
function toneOf({ reason, firing, resolved }: Notification): Tone {
  if (reason === "test") return "info";
  if (firing.length > 0) {
    const severities = new Set(firing.map(({ labels }) => labels.severity?.toLowerCase()));
    if (["critical", "page", "emergency", "error"].some((severity) => severities.has(severity)))
      return "critical";
    return severities.has("warning") || severities.has("warn") ? "warning" : "info";
  }
  return resolved.length > 0 && resolved.every(isBack) ? "recovered" : "info";
}

function leadOf({ reason, receiver, firing, start }: Notification): string[] {
  if (reason === "test")
    return [`This is a test of the receiver ${clean(receiver)}. Nothing is wrong, and nothing needs doing.`];
  const meanings = new Set(firing.flatMap((alert) => problemOf(alert).meaning ?? []));
  return [...startLead(start), ...meanings];
}

/** What every one of several alerts of one location notes. */
function commonNotes(sections: readonly Section[], { firing }: Notification): string[] {
  const [first, ...others] = sections.flatMap(({ entries }) => entries);
  const places = new Set(firing.map((alert) => locationName(alert)));
  if (!first || others.length === 0 || places.size > 1) return [];
  return first.notes.filter((note) => others.every(({ notes }) => notes.includes(note)));
}

function without(section: Section, common: readonly string[]): Section {
  if (common.length === 0) return section;
  const entries = section.entries.map((entry) => ({
    ...entry,
    notes: entry.notes.filter((note) => !common.includes(note)),
  }));
  return { ...section, entries };
}

/** What the summary of a start means for what was told before it. */
function startLead(start: ColdStartFacts | undefined): string[] {
  if (!start) return [];
  const { complete, unsettled, suppressed } = start;
  return [
    complete
      ? "What was told before and is not listed here is over, or is told anew once it has been seen for as long as its rule asks."
      : "Not everything can be seen yet. What was told before and is not listed here may still go on: then it is told anew once it is seen. What is not told anew is over.",
    ...(unsettled > 0
      ? [
          `${counted(unsettled, "recording")} had trouble too new to be told: it follows if it lasts as long as its rule asks.`,
        ]
      : []),
    ...(suppressed > 0 ? [`${counted(suppressed, "alert")} held back here: told when that is over.`] : []),
  ];
}

function firingSections(notification: Notification, limit: number): Section[] {
  const { reason, firing, resolved } = notification;
  if (reason === "test") return section("Example, not real", firingEntry, firing, notification, limit);
  const added = firing.filter(({ isNew }) => isNew);
  if (added.length === 0 || added.length === firing.length) {
    const heading = resolved.length === 0 ? undefined : added.length === 0 ? "Still going on" : "New";
    return section(heading, firingEntry, firing, notification, limit);
  }
  const known = firing.filter(({ isNew }) => !isNew);
  return [
    ...section("New", firingEntry, added, notification, limit),
    ...section("Still going on", firingEntry, known, notification, limit),
  ];
}

function endedSections(notification: Notification, limit: number): Section[] {
  const { reason, firing, resolved } = notification;
  if (reason === "test") return section("Example, not real", endedEntry, resolved, notification, limit);
  const back = resolved.every((alert) => alert.endReason === "recovered" && !isSteady(alert));
  const heading = firing.length === 0 ? undefined : back ? "Recovered" : "Over";
  return section(heading, endedEntry, resolved, notification, limit);
}

function section(
  heading: string | undefined,
  toEntry: typeof firingEntry | typeof endedEntry,
  alerts: readonly NotifiedAlert[],
  { reason, now, externalUrl: base }: Notification,
  limit: number,
): Section[] {
  const context = { now, times: timesSeenAt(now), externalUrl: reason === "test" ? undefined : base };
  if (alerts.length === 0) return [];
  const places = new Set(alerts.map((alert) => locationName(alert)));
  if (alerts.length > BY_LOCATION_ABOVE && places.size > 1) {
    const locations = byLocation(alerts);
    const entries = locations.slice(0, limit).map((here) => locationEntry(here, context));
    return [{ heading, entries, total: locations.length, unit: "location" }];
  }
  const inContext = { ...context, withLocation: places.size > 1 };
  const entries = alerts.slice(0, limit).map((alert) => toEntry(alert, inContext));
  return [{ heading, entries, total: alerts.length, unit: "alert" }];
}

/** `and 37 more`, of which `shown` are not. */
export function restOf({ total, unit }: Section, shown: number): string {
  const left = count(total - shown);
  const noun = unit === "location" ? (total - shown === 1 ? " location" : " locations") : "";
  return shown === 0 ? `${left}${noun}, too many to list here` : `and ${left} more${noun}`;
}
