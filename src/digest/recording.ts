/** What the period was like for one recording. */
import type { Instant } from "../lib/clock.ts";
import {
  type DigestInput,
  type DigestPart,
  type DigestRecording,
  type Incident,
  type Outage,
  type RecordingDigest,
  type Span,
  UP_ALL_THE_TIME,
} from "./digest.ts";
import { clip, subtract, total, union } from "./spans.ts";
import { timeline } from "./timeline.ts";
import {
  addBuckets,
  closedTime,
  emptyTally,
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
}

interface Downtime extends Span {
  readonly kind: "offline" | "missing";
  readonly endsAt: Instant | undefined;
}

/** Judges one recording by its figures and by its own incidents (kinds `offline` and `missing`). */
export function judgeRecording(
  input: DigestInput,
  subject: DigestRecording,
  incidents: readonly Incident[],
): JudgedRecording {
  const bounds = { from: input.period.start, to: input.period.end };
  const buckets = timedBuckets(input.uptime.get(subject.recording.id) ?? [], bounds, input.now);
  const closed = closedTime(buckets);
  const downtimes = downtimesOf(subject, incidents, input.now);
  const inPeriod = downtimes.filter((span) => total(subtract(clip([span], bounds), closed)) > 0);
  const lost = subtract(clip(inPeriod, bounds), [...closed, ...input.blind]);
  const tally = addBuckets(emptyTally(), buckets);
  const uptime = meanUptime(tally);
  const downSince = downtimes.find(({ endsAt }) => endsAt === undefined)?.from;
  const upSince = isUp(subject) ? subject.since : undefined;
  const part = partOf({ downSince, inPeriod, uptime, buckets, seenUp: seenUp(upSince, bounds, input.blind) });
  const troubled = part === "down_now" || part === "down_some";
  return {
    tally,
    closed,
    digest: {
      id: subject.recording.id,
      name: subject.recording.name,
      part,
      downSince,
      uptime,
      lostMs: total(lost),
      outages: inPeriod.map((span) => outageOf(span, bounds, [...closed, ...input.blind])),
      timeline: troubled ? timeline({ bounds, down: lost, blind: input.blind, buckets, upSince }) : [],
    },
  };
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
    return [{ kind: incident.kind, from: incident.startsAt, to: endsAt ?? now, endsAt }];
  });
  const unexplained =
    subject.status === "offline" &&
    !subject.recording.useUploadingSchedule &&
    !known.some(({ endsAt }) => endsAt === undefined);
  if (unexplained) known.push({ kind: "offline", from: subject.since, to: now, endsAt: undefined });
  return joined(known.sort((a, b) => a.from - b.from));
}

/** Several rules may speak of the same outage: overlapping ones are one. */
function joined(downtimes: readonly Downtime[]): Downtime[] {
  const result: Downtime[] = [];
  for (const next of downtimes) {
    const last = result.at(-1);
    if (!last || next.from > last.to) result.push(next);
    else result[result.length - 1] = { ...last, to: Math.max(last.to, next.to), endsAt: later(last, next) };
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
  const lostMs = total(subtract(clip([span], bounds), union(excepted)));
  return { kind: span.kind, startsAt: span.from, endsAt: span.endsAt, lostMs };
}
