/** A notification as plain lines, the same for all channels, not escaped: that depends on the channel's markup. */
import { causePhrase } from "../alerting/clusters.ts";
import { MOST_NAMED, namedOnce } from "../alerting/extent.ts";
import type { ColdStartFacts, Notification, NotifiedAlert } from "../alerting/model.ts";
import { humanDuration } from "../lib/duration.ts";
import { count, counted } from "../lib/format.ts";
import { capital, cut } from "../lib/text.ts";
import { timesSeenAt } from "../lib/when.ts";
import { isBack, isSteady } from "./ending.ts";
import { byLocation, dearestOf, entryOf, impactWords, locationEntries, type MessageEntry } from "./entry.ts";
import { type Link, overviewLink } from "./link.ts";
import { clean, locationName, shortName } from "./name.ts";
import { titleOf } from "./title.ts";
import { wordingOf } from "./wording.ts";

/** What the colour stands for. `recovered`: everything has recovered; alerts that ended otherwise are `info`. */
export type Tone = "critical" | "warning" | "info" | "recovered";

export interface AlertMessage {
  /** How bad, what and where: subject, first line, lock screen. */
  readonly title: string;
  readonly tone: Tone;
  /** Whole sentences before the list. */
  readonly lead: readonly string[];
  readonly sections: readonly MessageSection[];
  /** Notes that all firing entries share, after the sections instead of with each entry. */
  readonly common: readonly string[];
  /** The status page; undefined where no address of it is configured. */
  readonly overview: Link | undefined;
}

export interface MessageSection {
  /** With the number of alerts, and what most entries have in common; undefined where the title suffices. */
  readonly heading: string | undefined;
  /** The first ones, up to the limit. */
  readonly entries: readonly MessageEntry[];
  readonly total: number;
  readonly unit: "alert" | "location";
}

/** Slack's limit of a header, in characters; subjects of mails are no longer either. */
const TITLE_LENGTH = 150;

/** More alerts than this, at more than one location, are listed by location. */
const BY_LOCATION_ABOVE = 20;

/** The message; each section holds at most `limit` entries, counts are always of all. */
export function messageOf(notification: Notification, limit: number): AlertMessage {
  const sections = sectionsOf(notification, limit);
  const common = commonNotes(sections, notification);
  const isOwn = (note: string) => !common.includes(note);
  const tone = toneOf(notification);
  return {
    title: cut(`${signOf(tone, notification)} ${titleOf(notification)}`, TITLE_LENGTH),
    tone,
    lead: leadOf(notification),
    sections: sections.map((section) => ({
      ...section,
      entries: section.entries.map((entry) => ({ ...entry, notes: entry.notes.filter(isOwn) })),
    })),
    common,
    overview: overviewOf(notification),
  };
}

function overviewOf({ externalUrl }: Notification): Link | undefined {
  const link = externalUrl === undefined ? undefined : overviewLink(externalUrl);
  return link && link.url.length <= 300 ? link : undefined;
}

/** A reader without colours, or of another severity's name, reads a word: `🔵 sev2:`. */
function signOf(tone: Tone, { reason, firing, resolved }: Notification): string {
  if (tone === "info" && firing.length === 0 && resolved.length > 0) return "⚪";
  const { severity = "" } = firing[0]?.labels ?? {};
  const isNamed = ["", "info", "none", "warning", "warn", "critical"].includes(severity.toLowerCase());
  const isAll = reason !== "test" && firing.every(({ labels }) => labels.severity === severity);
  return SIGNS[tone] + (isNamed || !isAll ? "" : ` ${clean(severity, 20)}:`);
}

const SIGNS: Readonly<Record<Tone, string>> = { critical: "🔴", warning: "🟠", info: "🔵", recovered: "✅" };

/** How bad: the worst severity that still fires. */
function toneOf({ reason, firing, resolved }: Notification): Tone {
  if (reason === "test") return "info";
  if (firing.length > 0) {
    const severities = new Set(firing.map(({ labels }) => labels.severity?.toLowerCase()));
    if (["critical", "page", "emergency", "error"].some((severity) => severities.has(severity))) return "critical";
    return severities.has("warning") || severities.has("warn") ? "warning" : "info";
  }
  return resolved.length > 0 && resolved.every(isBack) ? "recovered" : "info";
}

function leadOf({ reason, receiver, firing, start, escalatedAfterMs, causes = [] }: Notification): string[] {
  if (reason === "test") return [`This is a test of the receiver ${clean(receiver)}. No action is needed.`];
  const meanings = new Set(firing.flatMap((alert) => wordingOf(alert).meaning ?? []));
  const escalated = escalatedAfterMs
    ? [`Escalated to ${clean(receiver)}: not acknowledged for ${humanDuration(escalatedAfterMs)}.`]
    : [];
  const shared = causes.map((cause) => `${capital(clean(causePhrase(cause), 200))}.`);
  return [...shared, ...coldStartLead(start), ...escalated, ...meanings];
}

/** Notes that several firing alerts of one location share. */
function commonNotes(sections: readonly MessageSection[], { firing }: Notification): string[] {
  const [first, ...others] = sections.flatMap(({ entries }) => entries).filter(({ isFiring }) => isFiring);
  if (!first || others.length === 0 || new Set(firing.map((alert) => locationName(alert))).size > 1) return [];
  const shared = first.notes.filter((note) => others.every(({ notes }) => notes.includes(note)));
  return [impactWords(firing).join(" · "), ...shared].filter((note) => note !== "");
}

/** What a cold start means for earlier notifications. */
function coldStartLead(start: ColdStartFacts | undefined): string[] {
  if (!start) return [];
  const { complete, unsettled, suppressed } = start;
  return [
    complete
      ? "Treat earlier alerts that are not listed as resolved. Ongoing problems are sent again when their rule fires."
      : "Not everything has been read yet. Earlier alerts that are not listed may still be active: they are sent again when their rule fires. Treat the others as resolved.",
    ...(unsettled > 0
      ? [`Alerts of ${counted(unsettled, "recording")} are pending: they are sent if their rule fires.`]
      : []),
    ...(suppressed > 0 ? [`${counted(suppressed, "alert")} suppressed: sent when the suppression ends.`] : []),
  ];
}

function sectionsOf(notification: Notification, limit: number): MessageSection[] {
  const { reason, firing, resolved } = notification;
  const [added, known] = [firing.filter(({ isNew }) => isNew), firing.filter(({ isNew }) => !isNew)];
  const isHeaded = resolved.length > 0 || (added.length > 0 && known.length > 0);
  const back = resolved.every((alert) => alert.endReason === "recovered" && !alert.facts.offline && !isSteady(alert));
  const ended = back ? "Recovered" : "Resolved";
  const parts: [heading: string | undefined, alerts: readonly NotifiedAlert[]][] =
    reason === "test"
      ? [firing, resolved].map((alerts) => ["Example, not real", alerts])
      : [
          [isHeaded ? "New" : undefined, added],
          [isHeaded ? "Still firing" : undefined, known],
          [firing.length > 0 ? ended : undefined, resolved],
        ];
  return parts.flatMap(([heading, alerts]) =>
    alerts.length === 0 ? [] : [sectionOf(heading, alerts, notification, limit)],
  );
}

function sectionOf(
  heading: string | undefined,
  alerts: readonly NotifiedAlert[],
  notification: Notification,
  limit: number,
): MessageSection {
  const { reason, now, externalUrl: base, firing, resolved } = notification;
  const context = { now, times: timesSeenAt(now), externalUrl: reason === "test" ? undefined : base };
  const isSpread = (some: readonly NotifiedAlert[]) => new Set(some.map((alert) => locationName(alert))).size > 1;
  // The title says of what is at one place where it is, unless something else in the message is elsewhere.
  const withLocation = isSpread([...firing, ...resolved]);
  if (isSpread(alerts) && alerts.length > BY_LOCATION_ABOVE) {
    const locations = byLocation(namedOnce(alerts));
    const { entries, shared } = locationEntries(locations.slice(0, Math.min(limit, MOST_NAMED)), context);
    return {
      heading: headingOf(heading, locations.length, shared),
      entries,
      total: locations.length,
      unit: "location",
    };
  }
  const isAlone = firing.length + resolved.length === 1 && reason !== "test";
  const title = isAlone ? titleOf(notification) : "";
  const dearest = dearestOf(alerts);
  const entries = alerts.slice(0, limit).map((alert) => {
    const isTitled = isAlone && title.includes(shortName(alert));
    return entryOf(alert, { ...context, withLocation, isTitled, isDearest: dearest.has(alert) });
  });
  return { heading: headingOf(heading, alerts.length), entries, total: alerts.length, unit: "alert" };
}

/** `New (20)`, `New (20) · offline since 14:05 GMT (12 m)`, `Offline since 14:05 GMT (12 m) unless noted`. */
function headingOf(heading: string | undefined, total: number, shared?: string): string | undefined {
  const common = shared === "recovered" ? undefined : shared;
  if (heading === undefined) return common && capital(common);
  return [`${heading} (${total})`, ...(common ? [common] : [])].join(" · ");
}

/** `and 37 more`: those beyond the first `shown`. */
export function restOf({ total, unit }: MessageSection, shown: number): string {
  const left = count(total - shown);
  const noun = unit === "alert" ? "" : total - shown === 1 ? " location" : " locations";
  return shown === 0 ? `${left}${noun}, too many to list here` : `and ${left} more${noun}`;
}
