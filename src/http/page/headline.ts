/** The first sentence of the page: how it is, in one line; what is not known is never said to be fine. */
import type { Alert } from "../../health/alert.ts";
import { FRESH_INTERVALS } from "../../health/fleet-snapshot.ts";
import type { Instant } from "../../lib/clock.ts";
import { humanDuration } from "../../lib/duration.ts";
import { count, counted } from "../../lib/format.ts";
import { cut } from "../../lib/text.ts";
import { span, timesSeenAt } from "../../lib/when.ts";
import type { Mood } from "./layout.ts";
import { type Counts, totalOf } from "./status.ts";

export interface Headline {
  readonly mood: Mood;
  /** Without a full stop. */
  readonly sentence: string;
  /** What has to be known to read the rest, a sentence each. */
  readonly asides: readonly string[];
  /** For the browser's tab: the count first. */
  readonly title: string;
}

export interface HeadlineFacts {
  readonly counts: Counts;
  readonly firing: number;
  readonly readAt: Instant | undefined;
  readonly now: Instant;
  readonly statusIntervalMs: number;
  /** Alerts about lenswatch's own sight that fire. */
  readonly unreachable: readonly Alert[];
}

export function headlineOf(facts: HeadlineFacts): Headline {
  const total = totalOf(facts.counts);
  const about = facts.unreachable.map((alert) => unreachableOf(alert, facts.now));
  if (total === 0) {
    return {
      mood: "unknown",
      sentence: `No recording is known yet${alertsAfter(facts.firing)}`,
      asides: [...about, "lenswatch has not heard of any recording: that is unknown, not fine."],
      title: "? No recording known",
    };
  }
  if (facts.counts.unknown === total) {
    return {
      mood: "unknown",
      sentence: `lenswatch is blind: the status of ${all(total)} is unknown${alertsAfter(facts.firing)}`,
      asides: [...about, lastSight(facts)],
      title: `? Blind, ${count(total)} unknown`,
    };
  }
  return {
    mood: moodOf(facts),
    sentence: sentenceOf(facts, total),
    asides: [...about, ...unknownAside(facts)],
    title: titleOf(facts),
  };
}

/** What an alert about the service itself says, for the notice on every page. */
export function unreachableOf({ annotations, startsAt, facts }: Alert, now: Instant): string {
  const what = annotations.summary ?? "lenswatch does not see all of the service";
  return `${cut(what, 200)}, since ${timesSeenAt(now).at(startsAt, facts.timezone)} (${span(startsAt, now)}).`;
}

function moodOf({ counts, firing, unreachable }: HeadlineFacts): Mood {
  if (counts.offline > 0) return "bad";
  if (counts.unknown > 0 || unreachable.length > 0) return "unknown";
  return counts.degraded > 0 || firing > 0 ? "warn" : "good";
}

function sentenceOf({ counts, firing }: HeadlineFacts, total: number): string {
  const parts = partsOf(counts);
  const [first] = parts;
  if (!first)
    return `${capital(all(total))} ${total === 1 ? "is" : "are"} online${alertsAfter(firing, "no alert fires")}`;
  const [number, word] = first;
  const rest = parts.slice(1).map(([n, what]) => `, ${count(n)} ${what}`);
  const verb = number === 1 ? "is" : "are";
  return `${count(number)} of ${counted(total, "recording")} ${verb} ${word}${rest.join("")}${alertsAfter(firing)}`;
}

function partsOf(counts: Counts): [number, string][] {
  const all: [number, string][] = [
    [counts.offline, "offline"],
    [counts.unknown, "unknown"],
    [counts.degraded, "degraded"],
  ];
  return all.filter(([number]) => number > 0);
}

function alertsAfter(firing: number, none = ""): string {
  if (firing === 0) return none && `, ${none}`;
  return firing === 1 ? ", 1 alert fires" : `, ${count(firing)} alerts fire`;
}

function all(total: number): string {
  return total === 1 ? "the one recording" : `all ${counted(total, "recording")}`;
}

function unknownAside({ counts, statusIntervalMs }: HeadlineFacts): string[] {
  if (counts.unknown === 0) return [];
  const silent = humanDuration(FRESH_INTERVALS * statusIntervalMs);
  return [
    `Unknown is not fine: nothing was heard of ${counts.unknown === 1 ? "it" : "them"} for ${silent} or longer.`,
  ];
}

function lastSight({ readAt, now }: HeadlineFacts): string {
  if (readAt === undefined) return "Nothing has been seen of them yet: that is unknown, not fine.";
  const at = timesSeenAt(now).at(readAt, "UTC");
  return `The last good reading was at ${at}, ${span(readAt, now)} ago; since then nobody knows. Unknown is not fine.`;
}

function titleOf({ counts, firing }: HeadlineFacts): string {
  const parts = partsOf(counts).map(([number, word]) => `${count(number)} ${word}`);
  const alerts = firing > 0 ? [counted(firing, "alert")] : [];
  return [...parts, ...alerts].join(", ") || "All online";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
