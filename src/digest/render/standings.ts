/** Rankings, locations by day, visits not counted and other alerts. */
import { visitsRange, visitsWords, worthOf } from "../../alerting/uncounted.ts";
import { sumOfVisits } from "../../counts/location-outage.ts";
import { humanDuration } from "../../lib/duration.ts";
import { count, counted, isBelow, nameOf, percent } from "../../lib/format.ts";
import { capital } from "../../lib/text.ts";
import { causeWords, lossCauses } from "../../report/attribute.ts";
import { availability, lostMs } from "../../report/tally.ts";
import { type Digest, type LocationDigest, UP_ALL_THE_TIME } from "../digest.ts";
import { type DigestSection, firstRows } from "./section.ts";
import { dayName, listed, locationLabel, moment, nameAt, outageTimes, upShare } from "./words.ts";

/** Fewer outages are all in the parts above. */
const FEW_OUTAGES = 3;
const MOST_FLAPPERS = 5;

export function rankingSections(digest: Digest): DigestSection[] {
  const { longest, flappers, totals } = digest;
  const outages = longest.map((long) => {
    const where = locationLabel(long);
    const name = long.recording ? `${nameAt(long.recording, long)} · ${where}` : `All of ${where}`;
    return { name, value: humanDuration(long.outage.lostMs), note: outageTimes(long.outage, digest) };
  });
  const repeated = firstRows(flappers, MOST_FLAPPERS, "recording", (one) => {
    const { flapping, outages: times } = one.recording;
    const often = flapping && flapping.count > 1 ? ` ${flapping.count} ×,` : "";
    const note = flapping ? `flapping${often} ${humanDuration(flapping.lengthMs)} in all` : "";
    return {
      name: `${nameAt(one.recording, one)} · ${locationLabel(one)}`,
      value: counted(times.length, "outage"),
      note,
    };
  });
  return [
    { title: "Longest outages", rows: totals.outages > FEW_OUTAGES ? outages : [] },
    { title: "Repeatedly down", rows: repeated },
  ];
}

/** A location's days take as much room as so many recordings. */
const RECORDINGS_PER_LOCATION = 4;
const MOST_LOW_DAYS = 4;

/** `Locations by day, Mon 16 Nov to Sun 22 Nov`. */
export function daysSection(digest: Digest, limit: number): DigestSection {
  const { days } = digest;
  const known = digest.locations.filter((one) => one.days.some((day) => day !== undefined));
  const most = Math.max(1, Math.floor(limit / RECORDINGS_PER_LOCATION));
  const rows = firstRows(known, most, "location", (location) => {
    const { uptime, uptimeBefore } = location;
    const was = uptime === undefined || uptimeBefore === undefined ? "" : `, was ${percent(uptimeBefore)}`;
    const heat = { days: location.days, low: lowDays(location, digest) };
    return { name: locationLabel(location), value: upShare(uptime) + was, heat };
  });
  return { title: `Locations by day, ${dayName(days[0] ?? "")} to ${dayName(days.at(-1) ?? "")}`, rows };
}

/** The days that were not up throughout, the worst ones where there are many. */
function lowDays({ days }: LocationDigest, digest: Digest): string {
  const low = days
    .map((uptime, i) => ({ date: digest.days[i] ?? "", uptime }))
    .filter(({ uptime }) => uptime !== undefined && isBelow(uptime, UP_ALL_THE_TIME));
  const worst = low.toSorted((a, b) => (a.uptime ?? 0) - (b.uptime ?? 0)).slice(0, MOST_LOW_DAYS);
  const named = low.filter((day) => worst.includes(day));
  const list = named.map(({ date, uptime }) => `${dayName(date)} ${percent(uptime)}`);
  const left = low.length - named.length;
  return listed(list) + (left > 0 ? ` and ${counted(left, "more day")}` : "");
}

const MOST_LISTED = 20;

/** Each location, and all of them together, also those whose own figure says too little to be shown. */
export function visitsSection({ visits, visitWorth }: Digest): DigestSection {
  const shown = visits.filter((one) => visitsRange(one.visits) !== "");
  const rows = firstRows(shown, MOST_LISTED, "location", (one) => {
    const worth = worthOf(one.visits, visitWorth);
    return { name: locationLabel(one), value: visitsRange(one.visits), note: worth && `about ${worth}` };
  });
  return {
    title: "Visits not counted",
    count: visitsWords(sumOfVisits(visits.map((one) => one.visits)), visitWorth),
    rows,
    explanation:
      "Estimates by the same hours of other weeks, with their 10th and 90th percentile, where enough of those is known.",
  };
}

export function acknowledgedSection(digest: Digest): DigestSection {
  const { acknowledged = [] } = digest;
  const rows = firstRows(acknowledged, MOST_LISTED, "alert", ({ alertname, names, startsAt, author, at, comment }) => {
    const name = names.map((one) => nameOf(one, "", 40)).join(" · ") || nameOf(alertname, "alert");
    const said = comment === "" ? "" : `: ${nameOf(comment, "", 120)}`;
    const since = `${nameOf(alertname, "alert", 40)} since ${moment(startsAt, digest)}`;
    const note = `${since}, acknowledged ${moment(at, digest)}${said}`;
    return { name, value: `by ${nameOf(author, "somebody", 40)}`, note };
  });
  return { title: "Acknowledged and still firing", rows };
}

/** Every cause of lost time, and the time added up over recordings; nothing where only single segments were lost. */
export function lossSection({ totals: { loss } }: Digest): DigestSection {
  const seen = lostMs(loss) - loss.unknown - loss.not_watched;
  if (seen === 0 && !isBelow(availability(loss) ?? 1, UP_ALL_THE_TIME)) return { title: "", rows: [] };
  const known = lossCauses.filter((cause) => loss[cause] > 0).sort((a, b) => loss[b] - loss[a]);
  const share = (ms: number) => `${percent(ms / lostMs(loss))} of it`;
  const rows = known.map((cause) => ({
    name: capital(causeWords[cause]),
    value: humanDuration(loss[cause]),
    note: share(loss[cause]),
  }));
  const explanation = "What outages do not explain is what the service's figures lack. Each second has one cause.";
  return { title: "Lost time by cause", count: humanDuration(lostMs(loss)), rows, explanation };
}

export function otherSection({ other }: Digest): DigestSection {
  const rows = firstRows(other, MOST_LISTED, "alert", ({ alertname, count: times, lengthMs }) => {
    return { name: nameOf(alertname, "alert"), value: `${count(times)} ×, ${humanDuration(lengthMs)} in all` };
  });
  return { title: "Other alerts", rows };
}
