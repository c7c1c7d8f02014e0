/** The first sentence of the overview; an unknown status never counts as good. */
import type { Alert } from "../../health/alert.ts";
import { GAP_INTERVALS } from "../../health/rhythm.ts";
import type { Instant } from "../../lib/clock.ts";
import { humanDuration } from "../../lib/duration.ts";
import { count, counted } from "../../lib/format.ts";
import { cut } from "../../lib/text.ts";
import { span, timesSeenAt } from "../../lib/when.ts";
import type { Mood } from "./layout.ts";
import type { PageData } from "./page-data.ts";
import { type Counts, type FleetSummary, occurring, totalOf } from "./summary.ts";

export interface FleetHeadline {
  readonly mood: Mood;
  /** Without a full stop. */
  readonly sentence: string;
  /** Further sentences that qualify the first. */
  readonly asides: readonly string[];
  /** For the browser's tab: the count first. */
  readonly title: string;
}

export function headlineOf({ counts, firing, readAt }: FleetSummary, data: PageData): FleetHeadline {
  const { fleet, moment, alerts } = data;
  const { now } = moment;
  const total = totalOf(counts);
  const unreachable = alerts.filter(({ subject }) => subject.kind === "service");
  const asides = unreachable.map((alert) => unreachableOf(alert, now));
  if (total === 0) {
    return {
      mood: "unknown",
      sentence: `No recording is known yet${alertsAfter(firing)}`,
      asides: [...asides, "No reading of any recording has arrived: the status is unknown, not good."],
      title: "? No recording known",
    };
  }
  if (counts.unknown === total) {
    return {
      mood: "unknown",
      sentence: `The status of ${all(total)} is unknown${alertsAfter(firing)}`,
      asides: [...asides, lastReading(readAt, now)],
      title: `? All unknown, ${counted(total, "recording")}`,
    };
  }
  const period = humanDuration(GAP_INTERVALS * fleet.statusIntervalMs);
  const unknown = `Unknown: no good reading for ${period} or longer. They may be offline.`;
  const mood = counts.degraded > 0 || firing > 0 ? "warn" : "good";
  const isUncertain = counts.unknown > 0 || unreachable.length > 0;
  return {
    mood: counts.offline > 0 ? "bad" : isUncertain ? "unknown" : mood,
    sentence: sentenceOf(counts, firing, total),
    asides: counts.unknown > 0 ? [...asides, unknown] : asides,
    title: titleOf(counts, firing),
  };
}

/** Summary and start of an alert about the service, for the notice on every page. */
export function unreachableOf({ annotations, startsAt, facts }: Alert, now: Instant): string {
  const summary = cut(annotations.summary ?? "Part of the service cannot be read", 200);
  return `${summary}, since ${timesSeenAt(now).at(startsAt, facts.timezone)} (${span(startsAt, now)}).`;
}

function sentenceOf(counts: Counts, firing: number, total: number): string {
  const [first, ...others] = partsOf(counts);
  if (!first) {
    const everything = all(total);
    const subject = everything.charAt(0).toUpperCase() + everything.slice(1);
    return `${subject} ${total === 1 ? "is" : "are"} online${alertsAfter(firing, "no alert fires")}`;
  }
  const [number, word] = first;
  const more = others.map(([n, status]) => `, ${count(n)} ${status}`).join("");
  const verb = number === 1 ? "is" : "are";
  return `${count(number)} of ${counted(total, "recording")} ${verb} ${word}${more}${alertsAfter(firing)}`;
}

function partsOf(counts: Counts) {
  return occurring(counts).flatMap((status) => (status === "online" ? [] : [[counts[status], status] as const]));
}

function alertsAfter(firing: number, none = ""): string {
  if (firing === 0) return none && `, ${none}`;
  return firing === 1 ? ", 1 alert fires" : `, ${count(firing)} alerts fire`;
}

function all(total: number): string {
  return total === 1 ? "the one recording" : `all ${counted(total, "recording")}`;
}

function lastReading(readAt: Instant | undefined, now: Instant): string {
  if (readAt === undefined) return "There was no good reading of them yet: they may be offline.";
  const at = timesSeenAt(now).at(readAt, "UTC");
  return `The last good reading was at ${at}, ${span(readAt, now)} ago: they may be offline.`;
}

function titleOf(counts: Counts, firing: number): string {
  const parts = partsOf(counts).map(([number, word]) => `${count(number)} ${word}`);
  const alerts = firing > 0 ? [counted(firing, "alert")] : [];
  return [...parts, ...alerts].join(", ") || "All online";
}
