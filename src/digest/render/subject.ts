/** The subject of a digest: the worst first, and no more than an inbox shows. */
import { DateTime } from "luxon";
import { humanDuration } from "../../lib/duration.ts";
import { count, counted, isBelow, percent } from "../../lib/format.ts";
import { total } from "../../lib/intervals.ts";
import { capital, cut } from "../../lib/text.ts";
import { type Digest, UP_ALL_THE_TIME } from "../digest.ts";
import { locationLabel, periodNoun } from "./words.ts";

export const MAX_SUBJECT = 60;
const LONGEST_NAME = 26;

/** `3 cameras down now, 4 locations lost 9 h, 99.2 % up · Wed 25 Nov`, as far as there is room. */
export function subjectOf(digest: Digest): string {
  const when = ` · ${periodWords(digest)}`;
  const [first = "", ...others] = clausesOf(digest);
  let news = first;
  for (const clause of others) {
    const longer = `${news}, ${clause}`;
    if ([...longer, ...when].length > MAX_SUBJECT) break;
    news = longer;
  }
  return news + when;
}

/** What there is to say, the most important first; each has room for itself and the period. */
function clausesOf(digest: Digest): string[] {
  const { recordings, down_now: down, low, unknown, closed, up, uptime } = digest.totals;
  if (recordings === 0) return ["No cameras to report on"];
  if (unknown === recordings) return [`No data for ${counted(recordings, "camera")}`];
  if (closed === recordings) return [`All ${counted(recordings, "camera")} closed`];
  const [unreachable, unwatched] = [total(digest.unreachable), total(digest.unwatched)];
  const places = placesOf(digest);
  const clauses = [
    down > 0 ? `${counted(down, "camera")} down now` : "",
    places,
    low > 0 ? `${counted(low, "camera")} below ${percent(UP_ALL_THE_TIME)}` : "",
    unwatched > 0 ? `not watched for ${humanDuration(unwatched)}` : "",
    unreachable > 0 ? `service unreachable ${humanDuration(unreachable)}` : "",
    unknown > 0 ? `no data for ${counted(unknown, "camera")}` : "",
    uptime !== undefined && isBelow(uptime, 1) ? `${percent(uptime)} up` : "",
    `${up === recordings ? "all" : `${count(up)} of`} ${counted(recordings, "camera")} up`,
  ].filter((clause) => clause !== "");
  const [first = "", ...others] = clauses;
  return [first === places ? first : capital(first), ...others];
}

/** The location that lost time, or their number, else the worst outage; empty where there was none. */
function placesOf({ parts, incidents: [worst], totals: { lostMs } }: Digest): string {
  const groups = [...parts.down_now, ...parts.down_some].filter((group) => group.lostMs > 0);
  const places = new Set(groups.map(({ locationId }) => locationId)).size;
  const [first] = groups;
  if (!first) return worst?.isOutage ? cut(worst.title, LONGEST_NAME) : "";
  return `${places === 1 ? locationLabel(first, LONGEST_NAME) : counted(places, "location")} lost ${humanDuration(lostMs)}`;
}

/** `Wed 25 Nov`, `week of 23 Nov`, `November`. */
function periodWords(digest: Digest): string {
  const from = DateTime.fromMillis(digest.period.from, { zone: digest.timezone, locale: "en-US" });
  return from.toFormat({ day: "ccc d LLL", week: "'week of' d LLL", month: "LLLL" }[periodNoun(digest)]);
}
