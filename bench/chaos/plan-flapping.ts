/**
 * Cameras that do not rest: Nagios' states are taken once a minute, so that each turns in the middle of a minute, four
 * times, and has rested for three minutes when it is steady again. Most go dark for a moment in between, of which
 * nobody is to hear.
 */
import type { Action } from "./action.ts";
import type { PlanOptions } from "./plan.ts";
import type { Dice } from "./random.ts";

/** Begins once four of the last states, one after the other, changed; ends three minutes after the last. */
export const FLAPPING = { high: 0.235, low: 0.23 };

const MINUTE_MS = 60_000;
/** From the first turn until it is steady again, and was told. */
const STORY_MINUTES = 7.5;
/** A run as long as this has cameras that flap, and has to begin with a minute. */
export const FLAPPING_MS = STORY_MINUTES * MINUTE_MS;
const MOST = 16;

export interface Flappers {
  readonly actions: readonly Action[];
  readonly locations: ReadonlySet<number>;
  /** Recordings that come to rest dark. */
  readonly leftDark: ReadonlySet<number>;
}

/** None where the run is too short. A flapper is alone at its location. */
export function planFlapping(options: PlanOptions, dice: Dice): Flappers {
  const spare = Math.floor(options.lengthMs / MINUTE_MS - STORY_MINUTES);
  const locations = new Set<number>();
  const leftDark = new Set<number>();
  if (spare < 0) return { actions: [], locations, leftDark };
  const count = Math.min(MOST, Math.floor(options.locations / 20));
  while (locations.size < count) locations.add(dice.whole(options.locations));
  const actions = [...locations].flatMap((location) => {
    const recording = location * options.recordingsPerLocation;
    const isDark = dice.chance(0.4);
    if (isDark) leftDark.add(recording);
    return flapper(recording, isDark, dice.whole(spare + 1) * MINUTE_MS, dice);
  });
  return { actions, locations, leftDark };
}

function flapper(recording: number, isDark: boolean, from: number, dice: Dice): Action[] {
  const turns = isDark
    ? (["degraded", "offline", "online", "offline"] as const)
    : (["offline", "online", "offline", "online"] as const);
  const actions = turns.map(
    (status, i): Action => ({
      kind: "status",
      status,
      recordings: [recording],
      at: from + i * MINUTE_MS + dice.between(24_000, 36_000),
    }),
  );
  const dips = [4, 5]
    .filter(() => dice.chance(0.7))
    .flatMap((minute) => dip(recording, from + minute * MINUTE_MS, isDark, dice));
  return [...actions, ...dips];
}

/** Between two looks, so that it is no state of its own. */
function dip(recording: number, minute: number, isDark: boolean, dice: Dice): Action[] {
  const from = minute + dice.between(12_000, 30_000);
  const to = from + dice.between(5_000, 16_000);
  return [
    { at: from, kind: "status", status: isDark ? "online" : "offline", recordings: [recording] },
    { at: to, kind: "status", status: isDark ? "offline" : "online", recordings: [recording] },
  ];
}
