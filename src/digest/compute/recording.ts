/** The digest of one recording: its period, and the one before it. */

import type { Instant } from "../../lib/clock.ts";
import { isBelow } from "../../lib/format.ts";
import { clip, type Interval, lengthIn, subtract, total, union } from "../../lib/intervals.ts";
import {
  type DigestIncident,
  type DigestPart,
  type DigestRecording,
  type DigestScope,
  type Outage,
  type RecordingDigest,
  type RecordingFigures,
  UP_ALL_THE_TIME,
} from "../digest.ts";
import { closedTime, hourlyTime, timedBuckets, timeline } from "./buckets.ts";
import type { ScheduleTimes } from "./calendar.ts";
import { meanUptime, tallyOf } from "./tally.ts";

type Downtime = Interval & Pick<Outage, "endsAt" | "recovered"> & { readonly kind: "offline" | "missing" };

interface Facts {
  readonly scope: DigestScope;
  readonly subject: DigestRecording;
  readonly figures: RecordingFigures;
  /** The recording's own: `offline`, `missing` and `flapping`. */
  readonly incidents: readonly DigestIncident[];
  readonly schedules: ScheduleTimes;
  /** Its maintenance windows. */
  readonly planned: readonly Interval[];
}

/**
 * The digest of one recording, with the time in which it is not expected and the tally of the period `before`, which is
 * undefined where its figures do not go back so far.
 */
export function judgeRecording(facts: Facts) {
  const { subject, incidents, scope, planned } = facts;
  const { now, unreachable, period: bounds } = scope;
  const downtimes = downtimesOf(subject, incidents, now);
  const inPeriod = within(bounds, downtimes, facts);
  const { closed, down, plannedDown, outages, tally } = inPeriod;
  const isPlanned = (one: Interval) => planned.length > 0 && subtract([one], planned).length === 0;
  const downSince = downtimes.find((one) => one.endsAt === undefined && !isPlanned(one))?.from;
  const upSince = isUp(subject) ? subject.since : undefined;
  const wasUp = upSince !== undefined && upSince <= bounds.from && lengthIn([bounds], bounds, unreachable) > 0;
  const part = downSince === undefined ? partOf(inPeriod, wasUp) : "down_now";
  const hasTrouble = part === "down_now" || part === "down_some";
  // The bar of what is down now shows the present too.
  const until = part === "down_now" ? Math.max(now, bounds.to) : bounds.to;
  const shown = until > bounds.to ? within({ from: bounds.from, to: until }, downtimes, facts) : inPeriod;
  const compared = comparedPeriod(facts);
  const before = compared && within(compared, downtimes, facts).tally;
  const digest: RecordingDigest = {
    id: subject.recording.id,
    name: subject.recording.name,
    part,
    downSince,
    uptime: meanUptime(tally),
    uptimeBefore: before && meanUptime(before),
    lostMs: total(down),
    plannedMs: total(plannedDown),
    outages,
    flapping: flappingOf(incidents, bounds, now),
    timeline: hasTrouble ? timeline({ ...shown, bounds, unreachable, upSince, until }) : [],
  };
  return { tally, closed: [...closed, ...planned], before, digest };
}

function within(
  bounds: Interval,
  downtimes: readonly Downtime[],
  { scope, subject, figures, schedules, planned }: Facts,
) {
  const buckets = timedBuckets(figures.buckets, bounds, scope.now);
  const learned = schedules.closed(figures.scheduleHours, subject.recording.timezone, bounds);
  const unreported = learned.length === 0 ? [] : subtract(learned, hourlyTime(buckets));
  const closed = union([...closedTime(buckets), ...unreported]);
  const excluded = union([...closed, ...scope.unreachable]);
  const known = subtract(clip(downtimes, bounds), excluded);
  const down = subtract(known, planned);
  const plannedDown = subtract(known, down);
  const counted = downtimes.filter((one) => lengthIn([one], bounds, [...closed, ...planned]) > 0);
  const outages = counted.map((one): Outage => {
    const { kind, from: startsAt, endsAt, recovered } = one;
    const plannedMs = lengthIn(planned, one);
    return { kind, startsAt, endsAt, lostMs: lengthIn(down, one), ...(plannedMs > 0 && { plannedMs }), recovered };
  });
  return { bounds, buckets, closed, down, plannedDown, outages, tally: tallyOf(buckets, outages, bounds) };
}

/** The part of a recording that is not down now. `wasUp`: since before the period, with the service reachable. */
function partOf({ buckets, outages, plannedDown, bounds }: ReturnType<typeof within>, wasUp: boolean): DigestPart {
  if (outages.length > 0) return "down_some";
  // Planned downtime explains a low figure of its own buckets.
  const others = plannedDown.length === 0 ? buckets : buckets.filter((one) => lengthIn(plannedDown, one) === 0);
  const uptime = meanUptime(tallyOf(others, [], bounds));
  if (plannedDown.length > 0 && !(uptime !== undefined && isBelow(uptime, UP_ALL_THE_TIME))) return "planned";
  if (uptime !== undefined) return isBelow(uptime, UP_ALL_THE_TIME) ? "down_some" : "up";
  if (buckets.length > 0 && buckets.every(({ bucket }) => !bucket.withinSchedule)) return "closed";
  return wasUp ? "up" : "unknown";
}

/** The first day of figures may begin during the day, or in another zone. */
const BEGINS_WITHIN_MS = 12 * 3_600_000;

/** Undefined where figures begin after the period before did: part of a period is not compared with a whole one. */
function comparedPeriod({ scope: { before }, figures }: Facts): Interval | undefined {
  const [first] = figures.buckets;
  return before && first && first.startAt <= before.period.from + BEGINS_WITHIN_MS ? before.period : undefined;
}

function isUp({ status }: DigestRecording): boolean {
  return status === "online" || status === "degraded";
}

/**
 * Every known downtime in order, ongoing ones too. An alert still firing while the recording is up again ends now.
 * Being offline without an alert counts as well, unless a schedule may be the reason.
 */
function downtimesOf(subject: DigestRecording, incidents: readonly DigestIncident[], now: Instant): Downtime[] {
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
  if (unexplained) known.push({ kind: "offline", from: subject.since, to: now, endsAt: undefined, recovered: false });
  return joined(known.sort((a, b) => a.from - b.from));
}

/** Several rules may report the same outage: overlapping ones are joined. */
function joined(downtimes: readonly Downtime[]): Downtime[] {
  const result: Downtime[] = [];
  for (const next of downtimes) {
    const last = result.at(-1);
    if (!last || next.from > last.to) {
      result.push(next);
      continue;
    }
    const endsAt = last.endsAt && next.endsAt && Math.max(last.endsAt, next.endsAt);
    const recovered = endsAt !== undefined && (next.endsAt === endsAt ? next : last).recovered;
    result[result.length - 1] = { ...last, to: Math.max(last.to, next.to), endsAt, recovered };
  }
  return result;
}

function flappingOf(incidents: readonly DigestIncident[], bounds: Interval, now: Instant): RecordingDigest["flapping"] {
  const times = incidents
    .filter(({ kind }) => kind === "flapping")
    .map(({ startsAt, endsAt }) => ({ from: startsAt, to: endsAt ?? now }))
    .filter((span) => clip([span], bounds).length > 0);
  return times.length === 0 ? undefined : { count: times.length, lengthMs: total(clip(times, bounds)) };
}
