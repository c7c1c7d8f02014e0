/** Several shards swept in any order: recordings listed twice, moved, or missing everywhere. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import type { Rule } from "../../src/health/model.ts";
import type { Reading, Recording } from "../../src/health/recording.ts";
import type { ShardState } from "../../src/health/shard-state.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import type { Attempt } from "../../src/store/shards.ts";
import {
  emptyShard,
  HOUR,
  INTERVAL,
  MINUTE,
  missingRule,
  offlineRule,
  reading,
  recording,
  START,
} from "../health/shard-history.ts";

type SweepDeps = Parameters<typeof createSweep>[0];

/** Sweeps of shards whose stores are in memory. `listed` gives the locations of each recording, `offline` their status. */
class World {
  now = START;
  readonly listed = new Map<string, readonly string[]>();
  readonly offline = new Set<string>();
  /** Every answer is empty. */
  empty = false;
  readonly states = new Map<number, ShardState>();
  readonly attempts = new Map<string, Attempt>();
  revision = 0;
  readonly names = new Map<string, Recording>();
  moved: string[] = [];
  reasons: string[] = [];
  readonly sweep: (shard: number) => Promise<void>;
  readonly shards: readonly number[];

  constructor(assignments: ReadonlyMap<string, number>, rules: readonly Rule[]) {
    const assigned = createAssigned(async () => assignments);
    assigned.set(assignments);
    this.shards = assigned.shards();
    this.sweep = createSweep({
      clock: { now: () => this.now },
      log: silentLogger,
      service: { statusUptime: async ({ entities }) => this.#answer(entities) },
      store: {
        read: async (shard) => ({ nonce: "", state: this.states.get(shard) ?? emptyShard }),
        attempts: async () => new Map(this.attempts),
        commitShard: async (shard, { state, sweep, now, lines = [] }) => {
          this.states.set(shard, state);
          this.attempts.set(`shard:${shard}`, { goodAt: now, attemptedAt: now, ...sweep });
          this.reasons.push(...lines.map(({ subject, reason }) => `${subject.id} ${reason}`));
          return { outcome: "stored", nonce: "", wake: new Map() };
        },
        noteAttempt: async () => {},
        forgetShard: async () => {},
      },
      assigned,
      inventory: {
        recording: (id) => this.names.get(id),
        location: () => undefined,
        revision: () => ++this.revision,
        forget: async (ids) => ids.forEach((id) => void this.names.delete(id)),
        saveRecordings: async (rows) => rows.forEach((row) => void this.names.set(row.id, row)),
      },
      nameThem: async (ids) => ids.forEach((id) => void (this.names.has(id) || this.readName(id, 0))),
      uptime: { figure: () => undefined, below: () => new Set(), refreshFigures: async () => {} },
      schedules: () => ({ scheduleOf: () => undefined, scheduleBegan: () => undefined, inSchedule: () => true }),
      rules,
      watch: {
        exclude: [],
        forgetAfterMs: 24 * HOUR,
        statusIntervalMs: INTERVAL,
        uptimeIntervalMs: HOUR,
        locationsPerRequest: 9,
      },
      commit: {
        evaluation: async (transitions, write) => {
          this.moved.push(...transitions.map(({ kind, alert }) => `${kind} ${alert.id}`));
          return write([]);
        },
      } as Partial<SweepDeps["commit"]> as SweepDeps["commit"],
      swept: () => {},
    });
  }

  /** The Core API knows one of the locations that list a recording. */
  readName(id: string, nth: number): void {
    const locations = this.listed.get(id) ?? [];
    const locationId = locations[nth % locations.length];
    if (locationId) this.names.set(id, recording(id, { locationId }));
  }

  async round(): Promise<void> {
    this.now += INTERVAL;
    for (const shard of this.shards) await this.sweep(shard);
  }

  #answer(entities: readonly string[]) {
    const readings = entities.flatMap((locationId): Reading[] =>
      [...this.listed]
        .filter(([, locations]) => locations.includes(locationId) && !this.empty)
        .map(([id]) => reading(id, { locationId, status: this.offline.has(id) ? "offline" : "online" })),
    );
    return { readings, unreadable: [], unidentified: 0 };
  }

  /** The shards that have each recording, with its location there. */
  owners(id: string): string[] {
    return [...this.states.values()].flatMap(({ recordings }) => recordings.get(id)?.locationId ?? []);
  }

  firing(): string[] {
    return [...this.states.values()].flatMap(({ recordings }) =>
      [...recordings.values()].filter(({ alerts }) => alerts?.RecordingOffline?.state === "firing").map(({ id }) => id),
    );
  }
}

const LOCATIONS = new Map([
  ["L0", 0],
  ["L1", 0],
  ["L2", 1],
  ["L3", 2],
]);
const IDS = ["a", "b", "c", "d"];
const someId = fc.constantFrom(...IDS);
const someLocations = fc.subarray([...LOCATIONS.keys()], { minLength: 1, maxLength: 2 });
const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("sweep" as const), shard: fc.constantFrom(0, 1, 2) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("list" as const), id: someId, locations: someLocations }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("status" as const), id: someId }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("named" as const), id: someId, nth: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "at once" as const }) },
);

it("of shards that list the same recording exactly one evaluates it, whatever happened before, and its episode lasts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 40 }),
      fc.array(someLocations, { minLength: 4, maxLength: 4 }),
      async (events, lists) => {
        const world = new World(LOCATIONS, [offlineRule()]);
        for (const [i, id] of IDS.entries()) world.listed.set(id, lists[i] ?? []);
        for (const one of events) {
          world.now += 1_000;
          if (one.kind === "sweep") await world.sweep(one.shard);
          else if (one.kind === "list") world.listed.set(one.id, one.locations);
          else if (one.kind === "named") world.readName(one.id, one.nth);
          else if (one.kind === "at once") await Promise.all(world.shards.map(world.sweep));
          else if (!world.offline.delete(one.id)) world.offline.add(one.id);
        }
        for (let i = 0; i < 8; i++) await world.round();
        for (const id of IDS) {
          const owners = world.owners(id);
          expect(owners).toHaveLength(1);
          expect(world.listed.get(id)).toContain(owners[0]);
          expect(world.names.get(id)).toBeDefined();
        }
        expect(world.firing().sort()).toEqual([...world.offline].sort());
        const ended = world.moved.filter((moved) => moved.startsWith("resolved")).map((moved) => moved.slice(9));
        for (const { alerts } of [...world.states.values()].flatMap(({ recordings }) => [...recordings.values()])) {
          for (const { firedAt, labels } of Object.values(alerts ?? {}))
            expect(ended).not.toContain(`RecordingOffline/recording/${labels.recording_id}@${firedAt}`);
        }
        world.moved = [];
        for (let i = 0; i < 4; i++) await world.round();
        expect(world.moved).toEqual([]);
      },
    ),
    {
      numRuns: 150,
      examples: [
        // All recordings of a shard move at once: that its answer is empty is not believed.
        [
          [
            { kind: "sweep", shard: 1 },
            { kind: "list", id: "a", locations: ["L0"] },
            { kind: "list", id: "b", locations: ["L1"] },
            { kind: "list", id: "c", locations: ["L3"] },
          ],
          [["L2"], ["L2"], ["L2"], ["L3"]],
        ],
      ],
    },
  );
});

it("the shard that does not evaluate a recording says why", async () => {
  const world = new World(LOCATIONS, [offlineRule()]);
  world.listed.set("a", ["L0", "L2"]);
  for (let i = 0; i < 3; i++) await world.round();
  expect(world.reasons).toContain("a listed_elsewhere");
});

/** Ten shards of one location, with as many recordings each. */
function tenShards(each: number): World {
  const world = new World(new Map(Array.from({ length: 10 }, (_, i) => [`L${i}`, i])), [
    offlineRule(),
    missingRule({ forMs: 10 * MINUTE }),
  ]);
  for (let i = 0; i < 10 * each; i++) world.listed.set(`r${i}`, [`L${i % 10}`]);
  return world;
}

it("answers that are empty everywhere, for however long, are not believed: nothing fires, ends or is forgotten", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 60 }), async (each, hours) => {
      const world = tenShards(each);
      world.offline.add("r1");
      await world.round();
      expect(world.moved).toHaveLength(1);
      const before = new Map(world.names);
      world.empty = true;
      for (let i = 0; i < hours * 6; i++) {
        world.now += 10 * MINUTE - INTERVAL;
        await world.round();
      }
      world.empty = false;
      await world.round();
      expect(world.moved).toHaveLength(1);
      expect(world.names).toEqual(before);
      expect([...world.states.values()].reduce((sum, { recordings }) => sum + recordings.size, 0)).toBe(10 * each);
    }),
    { numRuns: 20 },
  );
});

it("recordings that leave a fleet most of which is present are missing, and forgotten after forget_after", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 6, max: 12 }), fc.integer({ min: 1, max: 10 }), async (each, gone) => {
      const world = tenShards(each);
      await world.round();
      for (let i = 0; i < gone; i++) world.listed.delete(`r${i}`);
      for (let i = 0; i < 30; i++) await world.round();
      expect(world.moved.filter((moved) => moved.startsWith("firing RecordingMissing"))).toHaveLength(gone);
      for (let i = 0; i < 24 * 60; i++) {
        world.now += MINUTE - INTERVAL;
        await world.round();
      }
      expect(world.names.size).toBe(10 * each - gone);
    }),
    { numRuns: 5 },
  );
});
