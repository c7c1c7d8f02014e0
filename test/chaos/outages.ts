/** Cameras and whole sites that go dark and come back. */
import type { Action } from "./action.ts";
import type { Dice } from "./dice.ts";
import type { PlanOptions } from "./plan.ts";

/** A place that had an outage is left alone this long after it. */
const REST_MS = 4_000;
/** Outages a second for each webhook: each is at least two messages, and a webhook takes one a second. */
const OUTAGES_PER_WEBHOOK = 0.15;

type Shape = (dice: Dice) => readonly (readonly [darkMs: number, onlineMs: number])[];

/** How one camera goes dark and comes back. */
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

/** No place has two outages at once; what would end later than the run does not end. */
export function planOutages(options: PlanOptions, dice: Dice): Action[] {
  const { locations, recordingsPerLocation, webhooks, lengthMs } = options;
  const everyMs = 1_000 / (OUTAGES_PER_WEBHOOK * webhooks);
  const busyUntil = new Map<number, number>();
  const actions: Action[] = [];
  for (let at = dice.between(0, everyMs); at < lengthMs; at += dice.between(0, 2 * everyMs)) {
    const location = dice.whole(locations);
    if ((busyUntil.get(location) ?? 0) > at) continue;
    const first = location * recordingsPerLocation;
    const all = Array.from({ length: recordingsPerLocation }, (_, i) => first + i);
    const whole = dice.chance(0.2);
    const changes = whole
      ? siteOutage(all, at, dice)
      : cameraOutage(first + dice.whole(recordingsPerLocation), at, dice.pick(SHAPES)(dice));
    const within = changes.filter((change) => change.at < lengthMs);
    actions.push(...within);
    busyUntil.set(location, Math.max(...changes.map((change) => change.at)) + REST_MS);
  }
  return actions;
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
  const lasts = dice.between(6_000, 40_000);
  return recordings.flatMap((recording) => [
    {
      at: from + dice.between(0, 1_500),
      kind: "status",
      status: "offline",
      recordings: [recording],
    } as const,
    {
      at: from + lasts + dice.between(0, 2_500),
      kind: "status",
      status: "online",
      recordings: [recording],
    } as const,
  ]);
}
