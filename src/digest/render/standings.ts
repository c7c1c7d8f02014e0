/** Incidents, locations by day, and lost time by cause. */
import { acknowledgedText } from "../../alerting/suppression-words.ts";
import { sumOfVisits, visitsWords } from "../../alerting/uncounted.ts";
import { humanDuration } from "../../lib/duration.ts";
import { counted, isBelow, percent } from "../../lib/format.ts";
import { capital } from "../../lib/text.ts";
import { lastedText } from "../../lib/when.ts";
import { causeWords, lossCauses } from "../../report/attribute.ts";
import { causeNotes } from "../../report/summary.ts";
import { availability, lostMs } from "../../report/tally.ts";
import { type Digest, type LocationDigest, UP_ALL_THE_TIME } from "../digest.ts";
import { type DigestSection, firstRows } from "./section.ts";
import { dayName, listed, locationLabel, moment, outageTimes, upShare } from "./words.ts";

const MOST_INCIDENTS = 20;

/** One line for each incident: when, what it cost, and who has it. */
export function incidentsSection(digest: Digest, limit: number): DigestSection {
  const { incidents, visitWorth } = digest;
  const rows = firstRows(incidents, Math.min(limit, MOST_INCIDENTS), "incident", (one) => {
    const { id, title, startsAt, endsAt = digest.now, durationMs, acknowledgement } = one;
    const words = [
      outageTimes(one, digest),
      visitsWords(one.visits, visitWorth),
      acknowledgement ? acknowledgedText(acknowledgement, (at) => moment(at, digest)) : "",
    ];
    const note = `${id} · ${words.filter(Boolean).join("; ")}`;
    return { name: title, value: lastedText(durationMs, startsAt, endsAt), note };
  });
  const cost = visitsWords(sumOfVisits(incidents.flatMap(({ visits }) => visits ?? [])), visitWorth);
  const count = [counted(incidents.length, "incident"), cost].filter(Boolean).join(", ");
  return { title: "What happened", count, rows };
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
  const explanation = ["Each second has one cause.", ...causeNotes(loss)].join(" ");
  return { title: "Lost time by cause", count: humanDuration(lostMs(loss)), rows, explanation };
}
