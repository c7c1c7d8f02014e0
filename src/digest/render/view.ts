/** A digest as shown: its headline, key figures, sections and notes in ready words. */
import type { Tone } from "../../alerting/tone.ts";
import { humanDuration } from "../../lib/duration.ts";
import { count, nameOf, percent } from "../../lib/format.ts";
import { type Interval, total } from "../../lib/intervals.ts";
import type { Digest, DigestPart } from "../digest.ts";
import { headline } from "./headline.ts";
import { partSection, shownParts } from "./parts.ts";
import { daysSection, incidentsSection, lossSection } from "./standings.ts";
import { fullMoment, listed, outageTimes, periodNoun } from "./words.ts";

/** Recordings without trouble take little room: more of them are listed. */
const QUIET_FACTOR = 4;

export type DigestView = ReturnType<typeof viewOf>;

export interface DigestFrame {
  /** The name of the digest in the configuration. */
  readonly name: string;
  /** Base of links; undefined, or anything but http(s): no links. */
  readonly externalUrl: string | undefined;
}

/** The digest with about `limit` recordings shown of each part; all are counted. */
export function viewOf(digest: Digest, { name, externalUrl }: DigestFrame, limit: number) {
  const sections = [
    incidentsSection(digest, limit),
    ...shownParts.slice(0, 2).map((part) => partSection(part, digest, limit)),
    lossSection(digest),
    daysSection(digest, limit),
    ...shownParts.slice(2).map((part) => partSection(part, digest, limit * QUIET_FACTOR)),
  ];
  const figures = keyFigures(digest);
  return {
    head: headline(digest),
    /** The name of the digest and its period. */
    about: [nameOf(name, "digest"), digest.period.label] as const,
    figures,
    /** Beside the subject in an inbox. */
    preview: figures.flatMap((one) => (one.value === "" ? [] : [`${one.name} ${one.value}`])).join(", "),
    tone: toneOf(digest),
    /** The dates of the columns of days. */
    days: digest.days,
    sections: sections.filter(({ rows }) => rows.length > 0),
    notes: notes(digest),
    externalUrl: externalUrl !== undefined && /^https?:\/\//i.test(externalUrl) ? externalUrl : undefined,
  };
}

function toneOf({ totals, incidents }: Digest): Tone {
  if (totals.down_now > 0) return partTones.down_now;
  if (totals.down_some + totals.low > 0 || incidents.some(({ isOutage }) => isOutage)) return partTones.down_some;
  return totals.up + totals.planned > 0 ? partTones.up : partTones.unknown;
}

/** The tones of parts, which give a digest and its sections their colours. */
export const partTones: Readonly<Record<DigestPart, Tone>> = {
  down_now: "critical",
  down_some: "warning",
  low: "warning",
  planned: "info",
  up: "good",
  closed: "unknown",
  unknown: "unknown",
};

/** The four figures at the top; without any data, or a watch, there is no downtime either. */
export function keyFigures({ totals, before, incidents, unwatched, period }: Digest) {
  const isWatched = total(unwatched) < period.to - period.from;
  const known = totals.unknown < totals.recordings && (isWatched || totals.lostMs > 0);
  const length = (ms: number | undefined) => (ms === undefined ? "" : humanDuration(ms));
  const number = (n: number | undefined) => (n === undefined ? "" : count(n));
  const figure = (name: string, value: string, was: string) => {
    return { name, value, was: was === "" || value === "" ? "" : `was ${was}` };
  };
  return [
    figure("Uptime", percent(totals.uptime), percent(before?.uptime)),
    figure("Downtime", known ? humanDuration(totals.lostMs) : "", length(before?.lostMs)),
    figure("Incidents", known ? count(incidents.length) : "", number(before?.incidents)),
    figure("MTTR", length(totals.recoveryMs), length(before?.recoveryMs)),
  ];
}

const MOST_INTERVALS = 5;

function unwatchedNote(intervals: readonly Interval[], digest: Digest): string[] {
  if (intervals.length === 0) return [];
  const shown = intervals
    .slice(0, MOST_INTERVALS)
    .map(({ from, to }) => outageTimes({ startsAt: from, endsAt: to }, digest));
  return [`lenswatch did not watch ${listed(shown, intervals.length - shown.length)}: outages then are unknown.`];
}

/** The sentences below a digest that qualify its figures. */
export function notes(digest: Digest): string[] {
  const { unreachable, unwatched } = digest;
  return [
    ...(unreachable.length > 0 ? ["Time with the service unreachable counts neither as up nor as down."] : []),
    ...unwatchedNote(unwatched, digest),
    ...(digest.totals.plannedMs > 0
      ? ["Downtime in maintenance is planned and counted apart; uptime is the service's own figure, which includes it."]
      : []),
    "Uptime and downtime are those of the period, inside the uploading schedule; a blank means no figure.",
    ...comparison(digest),
    `Times in ${nameOf(digest.timezone, "UTC")}. Generated ${fullMoment(digest.now, digest)}.`,
  ];
}

function comparison(digest: Digest): string[] {
  const { before } = digest;
  if (!before) return [];
  const noun = periodNoun(digest);
  if (before.uptime === undefined && before.incidents === undefined)
    return [`No comparison with the ${noun} before: it was not watched in full.`];
  return [`"Was" is the ${noun} before${before.incidents === undefined ? ", as far as it was watched" : ""}.`];
}
