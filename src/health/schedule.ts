/**
 * The times at which a recording is meant to upload. The service tells it only for past buckets: the hours of the week are learned
 * from those, in the recording's own zone. What is not known counts as within the schedule: a guess suppresses nothing.
 */
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import type { LocalHour } from "../lib/local-hours.ts";
import type { UptimeBucket } from "./recording.ts";
import { bucketLengthMs, SETTLING_MS } from "./uptime.ts";

const HOURS = 168;
/** Weeks stored of an hour, the newest weighing four times the oldest. */
const WEEKS = 4;
const NOTHING = 1;
/** With this weighted share of weeks within it, an hour is. Low: a wrong alert is seen, a missing one is not. */
const SHARE_WITHIN = 0.4;

/** `unknown`: there is a schedule, and this hour of it is not known. */
export type ScheduleState = "within" | "outside" | "unknown";

/** Learned from the weeks so far. */
export interface LearnedSchedule {
  /**
   * A digit to the base of 32 for each hour from Monday 00:00 on: a 1, and behind it a bit for each week that was
   * seen, the newest last.
   */
  readonly hours: string;
  /** The start of the last bucket that was learned from. */
  readonly until: Instant;
}

/** The schedule for look-ups by sweeps. */
export interface KnownSchedule {
  /** IANA zone of the hours. */
  readonly timezone: string;
  /** `1` within, `0` outside, `?` unknown, for each hour from Monday 00:00 on. */
  readonly hours: string;
  /** The service's own buckets around now, oldest first: for their time they go before what was learned. */
  readonly served: readonly ServedTime[];
}

interface ServedTime extends Interval {
  readonly withinSchedule: boolean;
}

type HourAt = (at: Instant) => LocalHour;

/** Learns from buckets of this length, oldest first; each hour that is over counts once. */
export function learnSchedule(
  known: LearnedSchedule | undefined,
  buckets: readonly UptimeBucket[],
  now: Instant,
  hourAt: HourAt,
  lengthMs = bucketLengthMs(buckets),
): LearnedSchedule | undefined {
  // An hour is learned once the service has had the time to report it.
  const unfinished = hourAt(now - SETTLING_MS).slot;
  const restMs = Math.max(0, lengthMs - HOUR_MS);
  let last = known ? hourAt(known.until + restMs).slot : 0;
  let until = known?.until ?? 0;
  const seen = new Map<number, { ofWeek: number; within: boolean }>();
  for (const { startAt, withinSchedule } of buckets) {
    if (startAt <= until || hourAt(startAt + restMs).slot >= unfinished) continue;
    until = startAt;
    for (let at = startAt; at <= startAt + restMs; at += HOUR_MS) {
      const { ofWeek, slot } = hourAt(at);
      if (slot <= last && !seen.has(slot)) continue;
      last = Math.max(last, slot);
      seen.set(slot, { ofWeek, within: withinSchedule || (seen.get(slot)?.within ?? false) });
    }
  }
  if (seen.size === 0) return known;
  const hours = [...(known?.hours ?? NOTHING.toString(32).repeat(HOURS))];
  for (const { ofWeek, within } of seen.values()) hours[ofWeek] = push(hours[ofWeek], within);
  return { hours: hours.join(""), until };
}

function push(digit: string | undefined, within: boolean): string {
  const weeks = Number.parseInt(digit ?? "1", 32) * 2 + (within ? 1 : 0);
  const most = 1 << WEEKS;
  return (weeks >= 2 * most ? (weeks % most) + most : weeks).toString(32);
}

/** The state of each hour as it is known by now. */
export function knownHours({ hours }: LearnedSchedule): string {
  return [...hours].map(stateOfHour).join("");
}

function stateOfHour(digit: string): string {
  const bits = Number.parseInt(digit, 32).toString(2).slice(1);
  if (bits === "") return "?";
  let weight = 0;
  let within = 0;
  for (let i = 0; i < bits.length; i++) {
    const own = WEEKS - (bits.length - 1 - i);
    weight += own;
    if (bits[i] === "1") within += own;
  }
  return within / weight >= SHARE_WITHIN ? "1" : "0";
}

/** The share of the hours known so far that are within the schedule, 0–1; undefined where none is known. */
export function shareWithin({ hours }: Pick<KnownSchedule, "hours">): number | undefined {
  let [within, outside] = [0, 0];
  for (const hour of hours) {
    if (hour === "1") within++;
    else if (hour === "0") outside++;
  }
  return within + outside > 0 ? within / (within + outside) : undefined;
}

/** The schedule for sweeps until the next refresh: what was learned, and the service's buckets of now and the next. */
export function toKnown(
  learned: LearnedSchedule,
  buckets: readonly UptimeBucket[],
  { now, lengthMs, timezone }: { readonly now: Instant; readonly lengthMs: number; readonly timezone: string },
): KnownSchedule {
  const served: ServedTime[] = [];
  for (const { startAt: from, withinSchedule } of buckets) {
    const [before, to] = [served.at(-1), from + lengthMs];
    if (to <= now || from > now + lengthMs) continue;
    const isSame = before?.withinSchedule === withinSchedule && before.to >= from;
    if (isSame) served.pop();
    served.push({ from: isSame ? before.from : from, to, withinSchedule });
  }
  return { timezone, hours: knownHours(learned), served };
}

/** The schedule's state at `now`. */
export function scheduleState({ hours, served }: KnownSchedule, now: Instant, hourAt: HourAt): ScheduleState {
  const own = served.findLast(({ from, to }) => now >= from && now < to);
  if (own) return own.withinSchedule ? "within" : "outside";
  return STATES[hours[hourAt(now).ofWeek] ?? ""] ?? "unknown";
}

const STATES: Readonly<Record<string, ScheduleState>> = { 1: "within", 0: "outside" };

/** Local hours begin at a quarter of an hour. */
const QUARTER_MS = 900_000;

/** The part of a span within the schedule by the hours of the week, ms; hours that are not known are. */
export function scheduledMs({ hours }: KnownSchedule, { from, to }: Interval, hourAt: HourAt): number {
  let sum = 0;
  for (let at = from; at < to; ) {
    const next = Math.min(to, at - (at % QUARTER_MS) + QUARTER_MS);
    if (hours[hourAt(at).ofWeek] !== "0") sum += next - at;
    at = next;
  }
  return sum;
}

/** The beginning of the hours within the schedule around `now`; undefined where they have no beginning in a week. */
export function scheduleBegan({ hours }: KnownSchedule, now: Instant, hourAt: HourAt): Instant | undefined {
  const last = now - (now % QUARTER_MS);
  for (let at = last; at > last - HOURS * 4 * QUARTER_MS; at -= QUARTER_MS) {
    if (hours[hourAt(at - QUARTER_MS).ofWeek] === "0") return at;
  }
  return undefined;
}
