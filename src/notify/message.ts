/** The document of a notification, the same for all channels. */

import { isAcknowledged } from "../alerting/acknowledgement.ts";
import type { Attention } from "../alerting/attention.ts";
import type { Document, Section } from "../alerting/document.ts";
import { MOST_NAMED, namedOnce } from "../alerting/extent.ts";
import { causePhrase } from "../alerting/incident-cause.ts";
import type { ColdStartFacts, Notification, NotifiedAlert } from "../alerting/model.ts";
import { looks, type Tone, toneOf } from "../alerting/tone.ts";
import { wordsOf } from "../alerting/words.ts";
import { isBack, isSteady } from "../health/alert.ts";
import { humanDuration } from "../lib/duration.ts";
import { count, counted } from "../lib/format.ts";
import { capital, cut } from "../lib/text.ts";
import { timesSeenAt } from "../lib/when.ts";
import { byLocation, dearestOf, impactWords, locationRow, rowOf } from "./entry.ts";
import { exampleAlert } from "./example.ts";
import { overviewLink } from "./link.ts";
import { clean, locationName, shortName } from "./name.ts";
import { notesOf } from "./notes.ts";
import { questionLead } from "./question.ts";
import { titleOf } from "./title.ts";

/** Slack's limit of a header, in characters; subjects of mails are no longer either. */
const TITLE_LENGTH = 150;

/** More alerts than this, at more than one location, are listed by location. */
const BY_LOCATION_ABOVE = 20;

/** Each section holds at most `limit` rows; counts are always of all. */
export function messageOf(notification: Notification, limit: number): Document {
  const { externalUrl } = notification;
  const notes = sharedNotes(notification, limit);
  const isOwn = (note: string) => !notes.includes(note);
  const tone = toneIn(notification);
  const overview = externalUrl === undefined ? [] : [overviewLink(externalUrl)];
  return {
    title: cut(`${signOf(tone, notification)} ${titleOf(notification)}`, TITLE_LENGTH),
    tone,
    lead: leadOf(notification),
    sections: sectionsOf(notification, limit).map((section) => ({
      ...section,
      rows: section.rows.map((row) => ({ ...row, notes: row.notes.filter(isOwn) })),
    })),
    notes,
    actions: overview.filter(({ url }) => url.length <= 300),
  };
}

/** A reader without colours, or of another severity's name, reads a word: `sev2:`. */
function signOf(tone: Tone, { reason, firing }: Notification): string {
  const { severity = "" } = firing[0]?.labels ?? {};
  const isNamed = ["", "info", "none", "warning", "warn", "critical"].includes(severity.toLowerCase());
  const isAll = reason !== "test" && firing.every(({ labels }) => labels.severity === severity);
  return looks[tone].sign + (isNamed || !isAll ? "" : ` ${clean(severity, 20)}:`);
}

/** The tone of the worst alert that still fires; `good` where everything has recovered. */
function toneIn({ reason, firing, resolved }: Notification): Tone {
  if (reason === "test") return "info";
  if (firing.length > 0) return toneOf(firing.map((alert) => [alert, attentionTo(alert)]));
  if (resolved.length === 0) return reason === "resolved" ? "unknown" : "info";
  return resolved.every(isBack) ? "good" : "unknown";
}

/** One that is not known to be over needs somebody all the same. */
function attentionTo(alert: NotifiedAlert): Attention {
  const reason = alert.suppressedBy?.reason ?? "needed";
  if (isAcknowledged(alert)) return "acknowledged";
  return reason === "clearing" || reason === "stale" || reason === "escalation" ? "needed" : reason;
}

function leadOf({ reason, receiver, firing, start, escalatedAfterMs, causes = [] }: Notification): string[] {
  if (reason === "question") return questionLead({ firing });
  if (reason === "test") return [`This is a test of the receiver ${clean(receiver)}. No action is needed.`];
  const meanings = new Set(firing.flatMap((alert) => wordsOf(alert).meaning ?? []));
  const escalated = escalatedAfterMs
    ? [`Escalated to ${clean(receiver)}: not acknowledged for ${humanDuration(escalatedAfterMs)}.`]
    : [];
  const shared = causes.map((cause) => `${capital(clean(causePhrase(cause), 200))}.`);
  return [...shared, ...coldStartLead(receiver, start), ...escalated, ...meanings];
}

/** Notes that several firing alerts of one location share. */
function sharedNotes({ firing }: Notification, limit: number): string[] {
  const [first, ...others] = firing.slice(0, limit).map(notesOf);
  if (!first || others.length === 0 || isSpread(firing)) return [];
  const shared = first.filter((note) => others.every((notes) => notes.includes(note)));
  return [impactWords(firing).join(" · "), ...shared].filter((note) => note !== "");
}

/** Sentences on what is notified, and what a cold start means for earlier notifications. */
function coldStartLead(receiver: string, start: ColdStartFacts | undefined): string[] {
  if (!start) return [];
  const { added, complete, unsettled, suppressed, watched } = start;
  const others = suppressed > 0 ? "neither listed nor suppressed" : "not listed";
  const problems =
    watched.length === 0 ? [] : [`What ${clean(receiver)} is notified of, by its routes: ${watched.join(", ")}.`];
  return [
    ...problems,
    ...(added ? [] : [storeWords(complete, others)]),
    ...(unsettled > 0
      ? [`Alerts of ${counted(unsettled, "recording")} are pending: they are sent if their rule fires.`]
      : []),
    ...(suppressed > 0 ? [`${counted(suppressed, "alert")} suppressed: sent when the suppression ends.`] : []),
  ];
}

function storeWords(complete: boolean, others: string): string {
  return complete
    ? `The store was empty: treat earlier alerts that are ${others} as resolved. Ongoing problems are sent again when their rule fires.`
    : "The store was empty, and not everything has been read yet. Earlier alerts that are not listed may still be active: they are sent again when their rule fires. Treat the others as resolved.";
}

function sectionsOf(notification: Notification, limit: number): Section[] {
  const { reason, firing, resolved } = notification;
  const [added, known] = [firing.filter(({ isNew }) => isNew), firing.filter(({ isNew }) => !isNew)];
  const isHeaded = resolved.length > 0 || (added.length > 0 && known.length > 0);
  const back = resolved.every((alert) => alert.endReason === "recovered" && !alert.facts.offline && !isSteady(alert));
  const ended = back ? "Recovered" : "Resolved";
  const parts: [heading: string | undefined, alerts: readonly NotifiedAlert[]][] =
    reason === "test"
      ? [firing, resolved].map((alerts) => [EXAMPLE, alerts])
      : [
          [EXAMPLE, firing.length > 0 ? [] : exampleOf(notification)],
          [isHeaded ? "New" : undefined, added],
          [isHeaded ? "Still firing" : undefined, known],
          [firing.length > 0 ? ended : undefined, resolved],
        ];
  return parts.flatMap(([heading, alerts]) =>
    alerts.length === 0 ? [] : [sectionOf(heading, alerts, notification, limit)],
  );
}

const EXAMPLE = "Example, not real";
const EXAMPLE_MS = 120_000;

/** What an alert will look like, in the first message. */
function exampleOf({ start, now }: Notification): NotifiedAlert[] {
  if (!start?.example) return [];
  const { timezone, ...labels } = start.example;
  const subject = { kind: "recording", id: "example" } as const;
  const own = { subject, labels, annotations: {}, facts: { timezone, problem: "offline" } } as const;
  return [exampleAlert(own, now - EXAMPLE_MS)];
}

function sectionOf(
  heading: string | undefined,
  alerts: readonly NotifiedAlert[],
  notification: Notification,
  limit: number,
): Section {
  const { now, externalUrl: base, timezone, firing, resolved } = notification;
  const isExample = heading === EXAMPLE;
  const context = { now, times: timesSeenAt(now, timezone), externalUrl: isExample ? undefined : base };
  if (isSpread(alerts) && alerts.length > BY_LOCATION_ABOVE) {
    const locations = byLocation(namedOnce(alerts));
    const rows = locations.slice(0, Math.min(limit, MOST_NAMED)).map((here) => locationRow(here, context));
    return { heading: headingOf(heading, locations.length), rows, total: locations.length, unit: "location" };
  }
  const isAlone = firing.length + resolved.length === 1 && !isExample;
  const title = isAlone ? titleOf(notification) : "";
  const dearest = dearestOf(alerts);
  // The title says of what is at one place where it is, unless something else in the message is elsewhere.
  const withLocation = isExample || isSpread([...firing, ...resolved]);
  const rows = alerts.slice(0, limit).map((alert) => {
    const isTitled = isAlone && title.includes(shortName(alert));
    return rowOf(alert, { ...context, withLocation, isTitled, isDearest: dearest.has(alert) });
  });
  return { heading: headingOf(heading, alerts.length), rows, total: alerts.length, unit: "alert" };
}

function isSpread(alerts: readonly NotifiedAlert[]): boolean {
  return new Set(alerts.map((alert) => locationName(alert))).size > 1;
}

/** `New (20)`. */
function headingOf(heading: string | undefined, total: number): string | undefined {
  return heading === EXAMPLE ? heading : heading && `${heading} (${count(total)})`;
}
