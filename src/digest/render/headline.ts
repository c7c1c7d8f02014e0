/** The one sentence people read: what happened, where it was worst, and what is still open. */
import { humanDuration } from "../../lib/duration.ts";
import { count, counted, percent } from "../../lib/format.ts";
import { total } from "../../lib/intervals.ts";
import { type Digest, type RecordingDigest, UP_ALL_THE_TIME } from "../digest.ts";
import { locationLabel, moment, nameAt, outageTimes, periodNoun } from "./words.ts";

/**
 * Plain text without a full stop; `aside` has the caveats for which the sentence has no room, or is empty. Unknown is
 * not up, and unreachable time is mentioned; where there is room, in the sentence itself.
 */
export function headline(digest: Digest) {
  if (digest.totals.recordings === 0) return { sentence: "There are no recordings to report on", aside: "" };
  const past = present(whatHappened(digest), worstIncident(digest));
  const news = present(past[0] ?? "", stillDown(digest, past.length === 0), past[1] ?? "");
  const caveats = caveatsOf(digest, news.length === 0);
  const begin = past.length > 0 || news.length === 0 ? `${dayWords(digest)} ` : "";
  return news.length <= 1
    ? { sentence: sentence(begin, [...news, ...caveats]), aside: "" }
    : { sentence: sentence(begin, news), aside: sentence("", caveats) };
}

function present(...clauses: string[]): string[] {
  return clauses.filter((clause) => clause !== "");
}

/** The name of the product keeps its lower case. */
function sentence(begin: string, clauses: readonly string[]): string {
  const text = begin + clauses.join("; ");
  return text.startsWith("lenswatch ") ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** `yesterday`, `last week`, or the name of a period that is longer ago. */
function dayWords(digest: Digest): string {
  const noun = periodNoun(digest);
  if (digest.now - digest.period.to >= lengthOf(digest)) return `${digest.period.label}:`;
  return noun === "day" ? "yesterday" : `last ${noun}`;
}

function whatHappened(digest: Digest): string {
  const { recordings, affected, up, unknown, closed } = digest.totals;
  const all = recordings === 1 ? "the one recording was" : `all ${count(recordings)} recordings were`;
  if (affected > 0) return lostCounts(digest);
  if (unknown === recordings)
    return `there was no data for ${recordings === 1 ? "the one recording" : `any of ${count(recordings)} recordings`}`;
  if (closed === recordings) return `${all} outside the uploading schedule throughout`;
  const incidents = digest.incidents.length;
  if (digest.incidents[0]?.isOutage)
    return `there ${incidents === 1 ? "was" : "were"} ${counted(incidents, "incident")}`;
  if (up === recordings) return `${all} up ${howLong(digest)}`;
  if (up === 0) return "";
  return `${shareOf(up, recordings)} ${up === 1 ? "was" : "were"} up ${howLong(digest)}`;
}

/** Downtime of several recordings is added up, as in the figure below: then their number is given. */
function lostCounts(digest: Digest): string {
  const { affected, lostMs } = digest.totals;
  const groups = [...digest.parts.down_now, ...digest.parts.down_some].filter((group) => group.lostMs > 0);
  const some = new Set(groups.map(({ locationId }) => locationId)).size;
  const [first] = groups;
  const who =
    digest.locations.length === 1 && first
      ? locationLabel(first, 40)
      : `${count(some)} of ${counted(digest.locations.length, "location")}`;
  const least = digest.unreachable.length + digest.unwatched.length > 0 ? "at least " : "";
  const inAll = affected > 1 ? ` in all (${counted(affected, "recording")})` : "";
  return `${who} lost visitor counts for ${least}${humanDuration(lostMs)}${inAll}`;
}

/** Words for the whole period; figures of time that was not watched are the service's. */
function howLong({ unreachable, unwatched, totals }: Digest): string {
  if (unwatched.length > 0 && totals.uptime !== undefined) return "by the service's uptime history";
  return unreachable.length + unwatched.length > 0 ? "whenever they were watched" : "throughout";
}

function lengthOf({ period }: Digest): number {
  return period.to - period.from;
}

function shareOf(some: number, recordings: number): string {
  return `${count(some)} of ${counted(recordings, "recording")}`;
}

/** The worst outage; one of a recording that is down is not repeated. */
function worstIncident(digest: Digest): string {
  const [worst] = digest.incidents;
  if (!worst?.isOutage) return "";
  if (worst.endsAt === undefined && digest.totals.down_now === 1) return "";
  return `${worst.title.replace(/: (?=[^:]*$)/, " ")}, ${outageTimes(worst, digest)}`;
}

/** `1 recording is still down: Entrance, Leeds Briggate, since 14:05`. `leads`: the clause begins the sentence. */
function stillDown(digest: Digest, leads: boolean): string {
  const { down_now: downNow, recordings } = digest.totals;
  const since = ({ downSince = digest.now }: RecordingDigest) => downSince;
  const all = digest.parts.down_now.flatMap((group) => group.recordings.map((one) => ({ group, one })));
  all.sort((a, b) => since(a.one) - since(b.one));
  const [oldest, newest] = [all[0], all.at(-1)];
  if (!oldest || !newest) return "";
  const share = leads ? shareOf(downNow, recordings) : counted(downNow, "recording");
  const state = since(newest.one) < digest.period.to ? "still down" : "down now";
  const words = `${share} ${downNow === 1 ? "is" : "are"} ${state}`;
  if (downNow > 1 && digest.incidents[0]?.endsAt === undefined) return words;
  const name = `${nameAt(oldest.one, oldest.group, 40)}, ${locationLabel(oldest.group, 40)}`;
  return `${words}${downNow > 1 ? ", longest" : ":"} ${name}, since ${moment(since(oldest.one), digest)}`;
}

function caveatsOf(digest: Digest, leads: boolean): string[] {
  const { low, unknown, recordings } = digest.totals;
  const [unreachableMs, unwatchedMs] = [total(digest.unreachable), total(digest.unwatched)];
  const lasting = (ms: number, throughout: string) =>
    ms === lengthOf(digest) ? throughout : `for ${humanDuration(ms)}`;
  const lowShare = leads ? shareOf(low, recordings) : counted(low, "recording");
  const { plannedMs } = digest.totals;
  const lowWords = unwatchedMs > 0 ? "by the service's uptime history" : "without a recorded outage";
  const [first] = digest.unwatched;
  const { from, to } = digest.period;
  const begun = digest.unwatched.length === 1 && first && first.from === from && first.to < to ? first : undefined;
  return present(
    plannedMs > 0 ? `${humanDuration(plannedMs)} of downtime in maintenance was planned` : "",
    low > 0 ? `${lowShare} had less than ${percent(UP_ALL_THE_TIME)} uptime ${lowWords}` : "",
    unknown > 0 && unknown < recordings ? `no data for ${counted(unknown, "recording")}` : "",
    unreachableMs > 0 ? `the service was unreachable ${lasting(unreachableMs, `all ${periodNoun(digest)}`)}` : "",
    begun ? `lenswatch did not watch before ${moment(begun.to, digest)}` : "",
    unwatchedMs > 0 && !begun ? `lenswatch did not watch ${lasting(unwatchedMs, "at all")}` : "",
  );
}
