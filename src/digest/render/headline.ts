/** The one sentence people read: what happened, where it was worst, and what is still open. */
import { humanDuration } from "../../lib/duration.ts";
import type { Digest, LocationGroup, Outage, RecordingDigest } from "../digest.ts";
import { UP_ALL_THE_TIME } from "../digest.ts";
import { count, counted, moment, nameAt, nameOf, percent, periodNoun } from "./words.ts";

export interface Headline {
  /** One sentence without its full stop. */
  readonly sentence: string;
  /** What else has to be said, or an empty string. */
  readonly aside: string;
}

/** Plain text. Unknown is not up, and blind time is said; where there is room, in the sentence itself. */
export function headline(digest: Digest): Headline {
  if (digest.totals.recordings === 0) return { sentence: "There is no recording to report on", aside: "" };
  const news = said(whatHappened(digest), worst(digest));
  news.push(...said(stillDown(digest, news.length === 0)));
  const doubts = said(low(digest, news.length === 0), unknown(digest), blind(digest), unwatched(digest));
  return news.length <= 1
    ? { sentence: sentence([...news, ...doubts]), aside: "" }
    : { sentence: sentence(news), aside: sentence(doubts) };
}

function said(...clauses: string[]): string[] {
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
  if (affected > 0) return `${share(affected)} lost ${humanDuration(lostMs)}${inAll}`;
  if (unknown === recordings)
    return recordings === 1
      ? "nothing is known about the one recording"
      : `nothing is known about any of ${count(recordings)} recordings`;
  if (closed === recordings) return `${all} outside the uploading schedule all ${noun}`;
  if (digest.dark.length > 0) return "";
  if (up === recordings) return `${all} up ${howLong(digest)}`;
  if (up === 0) return "";
  return `${share(up)} ${up === 1 ? "was" : "were"} up all ${noun}`;
}

function howLong(digest: Digest): string {
  const { blindMs, unwatchedMs } = digest.totals;
  if (unwatchedMs === lengthOf(digest)) return "by the service's figures";
  return blindMs + unwatchedMs > 0 ? "whenever lenswatch could see" : `all ${periodNoun(digest)}`;
}

function lengthOf({ period }: Digest): number {
  return period.end - period.start;
}

function shareOf(some: number, recordings: number): string {
  return `${count(some)} of ${counted(recordings, "recording")}`;
}

/** The darkest location, or else the longest outage. */
function worst(digest: Digest): string {
  const [darkest] = digest.dark;
  if (darkest) {
    const others = new Set(digest.dark.map(({ locationId }) => locationId)).size - 1;
    const where = nameOf(darkest.locationName, darkest.locationId, 40);
    const too = others > 0 ? ` (and ${counted(others, "more location")})` : "";
    return `${where} ${times("dark", darkest.outage, digest)}${too}`;
  }
  const [first] = [...everyOutage(digest)].sort(
    (a, b) => b.outage.lostMs - a.outage.lostMs || a.outage.startsAt - b.outage.startsAt,
  );
  if (!first) return "";
  const { group, recording, outage } = first;
  const where = nameOf(group.locationName, group.locationId, 40);
  return `${nameAt(recording, group, 40)} at ${where} ${times("down", outage, digest)}`;
}

function* everyOutage(
  digest: Digest,
): Generator<{ group: LocationGroup; recording: RecordingDigest; outage: Outage }> {
  for (const group of [...digest.parts.down_now, ...digest.parts.down_some])
    for (const recording of group.recordings)
      for (const outage of recording.outages) if (outage.lostMs > 0) yield { group, recording, outage };
}

function times(what: string, { startsAt, endsAt }: Outage, digest: Digest): string {
  if (endsAt === undefined) return `has been ${what} since ${moment(startsAt, digest)}`;
  return `was ${what} from ${moment(startsAt, digest)} to ${moment(endsAt, digest)}`;
}

function stillDown({ totals }: Digest, leads: boolean): string {
  if (totals.downNow === 0) return "";
  return `${leads ? shareOf(totals.downNow, totals.recordings) : count(totals.downNow)} ${totals.downNow === 1 ? "is" : "are"} down now`;
}

function low({ totals }: Digest, leads: boolean): string {
  return totals.low === 0
    ? ""
    : `${leads ? shareOf(totals.low, totals.recordings) : count(totals.low)} ran below ${percent(UP_ALL_THE_TIME)} with no outage seen`;
}

function unknown({ totals }: Digest): string {
  if (totals.unknown === 0 || totals.unknown === totals.recordings) return "";
  return `nothing is known about ${count(totals.unknown)}`;
}

function blind(digest: Digest): string {
  const { blindMs } = digest.totals;
  if (blindMs === 0) return "";
  const throughout = blindMs === lengthOf(digest);
  return `lenswatch was blind ${throughout ? `all ${periodNoun(digest)}` : `for ${humanDuration(blindMs)}`}`;
}

function unwatched(digest: Digest): string {
  const { unwatchedMs } = digest.totals;
  if (unwatchedMs === 0) return "";
  const throughout = unwatchedMs === lengthOf(digest);
  return `lenswatch did not watch ${throughout ? "at all" : `for ${humanDuration(unwatchedMs)}`}`;
}
