/**
 * The digest's figures. Downtime comes from episodes, uptime from the service's own figures: neither is derived from
 * the other, and where there is nothing there is no figure. Recordings are added one by one, and of each only its
 * results are stored: a large fleet's buckets are never in memory together.
 */
import { visitsInAll } from "../../counts/location-outage.ts";
import { clip, subtract, total, union } from "../../lib/intervals.ts";
import { createLocalHours } from "../../lib/local-hours.ts";
import { addLoss, noLoss } from "../../report/tally.ts";
import {
  type Digest,
  type DigestPart,
  type DigestRecording,
  type DigestScope,
  type DigestTotals,
  digestParts,
  type LocatedVisits,
  type LocationGroup,
  type RecordingDigest,
  type RecordingFigures,
  type TotalsBefore,
} from "../digest.ts";
import { addDays, createScheduleTimes, type DigestCalendar, digestCalendar } from "./calendar.ts";
import { flappersOf, locationOutages, longestOutages, otherAlerts } from "./episode.ts";
import { createListed, type Listed } from "./listed.ts";
import {
  addRecording,
  type LocationRecords,
  locationDigests,
  locationGroups,
  newLocation,
  sumOf,
} from "./locations.ts";
import { createFacts, isChosen, judgeRecording } from "./recording.ts";
import { addTally, meanRecovery, meanUptime, newTally } from "./tally.ts";

export type Digester = ReturnType<typeof createDigester>;

/** A digest to which recordings are added; `finish` ends it. More than `mostListed` of them are counted, not listed. */
export function createDigester(scope: DigestScope, mostListed?: number) {
  const localHours = createLocalHours();
  const calendar = digestCalendar(scope, localHours);
  const schedules = createScheduleTimes(localHours);
  const locations = new Map<string, LocationRecords>();
  const factsOf = createFacts(scope, schedules);
  const listed = createListed(mostListed);
  const sums = newSums();
  const withEpisode = new Set(scope.episodes.map(({ recordingId }) => recordingId));
  const locationOf = new Map<string, string>();
  const wants = (subject: DigestRecording): boolean => isChosen(scope.matchers, subject);

  return {
    /** True where the digest is about this recording. */
    wants,

    /** Adds a recording, each once; one that the digest does not want is left out. */
    add(subject: DigestRecording, figures: RecordingFigures): void {
      if (!wants(subject)) return;
      const { id, locationId, timezone } = subject.recording;
      const location = locations.get(locationId) ?? newLocation(subject, calendar);
      locations.set(locationId, location);
      const judged = judgeRecording(factsOf(subject, figures));
      listed.add(judged.digest, locationId);
      if (withEpisode.has(id)) locationOf.set(id, locationId);
      addRecording(location, judged.digest);
      addSums(sums, judged.digest);
      addTally(location.tally, judged.tally);
      if (total(location.open) < scope.period.to - scope.period.from)
        location.open = union([...location.open, ...subtract([scope.period], judged.closed)]);
      if (judged.before) {
        location.comparable += 1;
        addTally(location.before, judged.before);
      }
      addDays(location.days, figures, scope.dayZone ?? timezone, calendar, schedules);
    },

    /** The whole, in steps between which the event loop can run (`runYielding`). */
    finish: () => figuresOf(scope, calendar, locations, { sums, locationOf, listed: listed.grouped() }),
  };
}

interface Added {
  readonly sums: Sums;
  readonly listed: Generator<void, Listed>;
  /** The locations of recordings that had an alert. */
  readonly locationOf: ReadonlyMap<string, string>;
}

function* figuresOf(
  scope: DigestScope,
  calendar: DigestCalendar,
  byId: ReadonlyMap<string, LocationRecords>,
  { sums, listed, locationOf }: Added,
): Generator<void, Digest> {
  const all = [...byId.values()];
  const { period } = scope;
  const groups = yield* listed;
  const parts = {} as Record<DigestPart, LocationGroup[]>;
  for (const part of digestParts) {
    parts[part] = locationGroups(all, part, groups);
    yield;
  }
  const wholeLocations = locationOutages(scope, byId);
  yield;
  const totals = totalsOf(all, sums);
  const before = scope.before && totalsBefore(all, scope.before.isWatched);
  yield;
  const locations = locationDigests(all, calendar);
  yield;
  const visits = uncountedVisits(scope, byId, locationOf);
  yield;
  return {
    now: scope.now,
    period,
    timezone: scope.timezone,
    totals,
    before,
    parts,
    days: calendar.dates.slice(calendar.shownFrom),
    locations,
    longest: longestOutages(parts, wholeLocations),
    flappers: flappersOf(parts),
    locationOutages: wholeLocations,
    other: otherAlerts(scope, byId, locationOf),
    visits,
    unreachable: clip(scope.unreachable, period),
    unwatched: clip(scope.unwatched ?? [], period),
    maintenance: (scope.maintenance ?? []).flatMap(({ name, comment, windows }) => {
      const inside = clip(windows, period);
      return inside.length === 0 ? [] : [{ name, comment, windows: inside }];
    }),
  };
}

type Sums = ReturnType<typeof newSums>;

/** Sums of all recordings, listed or not. */
function newSums() {
  return { affected: 0, low: 0, plannedMs: 0, loss: noLoss() };
}

function addSums(sums: Sums, { part, lostMs, plannedMs, loss, outages }: RecordingDigest): void {
  if (lostMs > 0) sums.affected += 1;
  if (part === "down_some" && outages.length === 0) sums.low += 1;
  sums.plannedMs += plannedMs;
  addLoss(sums.loss, loss);
}

function totalsOf(locations: readonly LocationRecords[], sums: Sums): DigestTotals {
  const countOf = (part: DigestPart) => sumOf(locations, ({ parts }) => parts[part].count);
  const tally = locations.reduce((sum, one) => addTally(sum, one.tally), newTally());
  return {
    ...(Object.fromEntries(digestParts.map((part) => [part, countOf(part)])) as Record<DigestPart, number>),
    ...sums,
    recordings: sumOf(locations, ({ size }) => size),
    outages: tally.outages,
    lostMs: sumOf(locations, ({ parts }) => sumOf(Object.values(parts), (one) => one.lostMs)),
    uptime: meanUptime(tally),
    recoveryMs: meanRecovery(tally),
  };
}

/** With fewer of today's recordings than this share in the figures of the period before, it was another fleet. */
const COMPARABLE_SHARE = 0.9;

function totalsBefore(locations: readonly LocationRecords[], wasWatched: boolean): TotalsBefore {
  const size = sumOf(locations, (one) => one.size);
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

/** Visits that outages kept from being counted, of each location and each visit once, most first. `episodes` have what each cost; those that fire cost until now. */
function uncountedVisits(
  { episodes, period, now }: DigestScope,
  locations: ReadonlyMap<string, LocationRecords>,
  locationOf: ReadonlyMap<string, string>,
): LocatedVisits[] {
  const costly = episodes.filter(({ uncounted }) => uncounted).map((one) => ({ ...one, endsAt: one.endsAt ?? now }));
  const byLocation = Map.groupBy(
    costly,
    ({ recordingId = "", locationId }) => locationId ?? locationOf.get(recordingId),
  );
  const found = [...locations.values()].flatMap(({ id: locationId, name: locationName }): LocatedVisits[] => {
    const visits = visitsInAll(byLocation.get(locationId) ?? [], period);
    return visits && visits.estimate > 0 ? [{ locationId, locationName, visits }] : [];
  });
  return found.sort((a, b) => b.visits.estimate - a.visits.estimate);
}
