/**
 * Flapping recordings: states are sampled once a minute, so each recording changes in the middle of a minute, four
 * times, and is steady after three minutes without a change. Most are offline for a moment in between, which must
 * not be notified.
 */
import type { Action } from "./action.ts";
import type { PlanOptions } from "./plan.ts";
import type { Random } from "./random.ts";

/** Starts after four consecutive changes; ends three minutes after the last. */
export const FLAPPING = { high: 0.235, low: 0.23 };

const MINUTE_MS = 60_000;
/** From the first change to the steady notice. */
const STORY_MINUTES = 7.5;
/** Runs this long have flapping recordings, and must begin at a full minute. */
export const FLAPPING_MS = STORY_MINUTES * MINUTE_MS;
const MOST = 16;

export interface FlappingPlan {
  readonly actions: readonly Action[];
  readonly locations: ReadonlySet<number>;
  /** Recordings that are offline when steady. */
  readonly leftOffline: ReadonlySet<number>;
}

/** Plans flapping recordings, one per location; none where the run is too short. */
export function planFlapping(options: PlanOptions, random: Random): FlappingPlan {
  const spare = Math.floor(options.lengthMs / MINUTE_MS - STORY_MINUTES);
  const locations = new Set<number>();
  const leftOffline = new Set<number>();
  if (spare < 0) return { actions: [], locations, leftOffline };
  const count = Math.min(MOST, Math.floor(options.locations / 20));
  while (locations.size < count) locations.add(random.whole(options.locations));
  const actions = [...locations].flatMap((location) => {
    const recording = location * options.recordingsPerLocation;
    const isDark = random.chance(0.4);
    if (isDark) leftOffline.add(recording);
    return planFlapper(recording, isDark, random.whole(spare + 1) * MINUTE_MS, random);
  });
  return { actions, locations, leftOffline };
}

function planFlapper(recording: number, isDark: boolean, from: number, random: Random): Action[] {
  const turns = isDark
    ? (["degraded", "offline", "online", "offline"] as const)
    : (["offline", "online", "offline", "online"] as const);
  const actions = turns.map(
    (status, i): Action => ({
      kind: "status",
      status,
      recordings: [recording],
      at: from + i * MINUTE_MS + random.between(24_000, 36_000),
    }),
  );
  const dips = [4, 5]
    .filter(() => random.chance(0.7))
    .flatMap((minute) => dip(recording, from + minute * MINUTE_MS, isDark, random));
  return [...actions, ...dips];
}

/** A change between two samples, so that it is not sampled. */
function dip(recording: number, minute: number, isDark: boolean, random: Random): Action[] {
  const from = minute + random.between(12_000, 30_000);
  const to = from + random.between(5_000, 16_000);
  return [
    { at: from, kind: "status", status: isDark ? "online" : "offline", recordings: [recording] },
    { at: to, kind: "status", status: isDark ? "offline" : "online", recordings: [recording] },
  ];
}
