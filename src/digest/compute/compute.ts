/**
 * The digest's figures. Downtime comes from incidents, uptime from the service's own figures: neither is derived from
 * the other, and where there is nothing there is no figure. Recordings are added one by one, and of each only its
 * results are stored: a large fleet's buckets are never in memory together.
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
  type Interval,
  type LocationGroup,
  type RecordingFigures,
  type TotalsBefore,
} from "../digest.ts";
import { type DigestCalendar, digestCalendar } from "./calendar.ts";
import { locationOutages, otherAlerts } from "./incident.ts";
import { clip, subtract, total, union } from "./intervals.ts";
import { addDays, emptyDays } from "./location-days.ts";
import { type LocationRecords, locationDigests, locationGroups, sumOf } from "./locations.ts";
import { flappersOf, longestOutages } from "./rankings.ts";
import { judgeRecording } from "./recording.ts";
import { createScheduleTimes } from "./schedule-times.ts";
import { addTally, meanRecovery, meanUptime, newTally } from "./tally.ts";
import { untrustedDays } from "./untrusted.ts";

const DEFAULT_UNTRUSTED_BELOW = 0.9;

export interface Digester {
  /** Whether the digest is about this recording. */
  wants(subject: DigestRecording): boolean;
  /** Adds a recording, each once; one that the digest does not want is left out. */
  add(subject: DigestRecording, figures: RecordingFigures): void;
  /** The whole, in steps between which the event loop can run (`runYielding`). */
  finish(): Generator<void, Digest>;
}

/** A digest to which recordings are added; `finish` ends it. */
export function createDigester(scope: DigestScope): Digester {
  const localHours = createLocalHours();
  const calendar = digestCalendar(scope, localHours);
  const schedules = createScheduleTimes(localHours);
  const bounds = boundsOf(scope);
  const byRecording = Map.groupBy(scope.incidents, ({ recordingId }) => recordingId);
  const locations = new Map<string, LocationRecords>();
  const chosen = new Set<string>();

  return {
    wants: (subject) => isChosen(scope.matchers, subject),

    add(subject, figures) {
      if (!isChosen(scope.matchers, subject)) return;
      const { id, locationId, timezone } = subject.recording;
      const location = locations.get(locationId) ?? newLocation(subject, calendar);
      locations.set(locationId, location);
      const judged = judgeRecording(scope, subject, figures, byRecording.get(id) ?? [], schedules);
      location.recordings.push(judged.digest);
      addTally(location.tally, judged.tally);
      if (!covers(location.open, bounds))
        location.open = union([...location.open, ...subtract([bounds], judged.closed)]);
      if (judged.before) {
        location.comparable += 1;
        addTally(location.before, judged.before);
      }
      addDays(location.days, figures, scope.dayZone ?? timezone, calendar, schedules);
      chosen.add(id);
    },

    finish: () => figuresOf(scope, calendar, locations, chosen),
  };
}

function newLocation(
  { recording: { locationId, timezone }, locationName }: DigestRecording,
  calendar: DigestCalendar,
): LocationRecords {
  return {
    id: locationId,
    name: locationName,
    timezone,
    recordings: [],
    tally: newTally(),
    before: newTally(),
    comparable: 0,
    open: [],
    days: emptyDays(calendar),
  };
}

function* figuresOf(
  scope: DigestScope,
  calendar: DigestCalendar,
  byId: ReadonlyMap<string, LocationRecords>,
  chosen: ReadonlySet<string>,
): Generator<void, Digest> {
  const all = [...byId.values()];
  const bounds = boundsOf(scope);
  const untrustedBelow = scope.untrustedBelow ?? DEFAULT_UNTRUSTED_BELOW;
  const [unreachable, unwatched] = [clip(scope.unreachable, bounds), clip(scope.unwatched ?? [], bounds)];
  const parts = {} as Record<DigestPart, LocationGroup[]>;
  for (const part of digestParts) {
    parts[part] = locationGroups(all, part);
    yield;
  }
  const wholeLocations = locationOutages(scope, byId);
  yield;
  const totals = totalsOf(all, unreachable, unwatched);
  const before = scope.before && totalsBefore(all, scope.before.isWatched);
  yield;
  const locations = locationDigests(all, calendar);
  yield;
  const untrusted = untrustedDays(all, calendar, scope, untrustedBelow);
  yield;
  return {
    now: scope.now,
    period: scope.period,
    timezone: scope.timezone,
    totals,
    before,
    parts,
    days: calendar.dates.slice(calendar.shownFrom),
    locations,
    untrusted,
    untrustedBelow,
    counts: "not_asked",
    longest: longestOutages(parts, wholeLocations),
    flappers: flappersOf(parts),
    locationOutages: wholeLocations,
    other: otherAlerts(scope, chosen, byId),
    unreachable,
    unwatched,
  };
}

function boundsOf({ period }: DigestScope): Interval {
  return { from: period.start, to: period.end };
}

function covers([first, ...more]: readonly Interval[], { from, to }: Interval): boolean {
  return more.length === 0 && first !== undefined && first.from <= from && first.to >= to;
}

/** Matchers see the labels an alert of the recording would carry; a missing label is the empty string. */
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

function totalsOf(
  locations: readonly LocationRecords[],
  unreachable: readonly Interval[],
  unwatched: readonly Interval[],
): DigestTotals {
  const digests = locations.flatMap(({ recordings }) => recordings);
  const count = (part: DigestPart) => digests.filter((digest) => digest.part === part).length;
  const tally = locations.reduce((sum, one) => addTally(sum, one.tally), newTally());
  return {
    recordings: digests.length,
    downNow: count("down_now"),
    downSome: count("down_some"),
    up: count("up"),
    closed: count("closed"),
    unknown: count("unknown"),
    affected: digests.filter(({ lostMs }) => lostMs > 0).length,
    low: digests.filter(({ part, outages }) => part === "down_some" && outages.length === 0).length,
    outages: tally.outages,
    lostMs: sumOf(digests, ({ lostMs }) => lostMs),
    unreachableMs: total(unreachable),
    unwatchedMs: total(unwatched),
    uptime: meanUptime(tally),
    recoveryMs: meanRecovery(tally),
  };
}

/** With fewer of today's recordings than this share in the figures of the period before, it was another fleet. */
const COMPARABLE_SHARE = 0.9;

function totalsBefore(locations: readonly LocationRecords[], wasWatched: boolean): TotalsBefore {
  const size = sumOf(locations, ({ recordings }) => recordings.length);
  const comparable = sumOf(locations, (one) => one.comparable);
  const isComparable = comparable > 0 && comparable >= size * COMPARABLE_SHARE;
  const tally = locations.reduce((sum, one) => addTally(sum, one.before), newTally());
  const isWatched = isComparable && wasWatched;
  return {
    uptime: isComparable ? meanUptime(tally) : undefined,
    lostMs: isWatched ? tally.lostMs : undefined,
    outages: isWatched ? tally.outages : undefined,
    recoveryMs: isWatched ? meanRecovery(tally) : undefined,
  };
}
