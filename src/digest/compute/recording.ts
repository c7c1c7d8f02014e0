/** What the period was like for one recording, and the one before it. */
import type { Instant } from "../../lib/clock.ts";
import {
  type DigestPart,
  type DigestRecording,
  type DigestScope,
  type Incident,
  type Outage,
  type RecordingDigest,
  type RecordingFigures,
  type Span,
  UP_ALL_THE_TIME,
} from "../digest.ts";
import { countOutages, emptyRecovery, type OutageTally } from "./recovery.ts";
import type { ScheduleTimes } from "./schedule-times.ts";
import { clip, subtract, total, union } from "./spans.ts";
import { timeline } from "./timeline.ts";
import {
  addBuckets,
  closedTime,
  emptyTally,
  hourlyTime,
  meanUptime,
  type TimedBucket,
  timedBuckets,
  type UptimeTally,
} from "./uptime.ts";

export interface JudgedRecording {
  readonly digest: RecordingDigest;
  readonly tally: UptimeTally;
  /** Outside its uploading schedule. */
  readonly closed: readonly Span[];
  readonly before: { readonly tally: UptimeTally; readonly outages: OutageTally } | undefined;
  readonly outages: OutageTally;
}

interface Downtime extends Span {
  readonly kind: "offline" | "missing";
  readonly endsAt: Instant | undefined;
  readonly recovered: boolean;
}

/** Judges one recording by its figures and by its own incidents (kinds `offline`, `missing` and `flapping`). */
export function judgeRecording(
  scope: DigestScope,
  subject: DigestRecording,
  figures: RecordingFigures,
  incidents: readonly Incident[],
  schedules: ScheduleTimes,
): JudgedRecording {
  const bounds = { from: scope.period.start, to: scope.period.end };
  const downtimes = downtimesOf(subject, incidents, scope.now);
  const facts = { scope, subject, figures, downtimes, schedules };
  const { buckets, closed, inPeriod, lost, tally, outages } = within(bounds, facts);
  const uptime = meanUptime(tally);
  const downSince = downtimes.find(({ endsAt }) => endsAt === undefined)?.from;
  const upSince = isUp(subject) ? subject.since : undefined;
  const part = partOf({ downSince, inPeriod, uptime, buckets, seenUp: seenUp(upSince, bounds, scope.blind) });
  const troubled = part === "down_now" || part === "down_some";
  const before = beforeOf(facts);
  return {
    tally,
    closed,
    before,
    outages: countOutages(emptyRecovery(), outages, bounds),
    digest: {
      id: subject.recording.id,
      name: subject.recording.name,
      part,
      downSince,
      uptime,
      uptimeBefore: before && meanUptime(before.tally),
      lostMs: total(lost),
      outages,
      flapping: flappingOf(incidents, bounds, scope.now),
      timeline: troubled ? timeline({ bounds, down: lost, blind: scope.blind, buckets, upSince }) : [],
    },
  };
}

interface Facts {
  readonly scope: DigestScope;
  readonly subject: DigestRecording;
  readonly figures: RecordingFigures;
  readonly downtimes: readonly Downtime[];
  readonly schedules: ScheduleTimes;
}

function within(bounds: Span, { scope, subject, figures, downtimes, schedules }: Facts) {
  const buckets = timedBuckets(figures.buckets, bounds, scope.now);
  const learned = schedules.closed(figures.scheduleHours, subject.recording.timezone, bounds);
  const unsaid = learned.length === 0 ? [] : subtract(learned, hourlyTime(buckets));
  const closed = union([...closedTime(buckets), ...unsaid]);
  const inPeriod = downtimes.filter((span) => total(subtract(clip([span], bounds), closed)) > 0);
  const excepted = [...closed, ...scope.blind];
  const outages = inPeriod.map((span) => outageOf(span, bounds, excepted));
  const lost = subtract(clip(inPeriod, bounds), excepted);
  return { buckets, closed, inPeriod, lost, outages, tally: addBuckets(emptyTally(), buckets) };
}

/** Figures of the first day may begin in the middle of it, or in another zone. */
const BEGINS_WITHIN_MS = 12 * 3_600_000;

/** Undefined where its figures do not go back to the beginning: part of a period is not compared with a whole one. */
function beforeOf(facts: Facts): JudgedRecording["before"] {
  const { before } = facts.scope;
  const [first] = facts.figures.buckets;
  if (!before || !first || first.startAt > before.period.start + BEGINS_WITHIN_MS) return undefined;
  const bounds = { from: before.period.start, to: before.period.end };
  const { tally, outages } = within(bounds, facts);
  return { tally, outages: countOutages(emptyRecovery(), outages, bounds) };
}

function isUp({ status }: DigestRecording): boolean {
  return status === "online" || status === "degraded";
}

/**
 * Every time of being down known of, the ones that go on included, in order. An alert still firing while the
 * recording is up again ends now. Seen offline without an alert counts too, unless a schedule may be the reason.
 */
function downtimesOf(subject: DigestRecording, incidents: readonly Incident[], now: Instant): Downtime[] {
  const known = incidents.flatMap((incident): Downtime[] => {
    if (incident.kind !== "offline" && incident.kind !== "missing") return [];
    const endsAt = incident.endsAt ?? (isUp(subject) ? now : undefined);
    const recovered = endsAt !== undefined && (incident.endReason ?? "recovered") === "recovered";
    return [{ kind: incident.kind, from: incident.startsAt, to: endsAt ?? now, endsAt, recovered }];
  });
  const unexplained =
    subject.status === "offline" &&
    !subject.recording.useUploadingSchedule &&
    !known.some(({ endsAt }) => endsAt === undefined);
  if (unexplained)
    known.push({ kind: "offline", from: subject.since, to: now, endsAt: undefined, recovered: false });
  return joined(known.sort((a, b) => a.from - b.from));
}

/** Several rules may speak of the same outage: overlapping ones are one. */
function joined(downtimes: readonly Downtime[]): Downtime[] {
  const result: Downtime[] = [];
  for (const next of downtimes) {
    const last = result.at(-1);
    if (!last || next.from > last.to) {
      result.push(next);
      continue;
    }
    const endsAt = later(last, next);
    const recovered = endsAt !== undefined && (next.endsAt === endsAt ? next : last).recovered;
    result[result.length - 1] = { ...last, to: Math.max(last.to, next.to), endsAt, recovered };
  }
  return result;
}

function later(a: Downtime, b: Downtime): Instant | undefined {
  return a.endsAt === undefined || b.endsAt === undefined ? undefined : Math.max(a.endsAt, b.endsAt);
}

/** Whether it was seen up from before the period on, and not only while nobody could look. */
function seenUp(upSince: Instant | undefined, bounds: Span, blind: readonly Span[]): boolean {
  return upSince !== undefined && upSince <= bounds.from && total(subtract([bounds], blind)) > 0;
}

function partOf(facts: {
  downSince: Instant | undefined;
  inPeriod: readonly Downtime[];
  uptime: number | undefined;
  buckets: readonly TimedBucket[];
  seenUp: boolean;
}): DigestPart {
  if (facts.downSince !== undefined) return "down_now";
  if (facts.inPeriod.length > 0) return "down_some";
  if (facts.uptime !== undefined) return facts.uptime < UP_ALL_THE_TIME ? "down_some" : "up";
  if (facts.buckets.length > 0 && facts.buckets.every(({ bucket }) => !bucket.withinSchedule))
    return "closed";
  return facts.seenUp ? "up" : "unknown";
}

function outageOf(span: Downtime, bounds: Span, excepted: readonly Span[]): Outage {
  const { kind, from, endsAt, recovered } = span;
  const lostMs = total(subtract(clip([span], bounds), union(excepted)));
  return { kind, startsAt: from, endsAt, lostMs, recovered };
}

function flappingOf(incidents: readonly Incident[], bounds: Span, now: Instant): RecordingDigest["flapping"] {
  const times = incidents
    .filter(({ kind }) => kind === "flapping")
    .map(({ startsAt, endsAt }) => ({ from: startsAt, to: endsAt ?? now }))
    .filter((span) => clip([span], bounds).length > 0);
  return times.length === 0 ? undefined : { count: times.length, lengthMs: total(clip(times, bounds)) };
}
