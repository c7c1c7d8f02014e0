/** Dependencies of sweeps and of uptime refreshes, with what matters to a test passed as changes. */

import type { Attempt } from "../../src/health/attempt.ts";
import type { Rule } from "../../src/health/model.ts";
import type { Reading, Recording, StatusSnapshot, UptimeBucket } from "../../src/health/recording.ts";
import { patched } from "../../src/health/shard-patch.ts";
import type { RecordingState, ShardState } from "../../src/health/shard-state.ts";
import { figuresOf, uptimeRetentionMs } from "../../src/health/uptime.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createCommit } from "../../src/poll/commit.ts";
import type { createSweep } from "../../src/poll/sweep.ts";
import type { RefreshUptimeDeps } from "../../src/poll/uptime.ts";
import type { ShardCommit } from "../../src/store/shards.ts";
import type { Store } from "../../src/store/store.ts";
import { emptyShard } from "../health/shard-history.ts";
import { rootRoute } from "../http/serve.ts";
import { HOUR, MINUTE, SECOND, slack } from "../store/fixtures.ts";
import { anUptimeBucket } from "../support/fixtures.ts";

export const STEP = 30 * SECOND;
export const DAY = 24 * HOUR;
export const UNBROKEN = new AbortController().signal;

export const clockOf = (clock: { readonly at: number }) => ({ now: () => clock.at });
export const rows = (...readings: Reading[]): StatusSnapshot => ({ readings, unreadable: [], unidentified: 0 });

/** Commits of which groups are due at once; `woken` gets the integrations. */
export function commitOf(more: Partial<Parameters<typeof createCommit>[0]> = {}, woken: string[] = []) {
  return createCommit({
    log: silentLogger,
    route: { ...rootRoute, groupWaitMs: 0, groupIntervalMs: 0, repeatIntervalMs: HOUR },
    integrations: [slack],
    wake: async (due) => void woken.push(...due.keys()),
    ...more,
  });
}

export type SweepDeps = Parameters<typeof createSweep>[0];
type Given = "clock" | "log" | "schedules" | "watch" | "moved" | "swept";

/** The part of a sweep's dependencies that is the same over any store. */
export function plainSweep(clock: { readonly at: number }, watch: Partial<SweepDeps["watch"]> = {}) {
  return {
    clock: clockOf(clock),
    log: silentLogger,
    schedules: () => ({ scheduleOf: () => undefined, scheduleBegan: () => undefined, inSchedule: () => true }),
    watch: {
      exclude: [],
      forgetAfterMs: DAY,
      statusIntervalMs: STEP,
      uptimeIntervalMs: HOUR,
      locationsPerRequest: 50,
      ...watch,
    },
    moved: () => {},
    swept: () => {},
  } satisfies Pick<SweepDeps, Given>;
}

/** Dependencies of sweeps over a store in Redis. */
export const storedSweep = ({ shards, inventory, uptime, firing }: Store) => ({
  store: shards,
  firing,
  inventory,
  uptime,
  nameThem: () => inventory.follow(),
});

/** Sweeps' stores in memory; `fails` tells of a commit whether it does. */
export function memoryStores(fails: (shard: number) => boolean = () => false) {
  const states = new Map<number, { nonce: string; state: ShardState }>();
  const attempts = new Map<string, Attempt>();
  const names = new Map<string, Recording>();
  const reasons: string[] = [];
  let [nonces, revision] = [0, 0];
  const deps = {
    firing: async () => [],
    store: {
      read: async (shard: number) => states.get(shard) ?? { nonce: "", state: emptyShard },
      attempts: async () => new Map(attempts),
      forgetShard: async () => {},
      unstored: async () => new Set<string>(),
      async noteAttempt(subject: string, now: number, error?: string, _askedAt?: number, more: Partial<Attempt> = {}) {
        const before = attempts.get(subject) ?? { goodAt: 0, attemptedAt: 0 };
        attempts.set(subject, { ...before, fault: undefined, attemptedAt: now, error, ...more });
      },
      async commitShard(shard: number, { before, patch, sweep, now, lines = [] }: ShardCommit) {
        if (fails(shard)) throw new Error("the commit failed");
        const nonce = `${nonces++}`;
        states.set(shard, { nonce, state: patched(before.state, patch) });
        attempts.set(`shard:${shard}`, { goodAt: now, attemptedAt: now, ...sweep });
        reasons.push(...lines.map(({ subject, reason }) => `${subject.id} ${reason}`));
        return { outcome: "stored" as const, nonce, wake: new Map() };
      },
    },
    inventory: {
      recording: (id: string) => names.get(id),
      location: () => undefined,
      revision: () => ++revision,
      forget: async (ids: readonly string[]) => ids.forEach((id) => void names.delete(id)),
      saveRecordings: async (all: readonly Recording[]) => all.forEach((one) => void names.set(one.id, one)),
    },
    uptime: { figure: () => undefined, figuresAt: () => undefined, refreshFigures: async () => {} },
  };
  return { ...deps, states, attempts, names, reasons };
}

/** States of recordings at `north` without anything to say. */
export const statesOf = (fleet: readonly Pick<Recording, "id">[]) =>
  new Map(fleet.map(({ id }) => [id, { id, locationId: "north" } as RecordingState]));

/** The hours of 08:00 to 20:00 UTC are within the schedule. */
export const isOpen = (at: number) => at % DAY >= 8 * HOUR && at % DAY < 20 * HOUR;

/** Buckets of whole hours, all of whose segments came within `isWithin`, and none without. */
export function bucketsWithin(isWithin: (at: number) => boolean, from: number, to: number): UptimeBucket[] {
  return Array.from({ length: Math.floor((to - from) / HOUR) + 1 }, (_, i) => {
    const [at, withinSchedule] = [from + i * HOUR, isWithin(from + i * HOUR)];
    const segments = withinSchedule ? 60 : 0;
    const more = { withinSchedule, segmentsExpected: segments, segmentsReceived: segments };
    return anUptimeBucket(at, withinSchedule ? 1 : 0, more);
  });
}

export interface Served {
  readonly fleet: readonly Recording[];
  bucketsOf(recording: Recording, from: number): UptimeBucket[];
  /** Told of each question; what it throws is the answer. */
  asked?(query: { readonly start: string; readonly end: string; readonly recids: readonly string[] }): void;
}

/** Dependencies of refreshes of the uptime of a shard that was just swept. */
export function uptimeOver(
  { shards, uptime, inventory }: Store,
  clock: { readonly at: number },
  { fleet, bucketsOf, asked }: Served,
  { rules = [], recordings = statesOf(fleet) }: { rules?: readonly Rule[]; recordings?: ShardState["recordings"] } = {},
): RefreshUptimeDeps {
  return {
    clock: clockOf(clock),
    watch: { statusIntervalMs: STEP, uptimeIntervalMs: 10 * MINUTE },
    log: silentLogger,
    service: {
      async uptimes({ start, end, recids = [] }) {
        asked?.({ start, end, recids });
        const found = fleet.filter(({ id }) => recids.includes(id));
        const results = found.map((recording) => ({ recording, buckets: bucketsOf(recording, Date.parse(start)) }));
        return { results, dropped: 0 };
      },
    },
    store: {
      ...shards,
      read: async () => ({ nonce: "", state: { sweptAt: clock.at, locations: new Map(), recordings } }),
    },
    uptime,
    inventory,
    figures: figuresOf(rules),
    retainMs: uptimeRetentionMs(rules),
    indexTimezone: "recording",
  };
}
