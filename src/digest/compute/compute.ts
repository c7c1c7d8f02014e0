/**
 * The digest's figures. Downtime comes from incidents, uptime from the service's own figures: neither is made up
 * from the other, and where there is nothing there is no figure. Recordings are added one by one, and of each only
 * what is said of it is kept: a large fleet's buckets never have to be there together.
 */
import type { Matcher } from "../../alerting/route.ts";
import { createLocalHours } from "../../lib/local-hours.ts";
import {
  type Digest,
  type DigestPart,
  type DigestRecording,
  type DigestScope,
  type DigestTotals,
  digestParts,
  type LocationGroup,
  type RecordingFigures,
  type Span,
  type TotalsBefore,
} from "../digest.ts";
import { createCalendar } from "./calendar.ts";
import { groups, type LocationRecords, sum } from "./groups.ts";
import { darkLocations, otherAlerts } from "./incident.ts";
import { addDays, emptyDays } from "./location-days.ts";
import { locationDigests } from "./locations.ts";
import { flappersOf, longestOutages } from "./rankings.ts";
import { type JudgedRecording, judgeRecording } from "./recording.ts";
import { addOutages, emptyRecovery, meanRecovery } from "./recovery.ts";
import { createScheduleTimes } from "./schedule-times.ts";
import { clip, subtract, total, union } from "./spans.ts";
import { untrustedDays } from "./untrusted.ts";
import { addTally, emptyTally, meanUptime } from "./uptime.ts";

export type { Digest, DigestInput, DigestPeriod, DigestRecording, Incident, Span } from "../digest.ts";

/** Where a scope does not say from where on. */
const UNTRUSTED_BELOW = 0.9;

export interface Digester {
  /** Whether the digest speaks of it at all. */
  wants(subject: DigestRecording): boolean;
  /** Judges a recording, each once. */
  add(subject: DigestRecording, figures: RecordingFigures): void;
  /** The whole, in steps between which the event loop can be let through (`runYielding`). */
  finish(): Generator<void, Digest>;
}

/** A digest to which recordings are added; `finish` is its end. */
export function createDigester(scope: DigestScope): Digester {
  const localHours = createLocalHours();
  const calendar = createCalendar(scope, localHours);
  const schedules = createScheduleTimes(localHours);
  const bounds = { from: scope.period.start, to: scope.period.end };
  const below = scope.untrustedBelow ?? UNTRUSTED_BELOW;
  const ofRecording = Map.groupBy(scope.incidents, ({ recordingId }) => recordingId);
  const locations = new Map<string, LocationRecords>();
  const chosen = new Set<string>();

  function locationOf({ recording, locationName }: DigestRecording): LocationRecords {
    const { locationId: id, timezone } = recording;
    const known = locations.get(id);
    if (known) return known;
    const made: LocationRecords = {
      id,
      name: locationName,
      timezone,
      recordings: [],
      tally: emptyTally(),
      outages: emptyRecovery(),
      compared: { recordings: 0, before: emptyTally(), outages: emptyRecovery() },
      open: [],
      days: emptyDays(calendar),
    };
    locations.set(id, made);
    return made;
  }

  function keep(location: LocationRecords, judged: JudgedRecording): void {
    location.recordings.push(judged.digest);
    addTally(location.tally, judged.tally);
    addOutages(location.outages, judged.outages);
    if (!isWhole(location.open, bounds))
      location.open = union([...location.open, ...subtract([bounds], judged.closed)]);
    if (!judged.before) return;
    location.compared.recordings += 1;
    addTally(location.compared.before, judged.before.tally);
    addOutages(location.compared.outages, judged.before.outages);
  }

  return {
    wants: (subject) => isChosen(scope.matchers, subject),

    add(subject, figures) {
      if (!isChosen(scope.matchers, subject)) return;
      const { id, timezone } = subject.recording;
      const location = locationOf(subject);
      keep(location, judgeRecording(scope, subject, figures, ofRecording.get(id) ?? [], schedules));
      addDays(location.days, figures, scope.dayZone ?? timezone, calendar, schedules);
      chosen.add(id);
    },

    *finish() {
      const all = [...locations.values()];
      const blind = clip(scope.blind, bounds);
      const unwatched = clip(scope.unwatched ?? [], bounds);
      const parts: Record<DigestPart, LocationGroup[]> = {
        down_now: [],
        down_some: [],
        up: [],
        closed: [],
        unknown: [],
      };
      for (const part of digestParts) {
        parts[part] = groups(all, part);
        yield;
      }
      const dark = darkLocations(scope, locations);
      yield;
      const counted = totals(all, blind, unwatched);
      const before = scope.before && totalsBefore(all, scope);
      yield;
      const byDay = locationDigests(all, calendar);
      yield;
      const rules = { now: scope.now, dayZone: scope.dayZone, below };
      const untrusted = untrustedDays(all, calendar, rules);
      yield;
      return {
        now: scope.now,
        period: scope.period,
        timezone: scope.timezone,
        totals: counted,
        before,
        parts,
        days: calendar.dates.slice(calendar.shownFrom),
        locations: byDay,
        untrusted,
        untrustedBelow: below,
        counts: "not_asked",
        longest: longestOutages(parts, dark),
        flappers: flappersOf(parts),
        dark,
        other: otherAlerts(scope, chosen, locations),
        blind,
        unwatched,
      };
    },
  };
}

function isWhole([first, ...more]: readonly Span[], { from, to }: Span): boolean {
  return more.length === 0 && first !== undefined && first.from <= from && first.to >= to;
}

/** Matchers see the labels an alert of the recording would carry; a label it has not is the empty string. */
function isChosen(matchers: readonly Matcher[], { recording, locationName }: DigestRecording): boolean {
  if (matchers.length === 0) return true;
  const labels = new Map([
    ["recording_id", recording.id],
    ["recording", recording.name],
    ["location_id", recording.locationId],
    ["location", locationName],
    ["organisation", recording.organisation],
    ["camera_server", recording.cameraServer],
    ["timezone", recording.timezone],
  ]);
  return matchers.every((matcher) => matcher.matches(labels.get(matcher.name) ?? ""));
}

function totals(
  locations: readonly LocationRecords[],
  blind: readonly Span[],
  unwatched: readonly Span[],
): DigestTotals {
  const digests = locations.flatMap(({ recordings }) => recordings);
  const count = (part: DigestPart) => digests.filter((digest) => digest.part === part).length;
  const outages = locations.reduce((all, one) => addOutages(all, one.outages), emptyRecovery());
  return {
    recordings: digests.length,
    locations: locations.length,
    downNow: count("down_now"),
    downSome: count("down_some"),
    up: count("up"),
    closed: count("closed"),
    unknown: count("unknown"),
    affected: digests.filter(({ lostMs }) => lostMs > 0).length,
    low: digests.filter(({ part, outages }) => part === "down_some" && outages.length === 0).length,
    outages: outages.outages,
    lostMs: sum(digests, ({ lostMs }) => lostMs),
    blindMs: total(blind),
    unwatchedMs: total(unwatched),
    uptime: meanUptime(locations.reduce((all, one) => addTally(all, one.tally), emptyTally())),
    recoveryMs: meanRecovery(outages),
  };
}

/** Fewer of today's recordings than this share in the figures of the period before: it was another fleet. */
const COMPARABLE_SHARE = 0.9;

function totalsBefore(locations: readonly LocationRecords[], { before }: DigestScope): TotalsBefore {
  const size = sum(locations, ({ recordings }) => recordings.length);
  const compared = sum(locations, (one) => one.compared.recordings);
  const isComparable = compared > 0 && compared >= size * COMPARABLE_SHARE;
  const uptime = locations.reduce((all, one) => addTally(all, one.compared.before), emptyTally());
  const outages = locations.reduce((all, one) => addOutages(all, one.compared.outages), emptyRecovery());
  const isWatched = isComparable && before?.isWatched === true;
  return {
    uptime: isComparable ? meanUptime(uptime) : undefined,
    lostMs: isWatched ? outages.lostMs : undefined,
    outages: isWatched ? outages.outages : undefined,
    recoveryMs: isWatched ? meanRecovery(outages) : undefined,
  };
}
