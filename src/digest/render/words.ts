/** How a digest says figures and times; HTML and text use the same words. Times are in the digest's zone, 24 h. */
import { DateTime } from "luxon";
import type { Instant } from "../../lib/clock.ts";
import { humanDuration } from "../../lib/duration.ts";
import { count, counted, nameOf, percent } from "../../lib/format.ts";
import type { Digest, DigestPart, LocationGroup, Outage, RecordingDigest, Span } from "../digest.ts";

export { count, counted, nameOf, percent };

const HOUR = 3_600_000;

/** `day`, `week` or `month`, by the length of the period. */
export function periodNoun({ period }: Digest): "day" | "week" | "month" {
  const length = period.end - period.start;
  if (length <= 26 * HOUR) return "day";
  return length <= 8 * 24 * HOUR ? "week" : "month";
}

function local(at: Instant, digest: Digest): DateTime {
  return DateTime.fromMillis(at, { zone: digest.timezone, locale: "en-US" });
}

/** `14:05` inside the digest's day, `Tue 14:05` inside its week, otherwise with the date. */
export function moment(at: Instant, digest: Digest): string {
  const { start, end } = digest.period;
  const noun = periodNoun(digest);
  if (noun === "day" && at === end) return "24:00";
  const inside = at >= start && at < end;
  if (inside && noun === "day") return local(at, digest).toFormat("HH:mm");
  if (inside && noun === "week") return local(at, digest).toFormat("ccc HH:mm");
  const sameYear = local(at, digest).hasSame(local(start, digest), "year");
  return local(at, digest).toFormat(sameYear ? "ccc d LLL HH:mm" : "ccc d LLL yyyy HH:mm");
}

/** The whole date and time. */
export function fullMoment(at: Instant, digest: Digest): string {
  return local(at, digest).toFormat("ccc d LLL yyyy HH:mm");
}

/** `14:05–17:40`, `Tue 23:10 – Wed 04:00`, `since 14:05`. */
export function outageTimes(
  { startsAt, endsAt }: Pick<Outage, "startsAt" | "endsAt">,
  digest: Digest,
): string {
  const from = moment(startsAt, digest);
  if (endsAt === undefined) return `since ${from}`;
  const to = moment(endsAt, digest);
  if (!from.includes(" ") && !to.includes(" ")) return `${from}–${to}`;
  if (from.includes(" ") && local(startsAt, digest).hasSame(local(endsAt, digest), "day"))
    return `${from}–${local(endsAt, digest).toFormat("HH:mm")}`;
  return `${from} – ${to}`;
}

/** `Fri`, `Tue 17 Nov`: a day written `YYYY-MM-DD`. */
export function dayName(date: string, format: "ccc" | "ccc d LLL" = "ccc d LLL"): string {
  return DateTime.fromISO(date, { zone: "utc", locale: "en-US" }).toFormat(format);
}

/** From where to where a bar goes. */
export function barSpan(digest: Digest): string {
  return periodNoun(digest) === "day" ? "00:00–24:00" : digest.period.label;
}

const MOST_OUTAGES = 4;

/** The recording's outages, the longest ones where there are many, in order of time. */
export function outageList(recording: RecordingDigest, digest: Digest): string {
  const { outages, downSince } = recording;
  const shown = outages.toSorted((a, b) => b.lostMs - a.lostMs).slice(0, MOST_OUTAGES);
  const times = outages
    .filter((outage) => shown.includes(outage))
    .map((outage) => outageTimes(outage, digest) + (outage.kind === "missing" ? " (missing)" : ""));
  if (downSince !== undefined && !outages.some(({ endsAt }) => endsAt === undefined))
    times.push(outageTimes({ startsAt: downSince, endsAt: undefined }, digest));
  if (times.length === 0) return "no outage seen, but figures are low";
  const more = outages.length - shown.length;
  const lost = recording.part === "down_now" && recording.lostMs > 0 ? `, ${lostTime(recording)}` : "";
  return times.join(", ") + (more > 0 ? ` and ${count(more)} more` : "") + lost;
}

/** What stands beside a recording: how long it is down by now, or how long it was in the period. */
export function downtime(recording: RecordingDigest, digest: Digest): string {
  if (recording.downSince !== undefined) return `down ${humanDuration(digest.now - recording.downSince)}`;
  return recording.lostMs > 0 ? lostTime(recording) : "";
}

function lostTime({ lostMs }: RecordingDigest): string {
  return `lost ${humanDuration(lostMs)}`;
}

/** How many of a location's recordings a group has, and when all of it was dark. */
export function groupNote(group: LocationGroup, digest: Digest): string {
  const share = `${count(group.recordings.length)}\u00a0of\u00a0${count(group.size)}`;
  const dark = darkTimes(group.locationId, digest);
  return dark === "" ? share : `${share}, ${dark}`;
}

/** The location's uptime, where the group is all of it or was in trouble; beside some of the others it would mislead. */
export function groupUptime(part: DigestPart, group: LocationGroup): string {
  const troubled = part === "down_now" || part === "down_some";
  return troubled || group.recordings.length === group.size ? upShare(group.uptime) : "";
}

/** `85 % up`, or an empty string. */
export function upShare(ratio: number | undefined): string {
  return ratio === undefined ? "" : `${percent(ratio)} up`;
}

/** `Till 1 99.9 %`, or the name alone. */
export function withFigure(name: string, uptime: number | undefined): string {
  return uptime === undefined ? name : `${name} ${percent(uptime).replace(" ", "\u00a0")}`;
}

/** A recording's name where its location stands beside it: not said twice. */
export function nameAt(
  recording: { readonly name: string; readonly id: string },
  place: { readonly locationName: string; readonly locationId: string },
  max?: number,
): string {
  const own = nameOf(recording.name, recording.id, max);
  const where = nameOf(place.locationName, place.locationId, max);
  const rest = own.startsWith(where) ? own.slice(where.length) : "";
  const bare = rest.replace(/^[\s·,:/|–-]+/, "");
  return bare !== "" && bare !== rest ? bare : own;
}

const MOST_TOGETHER = 12;

/** One line for the recordings that went down and came back with their location. */
export function togetherWords(group: LocationGroup, recordings: readonly RecordingDigest[]): string {
  const names = recordings
    .slice(0, MOST_TOGETHER)
    .map((recording) => withFigure(nameAt(recording, group), recording.uptime));
  const more = recordings.length - names.length;
  const longest = Math.max(...recordings.map(({ lostMs }) => lostMs));
  const each = recordings.length === 1 ? "" : " each";
  const lost = longest > 0 ? `, lost up to ${humanDuration(longest)}${each}` : "";
  return `${counted(recordings.length, "recording")} with it${lost}: ${names.join(" · ")}${more > 0 ? ` · and ${count(more)} more` : ""}`;
}

export interface Figure {
  readonly name: string;
  /** Empty where there is no figure. */
  readonly value: string;
  /** Of the period before, as a sentence part; empty where there is nothing to compare with. */
  readonly was?: string;
}

/** The four figures at the top. Nothing known has no downtime either. */
export function keyFigures({ totals, before }: Digest): Figure[] {
  const known = totals.unknown < totals.recordings;
  const length = (ms: number | undefined) => (ms === undefined ? "" : humanDuration(ms));
  const number = (n: number | undefined) => (n === undefined ? "" : count(n));
  const figure = (name: string, value: string, was: string): Figure => ({
    name,
    value,
    was: was === "" || value === "" ? "" : `was ${was}`,
  });
  return [
    figure("Uptime", percent(totals.uptime), percent(before?.uptime)),
    figure("Lost in all", known ? humanDuration(totals.lostMs) : "", length(before?.lostMs)),
    figure("Outages", known ? count(totals.outages) : "", number(before?.outages)),
    figure("Mean recovery", length(totals.recoveryMs), length(before?.recoveryMs)),
  ];
}

/** What an inbox shows beside the subject. */
export function preview(digest: Digest): string {
  return keyFigures(digest)
    .filter(({ value }) => value !== "")
    .map(({ name, value }) => `${name} ${value}`)
    .join(", ");
}

export function moreHere({ more }: { readonly more: number }): string {
  return `and ${count(more)} more here`;
}

export function moreLocations(left: {
  readonly moreRecordings: number;
  readonly moreLocations: number;
}): string {
  return `and ${count(left.moreRecordings)} more in ${counted(left.moreLocations, "location")}`;
}

/** When the whole location was dark, or an empty string. */
function darkTimes(locationId: string, digest: Digest): string {
  const all = digest.dark.filter((dark) => dark.locationId === locationId);
  if (all.length === 0) return "";
  const shown = all.slice(0, MOST_OUTAGES).map(({ outage }) => outageTimes(outage, digest));
  const more = all.length - shown.length;
  return `all dark ${shown.join(", ")}${more > 0 ? ` and ${count(more)} more` : ""}`;
}

const MOST_ALERT_NAMES = 20;

export function otherAlerts({ other }: Digest): Figure[] {
  const rows = other.slice(0, MOST_ALERT_NAMES).map(({ alertname, count: times, lengthMs }) => ({
    name: nameOf(alertname, "alert"),
    value: `${count(times)} ×, ${humanDuration(lengthMs)} in all`,
  }));
  const more = other.length - rows.length;
  return more > 0 ? [...rows, { name: `and ${count(more)} more`, value: "" }] : rows;
}

const MOST_SPANS = 5;

function spanList(spans: readonly Span[], digest: Digest): string {
  const shown = spans
    .slice(0, MOST_SPANS)
    .map(({ from, to }) => outageTimes({ startsAt: from, endsAt: to }, digest));
  const more = spans.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${count(more)} more` : "");
}

/** What a reader has to know to trust the figures. */
export function notes(digest: Digest): string[] {
  const { blind, unwatched } = digest;
  return [
    ...(blind.length > 0
      ? [`lenswatch could not see the service ${spanList(blind, digest)}: counted neither as up nor as down.`]
      : []),
    ...(unwatched.length > 0
      ? [`lenswatch did not watch ${spanList(unwatched, digest)}: outages then are not known of.`]
      : []),
    "Uptime and lost time are those of the period, inside the uploading schedule; a blank means no figure.",
    ...comparison(digest),
    `Times in ${nameOf(digest.timezone, "UTC")}. Made ${fullMoment(digest.now, digest)}.`,
  ];
}

/** What "was" means, or why there is none. */
function comparison(digest: Digest): string[] {
  const { before } = digest;
  if (!before) return [];
  const noun = periodNoun(digest);
  if (before.uptime === undefined && before.outages === undefined)
    return [`Nothing is said of the ${noun} before: it was not watched in full.`];
  return [`"Was" is the ${noun} before${before.outages === undefined ? ", as far as it was watched" : ""}.`];
}
