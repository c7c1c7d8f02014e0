/** Rankings, locations by day, untrusted visitor counts and other alerts. */
import { humanDuration } from "../../lib/duration.ts";
import { count, counted, exactPercent, isBelow, nameOf, percent } from "../../lib/format.ts";
import { shortfall } from "../compute/untrusted.ts";
import { type Digest, type LocationDigest, type UntrustedDay, UP_ALL_THE_TIME } from "../digest.ts";
import type { DigestSection, SectionRow } from "./view.ts";
import { dayName, listed, locationLabel, moment, moreRow, nameAt, outageTimes, upShare } from "./words.ts";

/** Fewer outages are all in the parts above. */
const FEW_OUTAGES = 3;
const MOST_FLAPPERS = 5;

export function rankingSections(digest: Digest): DigestSection[] {
  const { longest, flappers, totals } = digest;
  const outages = longest.map((long) => {
    const where = locationLabel(long);
    const name = long.recording ? `${nameAt(long.recording, long)} · ${where}` : `All of ${where}`;
    return entry(name, humanDuration(long.outage.lostMs), outageTimes(long.outage, digest));
  });
  const repeated = flappers.slice(0, MOST_FLAPPERS).map((one) => {
    const { flapping, outages: times } = one.recording;
    const often = flapping && flapping.count > 1 ? ` ${flapping.count} ×,` : "";
    const note = flapping ? `flapping${often} ${humanDuration(flapping.lengthMs)} in all` : "";
    return entry(`${nameAt(one.recording, one)} · ${locationLabel(one)}`, counted(times.length, "outage"), note);
  });
  return [
    { title: "Longest outages", rows: totals.outages > FEW_OUTAGES ? outages : [] },
    { title: "Repeatedly down", rows: [...repeated, ...moreOf(flappers.length - repeated.length, "recording")] },
  ];
}

function entry(name: string, value: string, note = ""): SectionRow {
  return { kind: "entry", name, value, note };
}

function moreOf(left: number, noun: string, among = ""): SectionRow[] {
  return left > 0 ? [moreRow(`and ${counted(left, `more ${noun}`)}${among}`)] : [];
}

/** A location's days take as much room as so many recordings. */
const RECORDINGS_PER_LOCATION = 4;
const MOST_LOW_DAYS = 4;

/** `Locations by day, Mon 16 Nov to Sun 22 Nov`. */
export function daysSection(digest: Digest, limit: number): DigestSection {
  const { days } = digest;
  const known = digest.locations.filter((one) => one.days.some((day) => day !== undefined));
  const shown = known.slice(0, Math.max(1, Math.floor(limit / RECORDINGS_PER_LOCATION)));
  const rows = shown.map((location): SectionRow => {
    const { uptime, uptimeBefore } = location;
    const was = uptime === undefined || uptimeBefore === undefined ? "" : `, was ${percent(uptimeBefore)}`;
    return {
      kind: "days",
      name: locationLabel(location),
      uptime: upShare(uptime) + was,
      days: location.days,
      ...lowDays(location, digest),
    };
  });
  return {
    title: `Locations by day, ${dayName(days[0] ?? "")} to ${dayName(days.at(-1) ?? "")}`,
    rows: [...rows, ...moreOf(known.length - shown.length, "location")],
  };
}

/** The days that were not up throughout, the worst ones where there are many. */
function lowDays({ days }: LocationDigest, digest: Digest): { low?: string } {
  const low = days
    .map((uptime, i) => ({ date: digest.days[i] ?? "", uptime }))
    .filter(({ uptime }) => uptime !== undefined && isBelow(uptime, UP_ALL_THE_TIME));
  if (low.length === 0) return {};
  const worst = low.toSorted((a, b) => (a.uptime ?? 0) - (b.uptime ?? 0)).slice(0, MOST_LOW_DAYS);
  const named = low.filter((day) => worst.includes(day));
  const list = named.map(({ date, uptime }) => `${dayName(date)} ${percent(uptime)}`);
  const left = low.length - named.length;
  return { low: listed(list) + (left > 0 ? ` and ${counted(left, "more day")}` : "") };
}

/** A day of counts takes as much room as so many recordings. */
const RECORDINGS_PER_DAY = 2;

/** The untrusted days there is room for; a location's days stand together. */
export function countsSection(digest: Digest, limit: number): DigestSection {
  const { untrusted } = digest;
  const days = [...Map.groupBy(untrusted, ({ locationId }) => locationId).values()].flat();
  const shown = days.slice(0, Math.max(1, Math.floor(limit / RECORDINGS_PER_DAY)));
  const left = days.slice(shown.length);
  const isShown = new Set(shown.map(({ locationId }) => locationId));
  const hidden = new Set(left.map(({ locationId }) => locationId)).difference(isShown).size;
  const among = hidden > 0 ? `, ${counted(hidden, "more location")} among them` : "";
  const rows = shown.map((day, i) => countsRow(day, shown[i - 1]?.locationId !== day.locationId));
  return {
    title: "Unreliable visitor counts",
    count: counted(untrusted.length, "day"),
    rows: [...rows, ...moreOf(left.length, "day", among)],
    explanation: countsExplanation(digest),
  };
}

function countsRow(day: UntrustedDay, isFirst: boolean): SectionRow {
  const { uptime, entries, usual } = day;
  const short = shortfall(day);
  return {
    kind: "counts",
    name: locationLabel(day),
    day: dayName(day.date),
    isFirst,
    uptime: percent(uptime),
    entries: entries === undefined ? "" : count(entries),
    usual: usual === undefined ? "" : count(usual),
    short: short === undefined || !usual ? "" : `${Math.round((short / usual) * 100)} %`,
  };
}

function countsExplanation({ untrustedBelow, counts }: Digest): string {
  const days = `Days with less than ${exactPercent(untrustedBelow)} uptime within schedule, or unknown uptime.`;
  if (counts === "failed") return `${days} The service did not answer for all of its counts.`;
  const usual = "Usual is the median of that weekday in the eight weeks before, without days like these.";
  return `${days} Counts are the service's own, not corrected. ${usual}`;
}

const MOST_ACKNOWLEDGED = 20;

export function acknowledgedSection(digest: Digest): DigestSection {
  const { acknowledged = [] } = digest;
  const rows = acknowledged.slice(0, MOST_ACKNOWLEDGED).map(({ alertname, names, startsAt, author, at, comment }) => {
    const name = names.map((one) => nameOf(one, "", 40)).join(" · ") || nameOf(alertname, "alert");
    const said = comment === "" ? "" : `: ${nameOf(comment, "", 120)}`;
    const since = `${nameOf(alertname, "alert", 40)} since ${moment(startsAt, digest)}`;
    return entry(name, `by ${nameOf(author, "somebody", 40)}`, `${since}, acknowledged ${moment(at, digest)}${said}`);
  });
  return {
    title: "Acknowledged and still firing",
    rows: [...rows, ...moreOf(acknowledged.length - rows.length, "alert")],
  };
}

const MOST_ALERT_NAMES = 20;

export function otherSection({ other }: Digest): DigestSection {
  const rows = other
    .slice(0, MOST_ALERT_NAMES)
    .map(({ alertname, count: times, lengthMs }) =>
      entry(nameOf(alertname, "alert"), `${count(times)} ×, ${humanDuration(lengthMs)} in all`),
    );
  return { title: "Other alerts", rows: [...rows, ...moreOf(other.length - rows.length, "alert")] };
}
