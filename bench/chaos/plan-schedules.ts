/**
 * Recordings with uploading schedules: dark outside of them, of which nobody is to hear; dark when they end, which
 * waits; dark when they begin, which is to be told then.
 */
import type { Action } from "./action.ts";
import { type PlanOptions, recordingsAt } from "./plan.ts";
import type { Dice } from "./random.ts";

/** Replicas look for what another one learned of schedules this often. */
const LEARNED_MS = 20_000;

export function planHours(options: PlanOptions, dice: Dice): Action[] {
  const { night, ends, begins, crossingAt } = options.scheduled;
  const all = (locations: readonly number[]) =>
    locations.flatMap((location) => recordingsAt(location, options));
  const within = ({ at }: Action) => at >= LEARNED_MS && at < options.lengthMs;
  return [
    ...all(night).flatMap((recording) => atNight(recording, options.lengthMs, dice)),
    ...(crossingAt === undefined
      ? []
      : [
          ...all(ends).flatMap((recording) => atTheEnd(recording, crossingAt, dice)),
          ...all(begins).flatMap((recording) => atTheBeginning(recording, crossingAt, dice)),
        ]),
  ].filter(within);
}

function dark(recording: number, from: number, to: number): Action[] {
  return [
    { at: from, kind: "status", status: "offline", recordings: [recording] },
    { at: to, kind: "status", status: "online", recordings: [recording] },
  ];
}

const NEVER = Number.POSITIVE_INFINITY;

function atNight(recording: number, lengthMs: number, dice: Dice): Action[] {
  if (dice.chance(0.4)) return [];
  const from = dice.between(LEARNED_MS, Math.max(LEARNED_MS, lengthMs));
  return dark(recording, from, dice.chance(0.3) ? NEVER : from + dice.between(5_000, 60_000));
}

function atTheEnd(recording: number, end: number, dice: Dice): Action[] {
  switch (dice.whole(5)) {
    case 0:
      return dark(recording, end - dice.between(5_000, 30_000), end + dice.between(4_000, 60_000));
    case 1:
      return dark(recording, end - dice.between(20_000, 40_000), end - dice.between(5_000, 12_000));
    case 2:
      return dark(recording, end + dice.between(500, 10_000), NEVER);
    case 3:
      return dark(recording, end - dice.between(200, 1_500), end + dice.between(10_000, 30_000));
    default:
      return dark(recording, end - dice.between(5_000, 30_000), NEVER);
  }
}

function atTheBeginning(recording: number, begin: number, dice: Dice): Action[] {
  switch (dice.whole(3)) {
    case 0:
      return dark(recording, begin - dice.between(5_000, 60_000), begin + dice.between(8_000, 40_000));
    case 1:
      return dark(recording, begin - dice.between(20_000, 60_000), begin - dice.between(2_000, 10_000));
    default:
      return dark(recording, begin + dice.between(1_000, 20_000), begin + dice.between(25_000, 40_000));
  }
}
