/**
 * The digest's figures. Downtime comes from episodes, uptime from the service's own figures: neither is derived from
 * the other, and where there is nothing there is no figure. Recordings are added one by one, and of each only its
 * results are stored: a large fleet's buckets are never in memory together.
 */
import { clip } from "../../lib/intervals.ts";
import { createLocalHours } from "../../lib/local-hours.ts";
import { addLoss, noLoss } from "../../report/tally.ts";
import {
  type Digest,
  type DigestPart,
  type DigestRecording,
  type DigestScope,
  type DigestTotals,
  digestParts,
  type LocationGroup,
  type RecordingDigest,
  type RecordingFigures,
  type TotalsBefore,
} from "../digest.ts";
import { addDays, createScheduleTimes, type DigestCalendar, digestCalendar } from "./calendar.ts";
import { createIncidents } from "./incidents.ts";
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
  const incidents = createIncidents(scope);
  const wants = (subject: DigestRecording): boolean => isChosen(scope.matchers, subject);

  return {
    /** True where the digest is about this recording. */
    wants,

    /** Adds a recording, each once; one that the digest does not want is left out. */
    add(subject: DigestRecording, figures: RecordingFigures): void {
      if (!wants(subject)) return;
      const { locationId, timezone } = subject.recording;
      const location = locations.get(locationId) ?? newLocation(subject, calendar);
      locations.set(locationId, location);
      const judged = judgeRecording(factsOf(subject, figures));
      listed.add(judged.digest, locationId);
      incidents.add(subject);
      addRecording(location, judged.digest);
      addSums(sums, judged.digest);
      addTally(location.tally, judged.tally);
      if (judged.before) {
        location.comparable += 1;
        addTally(location.before, judged.before);
      }
      addDays(location.days, figures, scope.dayZone ?? timezone, calendar, schedules);
    },

    /** The whole, in steps between which the event loop can run (`runYielding`). */
    finish: () => figuresOf(scope, calendar, locations, { sums, incidents, listed: listed.grouped() }),
  };
}

interface Added {
  readonly sums: Sums;
  readonly listed: Generator<void, Listed>;
  readonly incidents: ReturnType<typeof createIncidents>;
}

function* figuresOf(
  scope: DigestScope,
  calendar: DigestCalendar,
  byId: ReadonlyMap<string, LocationRecords>,
  { sums, listed, incidents }: Added,
): Generator<void, Digest> {
  const all = [...byId.values()];
  const { period } = scope;
  const groups = yield* listed;
  const parts = {} as Record<DigestPart, LocationGroup[]>;
  for (const part of digestParts) {
    parts[part] = locationGroups(all, part, groups);
    yield;
  }
  const totals = totalsOf(all, sums);
  const incidentsBefore = scope.before?.isWatched ? incidents.inside(scope.before.period).length : undefined;
  const before = scope.before && totalsBefore(all, incidentsBefore);
  yield;
  const locations = locationDigests(all, calendar);
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
    incidents: incidents.inside(period),
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
  return { affected: 0, plannedMs: 0, loss: noLoss() };
}

function addSums(sums: Sums, { lostMs, plannedMs, loss }: RecordingDigest): void {
  if (lostMs > 0) sums.affected += 1;
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
    lostMs: sumOf(locations, ({ parts }) => sumOf(Object.values(parts), (one) => one.lostMs)),
    uptime: meanUptime(tally),
    recoveryMs: meanRecovery(tally),
  };
}

/** With fewer of today's recordings than this share in the figures of the period before, it was another fleet. */
const COMPARABLE_SHARE = 0.9;

/** `incidents`: undefined where that was not watched. */
function totalsBefore(locations: readonly LocationRecords[], incidents: number | undefined): TotalsBefore {
  const size = sumOf(locations, (one) => one.size);
  const comparable = sumOf(locations, (one) => one.comparable);
  const isComparable = comparable > 0 && comparable >= size * COMPARABLE_SHARE;
  const tally = locations.reduce((sum, one) => addTally(sum, one.before), newTally());
  const isWatched = isComparable && incidents !== undefined;
  return {
    uptime: isComparable ? meanUptime(tally) : undefined,
    lostMs: isWatched ? tally.lostMs : undefined,
    incidents: isWatched ? incidents : undefined,
    recoveryMs: isWatched ? meanRecovery(tally) : undefined,
  };
}
