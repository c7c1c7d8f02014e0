/** Cameras, whole sites and whole regions that go dark and come back, and what people do about it meanwhile. */
import type { Action } from "./action.ts";
import { type PlanOptions, recordingsAt } from "./plan.ts";
import type { Dice } from "./random.ts";

/** Outages a second for each webhook: each is at least two messages, and a webhook takes one a second. */
const OUTAGES_PER_WEBHOOK = 0.15;
/** More sites than `storm.groups` (10) of one webhook at once: told in a summary. */
const REGION = { fewest: 12, most: 28, everyMs: 90_000, shareOfAll: 0.4 };

type Shape = (dice: Dice) => readonly (readonly [darkMs: number, onlineMs: number])[];

/** How one camera goes dark and comes back; in none does it change so often that it flaps. */
const SHAPES: readonly [Shape, ...Shape[]] = [
  (dice) => [[dice.between(5_000, 30_000), 0]],
  (dice) => [[dice.between(5_000, 30_000), 0]],
  (dice) => [[dice.between(40_000, 90_000), 0]],
  (dice) =>
    Array.from(
      { length: 1 + dice.whole(4) },
      () => [dice.between(200, 3_000), dice.between(300, 6_000)] as const,
    ),
  (dice) => Array.from({ length: 2 }, () => [dice.between(4_000, 10_000), dice.between(500, 8_000)] as const),
];

/** A camera has one story at most; what would end later than the run does not end. */
export function planOutages(options: PlanOptions, reserved: ReadonlySet<number>, dice: Dice): Action[] {
  const { webhooks, lengthMs } = options;
  const everyMs = 1_000 / (OUTAGES_PER_WEBHOOK * webhooks);
  const free = createFree(options, reserved, dice);
  const actions = planRegions(options, free, dice);
  for (let at = dice.between(0, everyMs); at < lengthMs; at += dice.between(0, 2 * everyMs)) {
    const isSite = dice.chance(0.2);
    const recordings = isSite ? free.site() : free.camera();
    const [first] = recordings;
    if (first === undefined) continue;
    actions.push(
      ...(isSite ? siteOutage(recordings, at, dice) : cameraOutage(first, at, dice.pick(SHAPES)(dice))),
      ...peopleAct(recordings, at, dice),
    );
  }
  return actions.filter((action) => action.at >= 0 && action.at < lengthMs);
}

/** Hands out cameras that had no story yet; nothing where one that was looked for is not found. */
function createFree(options: PlanOptions, reserved: ReadonlySet<number>, dice: Dice) {
  const used = new Set<number>();
  const isFree = (location: number) =>
    !reserved.has(location) && recordingsAt(location, options).every((one) => !used.has(one));
  const take = (recordings: number[]) => {
    for (const one of recordings) used.add(one);
    return recordings;
  };
  return {
    site(): number[] {
      const location = dice.whole(options.locations);
      return isFree(location) ? take(recordingsAt(location, options)) : [];
    },
    camera(): number[] {
      const location = dice.whole(options.locations);
      const recording = recordingsAt(location, options)[dice.whole(options.recordingsPerLocation)] ?? 0;
      return reserved.has(location) || used.has(recording) ? [] : take([recording]);
    },
    sitesOf(webhook: number, most: number): number[][] {
      const all = Array.from({ length: options.locations }, (_, location) => location);
      const own = all.filter((location) => options.receiverOf(location) === webhook && isFree(location));
      const sites = own.slice(0, most);
      return sites.length < REGION.fewest ? [] : sites.map((site) => take(recordingsAt(site, options)));
    },
  };
}

/** Many sites of one webhook at once. */
function planRegions(
  { lengthMs, webhooks, locations }: PlanOptions,
  free: ReturnType<typeof createFree>,
  dice: Dice,
): Action[] {
  const sites = REGION.shareOfAll * locations;
  const count = Math.min(Math.ceil(lengthMs / REGION.everyMs), Math.floor(sites / REGION.fewest));
  const most = Math.min(REGION.most, Math.floor(sites / count));
  const first = dice.whole(webhooks);
  return Array.from({ length: count }, (_, i) => i).flatMap((i) => {
    const from = dice.between((i * lengthMs) / count, (i + 0.6) * (lengthMs / count));
    const lasts = dice.between(12_000, 35_000);
    const region = free.sitesOf((first + i) % webhooks, dice.between(REGION.fewest, most));
    return region.flatMap((recordings) => spread(recordings, from, lasts, 1_200, dice));
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

/** Cameras of a site fall one after the other within a moment, and come back likewise. */
function siteOutage(recordings: readonly number[], from: number, dice: Dice): Action[] {
  return spread(recordings, from, dice.between(6_000, 40_000), 1_500, dice);
}

function spread(
  recordings: readonly number[],
  from: number,
  lasts: number,
  withinMs: number,
  dice: Dice,
): Action[] {
  return recordings.flatMap((recording): Action[] => [
    { at: from + dice.between(0, withinMs), kind: "status", status: "offline", recordings: [recording] },
    { at: from + lasts + dice.between(0, 2_500), kind: "status", status: "online", recordings: [recording] },
  ]);
}

/** Some outages are silenced, before, while or after they are told, and some acknowledged. */
function peopleAct(recordings: readonly number[], from: number, dice: Dice): Action[] {
  const [first = 0] = recordings;
  const lastsMs = dice.between(4_000, 30_000);
  const silence: Action = {
    kind: "silence",
    at: from + dice.between(-5_000, 10_000),
    recordings,
    lastsMs,
    endAfterMs: dice.chance(0.3) ? dice.between(2_000, lastsMs) : undefined,
  };
  const ack: Action = { kind: "ack", at: from + dice.between(5_000, 20_000), recording: first };
  return [...(dice.chance(0.25) ? [silence] : []), ...(dice.chance(0.15) ? [ack] : [])];
}
