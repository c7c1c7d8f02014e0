/** A digest as shown: its headline, key figures, sections and notes in ready words. */
import type { Tone } from "../../alerting/tone.ts";
import { humanDuration } from "../../lib/duration.ts";
import { count, nameOf, percent } from "../../lib/format.ts";
import { type Interval, total } from "../../lib/intervals.ts";
import { type Digest, type DigestPart, digestParts } from "../digest.ts";
import { headline } from "./headline.ts";
import { isTroubled, partSection } from "./parts.ts";
import {
  acknowledgedSection,
  daysSection,
  lossSection,
  otherSection,
  rankingSections,
  visitsSection,
} from "./standings.ts";
import { fullMoment, listed, moment, outageTimes, periodNoun } from "./words.ts";

export type DigestView = ReturnType<typeof viewOf>;

export interface DigestFrame {
  /** The name of the digest in the configuration. */
  readonly name: string;
  /** Base of links; undefined, or anything but http(s): no links. */
  readonly externalUrl: string | undefined;
}

/** The digest with about `limit` recordings shown of each troubled part; all are counted. */
export function viewOf(digest: Digest, { name, externalUrl }: DigestFrame, limit: number) {
  const parts = digestParts.filter((part) => digest.parts[part].length > 0);
  const sections = Object.groupBy(parts, (part) => (isTroubled(part) ? "troubled" : "other"));
  const sectionsOf = (some: readonly DigestPart[] = []) => some.map((part) => partSection(part, digest, limit));
  const others = [
    acknowledgedSection(digest),
    lossSection(digest),
    ...rankingSections(digest),
    daysSection(digest, limit),
    visitsSection(digest),
    ...sectionsOf(sections.other),
    otherSection(digest),
  ];
  const figures = keyFigures(digest);
  const ofOneDay = periodNoun(digest) === "day";
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
    ofOneDay,
    /** From where to where the bars go. */
    barSpan: barSpan(digest),
    troubled: sectionsOf(sections.troubled),
    others: others.filter(({ rows }) => rows.length > 0),
    notes: notes(digest),
    externalUrl: externalUrl !== undefined && /^https?:\/\//i.test(externalUrl) ? externalUrl : undefined,
  };
}

function barSpan(digest: Digest): string {
  const span = periodNoun(digest) === "day" ? "00:00–24:00" : digest.period.label;
  const goOn = digest.totals.down_now > 0 && digest.now > digest.period.to;
  return goOn ? `${span}, of what is down now until ${moment(digest.now, digest)}` : span;
}

function toneOf({ totals, locationOutages }: Digest): Tone {
  if (totals.down_now > 0) return partTones.down_now;
  if (totals.down_some > 0 || locationOutages.length > 0) return partTones.down_some;
  return totals.up + totals.planned > 0 ? partTones.up : partTones.unknown;
}

/** The tones of parts, which give a digest and its sections their colours. */
export const partTones: Readonly<Record<DigestPart, Tone>> = {
  down_now: "critical",
  down_some: "warning",
  planned: "info",
  up: "good",
  closed: "unknown",
  unknown: "unknown",
};

/** The four figures at the top; without any data, or a watch, there is no downtime either. */
export function keyFigures({ totals, before, unwatched, period }: Digest) {
  const isWatched = total(unwatched) < period.to - period.from;
  const known = totals.unknown < totals.recordings && (isWatched || totals.outages > 0);
  const length = (ms: number | undefined) => (ms === undefined ? "" : humanDuration(ms));
  const number = (n: number | undefined) => (n === undefined ? "" : count(n));
  const figure = (name: string, value: string, was: string) => {
    return { name, value, was: was === "" || value === "" ? "" : `was ${was}` };
  };
  return [
    figure("Uptime", percent(totals.uptime), percent(before?.uptime)),
    figure("Downtime", known ? humanDuration(totals.lostMs) : "", length(before?.lostMs)),
    figure("Outages", known ? count(totals.outages) : "", number(before?.outages)),
    figure("MTTR", length(totals.recoveryMs), length(before?.recoveryMs)),
  ];
}

const MOST_INTERVALS = 5;

function during(what: string, intervals: readonly Interval[], meaning: string, digest: Digest): string[] {
  if (intervals.length === 0) return [];
  const shown = intervals
    .slice(0, MOST_INTERVALS)
    .map(({ from, to }) => outageTimes({ startsAt: from, endsAt: to }, digest));
  return [`${what} ${listed(shown, intervals.length - shown.length)}: ${meaning}.`];
}

/** The sentences below a digest that qualify its figures. */
export function notes(digest: Digest): string[] {
  const { unreachable, unwatched } = digest;
  return [
    ...during("The service was unreachable", unreachable, "counted neither as up nor as down", digest),
    ...during("lenswatch did not watch", unwatched, "outages then are unknown", digest),
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
  if (before.uptime === undefined && before.outages === undefined)
    return [`No comparison with the ${noun} before: it was not watched in full.`];
  return [`"Was" is the ${noun} before${before.outages === undefined ? ", as far as it was watched" : ""}.`];
}
