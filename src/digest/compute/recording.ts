/** The digest of one recording: its period, and the one before it. */
import { type Matcher, matchesAll } from "../../alerting/matcher.ts";
import { recordingLabels } from "../../health/recording-evaluator.ts";
import type { Instant } from "../../lib/clock.ts";
import { isBelow } from "../../lib/format.ts";
import { clip, type Interval, lengthIn, subtract, total, union } from "../../lib/intervals.ts";
import { attribute, type LossEvidence } from "../../report/attribute.ts";
import { createLossOf } from "../../report/loss.ts";
import { lossTally, noLoss } from "../../report/tally.ts";
import {
  type DigestEpisode,
  type DigestPart,
  type DigestRecording,
  type DigestScope,
  type Outage,
  type RecordingDigest,
  type RecordingFigures,
  UP_ALL_THE_TIME,
} from "../digest.ts";
import { bucketsWithin, closedTime, hourlyTime, timedBuckets } from "./buckets.ts";
import type { ScheduleTimes } from "./calendar.ts";
import { createWider } from "./episode.ts";
import { meanUptime, tallyOf } from "./tally.ts";

type Downtime = Interval & Pick<Outage, "endsAt" | "recovered">;

interface Facts {
  readonly scope: DigestScope;
  readonly subject: DigestRecording;
  readonly figures: RecordingFigures;
  /** The recording's own. */
  readonly episodes: readonly DigestEpisode[];
  /** Alerts about all recordings of its location or camera server, the largest group first. */
  readonly wider: LossEvidence["wider"];
  readonly schedules: ScheduleTimes;
  /** Its maintenance windows. */
  readonly planned: readonly Interval[];
}

/** Matchers see the labels an alert of the recording would carry; a missing label is the empty string. */
export function isChosen(matchers: readonly Matcher[], { recording, locationName, shop }: DigestRecording): boolean {
  if (matchers.length === 0) return true;
  const { id, locationId } = recording;
  const location = { id: locationId, name: locationName, timezone: undefined };
  const labels = recordingLabels(id, locationId, {
    recording: () => recording,
    location: () => location,
    shop: () => shop,
  });
  return matchesAll(matchers, labels);
}

/** Gives what the scope holds about a recording. */
export function createFacts(scope: DigestScope, schedules: ScheduleTimes) {
  const own = scope.episodes.filter(({ subject }) => subject.kind === "recording");
  const byRecording = Map.groupBy(own, ({ subject }) => subject.id);
  const widerOf = createWider(scope);
  const plannedOf = (subject: DigestRecording) =>
    union((scope.maintenance ?? []).flatMap((one) => (isChosen(one.matchers, subject) ? one.windows : [])));
  return (subject: DigestRecording, figures: RecordingFigures): Facts => {
    const episodes = byRecording.get(subject.recording.id) ?? [];
    const [wider, planned] = [widerOf(subject.recording), plannedOf(subject)];
    return { scope, subject, figures, episodes, wider, schedules, planned };
  };
}

/** Gives what a recording lost by cause, in the period and in the one before. */
export function createLossIn({ period, before, now }: DigestScope) {
  const lossOf = createLossOf(untilNow(period, now));
  const lossBefore = before && createLossOf(before.period);
  return (facts: Facts) => {
    const evidence = evidenceOf(facts);
    return { loss: lossOf(evidence), before: lossBefore?.(evidence) ?? noLoss() };
  };
}

function untilNow({ from, to }: Interval, now: Instant): Interval {
  return { from, to: Math.min(to, Math.max(now, from)) };
}

/**
 * The digest of one recording, with its tally and that of the period `before`, which is undefined where its figures do
 * not go back so far.
 */
export function judgeRecording(facts: Facts) {
  const { subject, episodes, scope, planned, wider } = facts;
  const { now, unreachable, period: bounds } = scope;
  const evidence = evidenceOf(facts);
  const { downtimes } = evidence;
  const inPeriod = within(bounds, evidence, facts);
  const { down, plannedDown, loss, tally } = inPeriod;
  const isPlanned = (one: Interval) => planned.length > 0 && subtract([one], planned).length === 0;
  const downSince = downtimes.find((one) => one.endsAt === undefined && !isPlanned(one))?.from;
  const wasUp = isUp(subject) && subject.since <= bounds.from && lengthIn([bounds], bounds, unreachable) > 0;
  const compared = comparedPeriod(facts);
  const before = compared && within(compared, evidence, facts).tally;
  const isAlerted =
    episodes.some(({ endsAt }) => endsAt === undefined) || wider.some(({ spans }) => spans.some(({ to }) => to > now));
  const digest: RecordingDigest = {
    id: subject.recording.id,
    name: subject.recording.name,
    part: downSince === undefined ? partOf(inPeriod, wasUp) : "down_now",
    downSince,
    isAside: downSince !== undefined && (downSince >= bounds.to || !isAlerted),
    uptime: meanUptime(tally),
    lostMs: total(down),
    plannedMs: total(plannedDown),
    loss,
  };
  return { tally, before, digest };
}

/** Buckets are needed whole: of days at both ends of a period, what is around it counts too. */
export const AROUND_MS = 26 * 3_600_000;

/** The evidence on the recording in and around both periods; the causes of its downtime are found from it. */
function evidenceOf({ scope, subject, figures, episodes, schedules, wider, planned }: Facts) {
  const { now, period, before, unreachable, unwatched = [] } = scope;
  const downtimes = downtimesOf(subject, episodes, now);
  const timed = timedBuckets(figures.buckets, now);
  const around = { from: (before?.period ?? period).from - AROUND_MS, to: Math.max(now, period.to) + AROUND_MS };
  const learned = schedules.closed(figures.scheduleHours, subject.recording.timezone, around);
  const unreported = learned.length === 0 ? [] : subtract(learned, hourlyTime(timed));
  const closed = union([...closedTime(timed), ...unreported]);
  const known = [figures.buckets[0]?.startAt, downtimes[0]?.from, subject.status && subject.since];
  const knownFrom = Math.min(...known.filter((at) => at !== undefined));
  const buckets: LossEvidence["buckets"][number][] = [];
  for (const { bucket, from, to } of timed)
    if (bucket.withinSchedule && bucket.overallUptime !== undefined)
      buckets.push({ from, to, recorded: bucket.overallUptime });
  return { timed, downtimes, down: downtimes, closed, unreachable, unwatched, planned, buckets, wider, knownFrom };
}

function within(bounds: Interval, evidence: ReturnType<typeof evidenceOf>, { scope, planned }: Facts) {
  const buckets = bucketsWithin(evidence.timed, bounds);
  const closed = clip(evidence.closed, bounds);
  const attributed = attribute(evidence, untilNow(bounds, scope.now));
  const down = subtract(attributed.seen, planned);
  const plannedDown = subtract(attributed.seen, down);
  const counted = evidence.downtimes.filter((one) => lengthIn([one], bounds, [...closed, ...planned]) > 0);
  const outages = counted.map((one): Outage => {
    const { from: startsAt, endsAt, recovered } = one;
    return { startsAt, endsAt, lostMs: lengthIn(down, one), plannedMs: lengthIn(planned, one), recovered };
  });
  const loss = lossTally(attributed);
  return { bounds, buckets, down, plannedDown, outages, loss, tally: tallyOf(buckets, outages, bounds) };
}

/** The part of a recording that is not down now. `wasUp`: since before the period, with the service reachable. */
function partOf({ buckets, outages, plannedDown, bounds }: ReturnType<typeof within>, wasUp: boolean): DigestPart {
  if (outages.length > 0) return "down_some";
  // Planned downtime explains a low figure of its own buckets.
  const others = plannedDown.length === 0 ? buckets : buckets.filter((one) => lengthIn(plannedDown, one) === 0);
  const uptime = meanUptime(tallyOf(others, [], bounds));
  if (plannedDown.length > 0 && !(uptime !== undefined && isBelow(uptime, UP_ALL_THE_TIME))) return "planned";
  if (uptime !== undefined) return isBelow(uptime, UP_ALL_THE_TIME) ? "low" : "up";
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
function downtimesOf(subject: DigestRecording, episodes: readonly DigestEpisode[], now: Instant): Downtime[] {
  const known = episodes.flatMap((episode): Downtime[] => {
    if (episode.problem !== "offline" && episode.problem !== "missing") return [];
    const endsAt = episode.endsAt ?? (isUp(subject) ? now : undefined);
    const recovered = endsAt !== undefined && (episode.endReason ?? "recovered") === "recovered";
    return [{ from: episode.startsAt, to: endsAt ?? now, endsAt, recovered }];
  });
  const unexplained =
    subject.status === "offline" &&
    !subject.recording.useUploadingSchedule &&
    !known.some(({ endsAt }) => endsAt === undefined);
  if (unexplained) known.push({ from: subject.since, to: now, endsAt: undefined, recovered: false });
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
