/** The one sentence people read: what happened, where it was worst, and what is still open. */
import { humanDuration } from "../../lib/duration.ts";
import { count, counted, percent } from "../../lib/format.ts";
import { total } from "../../lib/intervals.ts";
import { type Digest, type Outage, UP_ALL_THE_TIME } from "../digest.ts";
import { locationLabel, moment, nameAt, periodNoun } from "./words.ts";

/**
 * Plain text without a full stop; `aside` has the caveats for which the sentence has no room, or is empty. Unknown is
 * not up, and unreachable time is mentioned; where there is room, in the sentence itself.
 */
export function headline(digest: Digest) {
  if (digest.totals.recordings === 0) return { sentence: "There are no recordings to report on", aside: "" };
  const news = present(whatHappened(digest), worstOutage(digest));
  news.push(...present(stillDown(digest, news.length === 0)));
  const caveats = caveatsOf(digest, news.length === 0);
  return news.length <= 1
    ? { sentence: sentence([...news, ...caveats]), aside: "" }
    : { sentence: sentence(news), aside: sentence(caveats) };
}

function present(...clauses: string[]): string[] {
  return clauses.filter((clause) => clause !== "");
}

function sentence(clauses: readonly string[]): string {
  const text = clauses.join("; ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function whatHappened(digest: Digest): string {
  const { recordings, affected, lostMs, up, unknown, closed } = digest.totals;
  const noun = periodNoun(digest);
  const all = recordings === 1 ? "the one recording was" : `all ${count(recordings)} recordings were`;
  const share = (n: number) => shareOf(n, recordings);
  const inAll = lostMs > lengthOf(digest) ? " in all" : "";
  if (affected > 0) return `${share(affected)} had ${humanDuration(lostMs)} of downtime${inAll}`;
  if (unknown === recordings)
    return `no data for ${recordings === 1 ? "the one recording" : `any of ${count(recordings)} recordings`}`;
  if (closed === recordings) return `${all} outside the uploading schedule all ${noun}`;
  if (digest.locationOutages.length > 0) return "";
  if (up === recordings) return `${all} up ${howLong(digest)}`;
  if (up === 0) return "";
  return `${share(up)} ${up === 1 ? "was" : "were"} up ${howLong(digest)}`;
}

function howLong(digest: Digest): string {
  const { unreachable, unwatched } = digest;
  if (total(unwatched) === lengthOf(digest)) return "by the service's figures";
  return unreachable.length + unwatched.length > 0 ? "whenever they were watched" : `all ${periodNoun(digest)}`;
}

function lengthOf({ period }: Digest): number {
  return period.to - period.from;
}

function shareOf(some: number, recordings: number): string {
  return `${count(some)} of ${counted(recordings, "recording")}`;
}

/** The longest outage of a whole location, or else of a recording. */
function worstOutage(digest: Digest): string {
  const [first] = digest.locationOutages;
  if (first) {
    const others = new Set(digest.locationOutages.map(({ locationId }) => locationId)).size - 1;
    const more = others > 0 ? ` (and ${counted(others, "more location")})` : "";
    return `${locationLabel(first, 40)} ${when("offline", first.outage, digest)}${more}`;
  }
  const [longest] = digest.longest;
  if (!longest?.recording) return "";
  const where = locationLabel(longest, 40);
  return `${nameAt(longest.recording, longest, 40)} at ${where} ${when("down", longest.outage, digest)}`;
}

function when(state: string, { startsAt, endsAt }: Outage, digest: Digest): string {
  if (endsAt === undefined) return `has been ${state} since ${moment(startsAt, digest)}`;
  return `was ${state} from ${moment(startsAt, digest)} to ${moment(endsAt, digest)}`;
}

/** `leads`: the clause begins the sentence, and gives the number of all recordings. */
function stillDown(digest: Digest, leads: boolean): string {
  const { down_now: downNow, recordings } = digest.totals;
  if (downNow === 0) return "";
  const words = `${leads ? shareOf(downNow, recordings) : count(downNow)} ${downNow === 1 ? "is" : "are"} down now`;
  return downNow > 1 ? words : `${words}${onlyOneDown(digest)}`;
}

/** `: Entrance at Leeds Briggate, since 14:05`, unless the clause before says so. */
function onlyOneDown(digest: Digest): string {
  const [group] = digest.parts.down_now;
  const [recording] = group?.recordings ?? [];
  const [longest] = digest.longest;
  const isNamed = longest?.outage.endsAt === undefined && longest?.recording?.id === recording?.id;
  if (!group || recording?.downSince === undefined || (isNamed && digest.locationOutages.length === 0)) return "";
  const name = nameAt(recording, group, 40);
  return `: ${name} at ${locationLabel(group, 40)}, since ${moment(recording.downSince, digest)}`;
}

function caveatsOf(digest: Digest, leads: boolean): string[] {
  const { low, unknown, recordings } = digest.totals;
  const [unreachableMs, unwatchedMs] = [total(digest.unreachable), total(digest.unwatched)];
  const lasting = (ms: number, throughout: string) =>
    ms === lengthOf(digest) ? throughout : `for ${humanDuration(ms)}`;
  const lowShare = leads ? shareOf(low, recordings) : count(low);
  const { plannedMs } = digest.totals;
  return present(
    plannedMs > 0 ? `${humanDuration(plannedMs)} of downtime in maintenance was planned` : "",
    low > 0 ? `${lowShare} had less than ${percent(UP_ALL_THE_TIME)} uptime without a recorded outage` : "",
    unknown > 0 && unknown < recordings ? `no data for ${count(unknown)}` : "",
    unreachableMs > 0 ? `the service was unreachable ${lasting(unreachableMs, `all ${periodNoun(digest)}`)}` : "",
    unwatchedMs > 0 ? `lenswatch did not watch ${lasting(unwatchedMs, "at all")}` : "",
  );
}
