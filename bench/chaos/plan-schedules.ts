/**
 * Recordings with uploading schedules: offline outside them, which is not notified; offline when they end, which is
 * suspended; offline when they begin, which is notified then.
 */
import type { Action } from "./action.ts";
import { type PlanOptions, recordingsAt } from "./plan.ts";
import type { Random } from "./random.ts";

/** Replicas read schedules that another one learned this often. */
const LEARNED_MS = 20_000;

export function planSchedules(options: PlanOptions, random: Random): Action[] {
  const { night, ends, begins, crossingAt } = options.scheduled;
  const all = (locations: readonly number[]) => locations.flatMap((location) => recordingsAt(location, options));
  const within = ({ at }: Action) => at >= LEARNED_MS && at < options.lengthMs;
  return [
    ...all(night).flatMap((recording) => outsideOutage(recording, options.lengthMs, random)),
    ...(crossingAt === undefined
      ? []
      : [
          ...all(ends).flatMap((recording) => outageAtEnd(recording, crossingAt, random)),
          ...all(begins).flatMap((recording) => outageAtBeginning(recording, crossingAt, random)),
        ]),
  ].filter(within);
}

function offline(recording: number, from: number, to: number): Action[] {
  return [
    { at: from, kind: "status", status: "offline", recordings: [recording] },
    { at: to, kind: "status", status: "online", recordings: [recording] },
  ];
}

const NEVER = Number.POSITIVE_INFINITY;

function outsideOutage(recording: number, lengthMs: number, random: Random): Action[] {
  if (random.chance(0.4)) return [];
  const from = random.between(LEARNED_MS, Math.max(LEARNED_MS, lengthMs));
  return offline(recording, from, random.chance(0.3) ? NEVER : from + random.between(5_000, 60_000));
}

function outageAtEnd(recording: number, end: number, random: Random): Action[] {
  switch (random.whole(5)) {
    case 0:
      return offline(recording, end - random.between(5_000, 30_000), end + random.between(4_000, 60_000));
    case 1:
      return offline(recording, end - random.between(20_000, 40_000), end - random.between(5_000, 12_000));
    case 2:
      return offline(recording, end + random.between(500, 10_000), NEVER);
    case 3:
      return offline(recording, end - random.between(200, 1_500), end + random.between(10_000, 30_000));
    default:
      return offline(recording, end - random.between(5_000, 30_000), NEVER);
  }
}

function outageAtBeginning(recording: number, begin: number, random: Random): Action[] {
  switch (random.whole(3)) {
    case 0:
      return offline(recording, begin - random.between(5_000, 60_000), begin + random.between(8_000, 40_000));
    case 1:
      return offline(recording, begin - random.between(20_000, 60_000), begin - random.between(2_000, 10_000));
    default:
      return offline(recording, begin + random.between(1_000, 20_000), begin + random.between(25_000, 40_000));
  }
}
