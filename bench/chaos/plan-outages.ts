/** Plans outages of recordings, locations and regions, with silences and acknowledgements. */
import type { Action } from "./action.ts";
import type { PlanOptions } from "./plan.ts";
import type { Random } from "./random.ts";

/** Outages a second for each webhook: each is at least two messages, and a webhook takes one a second. */
const OUTAGES_PER_WEBHOOK = 0.15;
/** More locations of one webhook than `storm.groups` (10), so that they are sent as a summary. */
const REGION = { fewest: 12, most: 28, everyMs: 90_000, shareOfAll: 0.4 };

type Shape = (random: Random) => readonly (readonly [darkMs: number, onlineMs: number])[];

/** Outages of one recording. */
const SHAPES: readonly [Shape, ...Shape[]] = [
  (random) => [[random.between(5_000, 30_000), 0]],
  (random) => [[random.between(5_000, 30_000), 0]],
  (random) => [[random.between(40_000, 90_000), 0]],
  (random) =>
    Array.from(
      { length: 1 + random.whole(4) },
      () => [random.between(200, 3_000), random.between(300, 6_000)] as const,
    ),
  (random) => Array.from({ length: 2 }, () => [random.between(4_000, 10_000), random.between(500, 8_000)] as const),
];

/** A recording has one plan at most; actions after the end of the run are dropped. */
export function planOutages(options: PlanOptions, random: Random): Action[] {
  const { webhooks, lengthMs } = options;
  const everyMs = 1_000 / (OUTAGES_PER_WEBHOOK * webhooks);
  const free = createFree(options, random);
  const actions = planRegions(options, free, random);
  for (let at = random.between(0, everyMs); at < lengthMs; at += random.between(0, 2 * everyMs)) {
    const isSite = random.chance(0.2);
    const recordings = isSite ? free.site() : free.camera();
    const [first] = recordings;
    if (first === undefined) continue;
    actions.push(
      ...(isSite ? siteOutage(recordings, at, random) : cameraOutage(first, at, random.pick(SHAPES)(random))),
      ...planOperator(recordings, at, random),
    );
  }
  return actions.filter((action) => action.at >= 0 && action.at < lengthMs);
}

/** Picks recordings without a plan; none where the random choice is taken. */
function createFree(options: PlanOptions, random: Random) {
  const used = new Set<number>();
  const isFree = (location: number) => recordingsAt(location, options).every((one) => !used.has(one));
  const take = (recordings: number[]) => {
    for (const one of recordings) used.add(one);
    return recordings;
  };
  return {
    site(): number[] {
      const location = random.whole(options.locations);
      return isFree(location) ? take(recordingsAt(location, options)) : [];
    },
    camera(): number[] {
      const location = random.whole(options.locations);
      const recording = recordingsAt(location, options)[random.whole(options.recordingsPerLocation)] ?? 0;
      return used.has(recording) ? [] : take([recording]);
    },
    sitesOf(webhook: number, most: number): number[][] {
      const all = Array.from({ length: options.locations }, (_, location) => location);
      const own = all.filter((location) => options.receiverOf(location) === webhook && isFree(location));
      const sites = own.slice(0, most);
      return sites.length < REGION.fewest ? [] : sites.map((site) => take(recordingsAt(site, options)));
    },
  };
}

/** Outages of many locations of one webhook at once. */
function planRegions(
  { lengthMs, webhooks, locations }: PlanOptions,
  free: ReturnType<typeof createFree>,
  random: Random,
): Action[] {
  const sites = REGION.shareOfAll * locations;
  const count = Math.min(Math.ceil(lengthMs / REGION.everyMs), Math.floor(sites / REGION.fewest));
  const most = Math.min(REGION.most, Math.floor(sites / count));
  const first = random.whole(webhooks);
  return Array.from({ length: count }, (_, i) => i).flatMap((i) => {
    const from = random.between((i * lengthMs) / count, (i + 0.6) * (lengthMs / count));
    const lasts = random.between(12_000, 35_000);
    const region = free.sitesOf((first + i) % webhooks, random.between(REGION.fewest, most));
    return region.flatMap((recordings) => spread(recordings, from, lasts, 1_200, random));
  });
}

function cameraOutage(recording: number, from: number, phases: ReturnType<Shape>): Action[] {
  let at = from;
  return phases.flatMap(([darkMs, onlineMs]) => {
    const back = at + darkMs;
    const change = [
      { at, kind: "status", status: "offline", recordings: [recording] },
      { at: back, kind: "status", status: "online", recordings: [recording] },
    ] as const;
    at = back + onlineMs;
    return change;
  });
}

/** The recordings of a location go offline within a moment, and recover likewise. */
function siteOutage(recordings: readonly number[], from: number, random: Random): Action[] {
  return spread(recordings, from, random.between(6_000, 40_000), 1_500, random);
}

function spread(
  recordings: readonly number[],
  from: number,
  lasts: number,
  withinMs: number,
  random: Random,
): Action[] {
  return recordings.flatMap((recording): Action[] => [
    { at: from + random.between(0, withinMs), kind: "status", status: "offline", recordings: [recording] },
    { at: from + lasts + random.between(0, 2_500), kind: "status", status: "online", recordings: [recording] },
  ]);
}

/** Silences some outages, before, during or after their notification, and acknowledges some. */
function planOperator(recordings: readonly number[], from: number, random: Random): Action[] {
  const [first = 0] = recordings;
  const lastsMs = random.between(4_000, 30_000);
  const silence: Action = {
    kind: "silence",
    at: from + random.between(-5_000, 10_000),
    recordings,
    lastsMs,
    endAfterMs: random.chance(0.3) ? random.between(2_000, lastsMs) : undefined,
  };
  const ack: Action = {
    kind: "ack",
    at: from + random.between(3_000, 20_000),
    recording: first,
    endAfterMs: random.chance(0.4) ? random.between(2_000, 10_000) : undefined,
  };
  return [...(random.chance(0.25) ? [silence] : []), ...(random.chance(0.3) ? [ack] : [])];
}

/** The recordings of a location, by index in the fleet. */
function recordingsAt(location: number, { recordingsPerLocation }: PlanOptions): number[] {
  const first = location * recordingsPerLocation;
  return Array.from({ length: recordingsPerLocation }, (_, i) => first + i);
}
