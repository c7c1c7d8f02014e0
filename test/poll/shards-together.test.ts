/** Several shards swept in any order: recordings listed twice, moved, or missing everywhere. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Transition } from "../../src/health/evaluation.ts";
import type { Rule } from "../../src/health/model.ts";
import type { Reading } from "../../src/health/recording.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import {
  HOUR,
  INTERVAL,
  MINUTE,
  missingRule,
  offlineRule,
  reading,
  recording,
  START,
} from "../health/shard-history.ts";
import { memoryStores, plainSweep, rows, type SweepDeps } from "./rig.ts";

/** Sweeps of shards whose stores are in memory. `listed` gives the locations of each recording, `offline` their status. */
class World {
  at = START;
  readonly listed = new Map<string, readonly string[]>();
  readonly offline = new Set<string>();
  /** Every answer is empty. */
  empty = false;
  readonly stored = memoryStores();
  moved: string[] = [];
  readonly firing = new Map<string, Alert>();
  /** Shards that recordings moved to. */
  readonly joined: number[] = [];
  readonly sweep: (shard: number) => Promise<void>;
  readonly shards: readonly number[];

  constructor(assignments: ReadonlyMap<string, number>, rules: readonly Rule[]) {
    const { store, inventory, uptime, names } = this.stored;
    const assigned = createAssigned(async () => assignments);
    assigned.set(assignments);
    this.shards = assigned.shards();
    this.sweep = createSweep({
      ...plainSweep(this, { statusIntervalMs: INTERVAL }),
      ...{ store, inventory, uptime, assigned, rules },
      service: { statusUptime: async ({ entities }) => this.#answer(entities) },
      firing: async () => [...this.firing.values()],
      moved: (shard) => void this.joined.push(shard),
      nameThem: async (ids) => ids.forEach((id) => void (names.has(id) || this.readName(id, 0))),
      commit: {
        evaluation: async (transitions, write) => {
          const committed = await write([]);
          for (const { kind, alert } of transitions) this.#move(kind, alert);
          return committed;
        },
      } as Partial<SweepDeps["commit"]> as SweepDeps["commit"],
    });
  }

  /** The Core API knows one of the locations that list a recording. */
  readName(id: string, nth: number): void {
    const locations = this.listed.get(id) ?? [];
    const locationId = locations[nth % locations.length];
    if (locationId) this.stored.names.set(id, recording(id, { locationId }));
  }

  async rounds(count: number, everyMs = INTERVAL): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.at += everyMs;
      for (const shard of this.shards) await this.sweep(shard);
    }
  }

  #answer(entities: readonly string[]) {
    const listedAt = (locationId: string): Reading[] =>
      [...this.listed]
        .filter(([, locations]) => locations.includes(locationId) && !this.empty)
        .map(([id]) => reading(id, { locationId, status: this.offline.has(id) ? "offline" : "online" }));
    return rows(...entities.flatMap(listedAt));
  }

  /** As stored: an alert that does not fire cannot end. */
  #move(kind: Transition["kind"], alert: Alert): void {
    if (kind === "resolved" && !this.firing.delete(alert.id)) return;
    if (kind !== "resolved") this.firing.set(alert.id, alert);
    this.moved.push(`${kind} ${alert.id}`);
  }

  /** What all shards have of recordings. */
  known() {
    return [...this.stored.states.values()].flatMap(({ state }) => [...state.recordings.values()]);
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
const somePlaces = fc.array(someLocations, { minLength: 4, maxLength: 4 });

it("of shards that list the same recording exactly one evaluates it, whatever happened before, and its episode lasts", async () => {
  const holds = fc.asyncProperty(fc.array(event, { maxLength: 40 }), somePlaces, async (events, lists) => {
    const world = new World(LOCATIONS, [offlineRule()]);
    for (const [i, id] of IDS.entries()) world.listed.set(id, lists[i] ?? []);
    for (const one of events) {
      world.at += 1_000;
      if (one.kind === "sweep") await world.sweep(one.shard);
      else if (one.kind === "list") world.listed.set(one.id, one.locations);
      else if (one.kind === "named") world.readName(one.id, one.nth);
      else if (one.kind === "at once") await Promise.all(world.shards.map(world.sweep));
      else if (!world.offline.delete(one.id)) world.offline.add(one.id);
    }
    await world.rounds(8);
    const known = world.known();
    expect(known.map(({ id }) => id).sort()).toEqual(IDS);
    for (const { id, locationId } of known) expect(world.listed.get(id)).toContain(locationId);
    expect(IDS.filter((id) => !world.stored.names.has(id))).toEqual([]);
    const firing = known.filter(({ alerts }) => alerts?.RecordingOffline?.state === "firing");
    expect(firing.map(({ id }) => id).sort()).toEqual([...world.offline].sort());
    const episodes = firing.map(
      ({ id, alerts }) => `RecordingOffline/recording/${id}@${alerts?.RecordingOffline?.firedAt}`,
    );
    expect([...world.firing.keys()].sort()).toEqual(episodes.sort());
    world.moved = [];
    await world.rounds(4);
    expect(world.moved).toEqual([]);
  });
  // All recordings of a shard move at once: that its answer is empty is not believed.
  const allMove = [
    { kind: "sweep", shard: 1 } as const,
    ...["L0", "L1", "L3"].map((at, i) => ({ kind: "list" as const, id: IDS[i] ?? "", locations: [at] })),
  ];
  await fc.assert(holds, { numRuns: 40, examples: [[allMove, [["L2"], ["L2"], ["L2"], ["L3"]]]] });
});

it("the shard that does not evaluate a recording says why", async () => {
  const world = new World(LOCATIONS, [offlineRule()]);
  world.listed.set("a", ["L0", "L2"]);
  await world.rounds(3);
  expect(world.stored.reasons).toContain("a listed_elsewhere");
});

/** Ten shards of one location, with as many recordings each. */
function tenShards(each: number): World {
  const assignments = new Map(Array.from({ length: 10 }, (_, i) => [`L${i}`, i]));
  const world = new World(assignments, [offlineRule(), missingRule({ forMs: 10 * MINUTE })]);
  for (let i = 0; i < 10 * each; i++) world.listed.set(`r${i}`, [`L${i % 10}`]);
  return world;
}

it("answers that are empty everywhere, for however long, are not believed: nothing fires, ends or is forgotten", async () => {
  const [each, hours] = [fc.integer({ min: 1, max: 4 }), fc.constantFrom(1, 3, 23, 25, 30)];
  const holds = fc.asyncProperty(each, hours, async (each, hours) => {
    const world = tenShards(each);
    world.offline.add("r1");
    await world.rounds(1);
    expect(world.moved).toHaveLength(1);
    const before = new Map(world.stored.names);
    world.empty = true;
    await world.rounds(hours * 2, HOUR / 2);
    world.empty = false;
    await world.rounds(1);
    expect(world.moved).toHaveLength(1);
    expect(world.stored.names).toEqual(before);
    expect(world.known()).toHaveLength(10 * each);
  });
  await fc.assert(holds, { numRuns: 8 });
});

it("recordings that leave a fleet most of which is present are missing, and forgotten after forget_after", async () => {
  const holds = fc.asyncProperty(
    fc.integer({ min: 6, max: 8 }),
    fc.integer({ min: 1, max: 10 }),
    async (each, gone) => {
      const world = tenShards(each);
      await world.rounds(1);
      for (let i = 0; i < gone; i++) world.listed.delete(`r${i}`);
      await world.rounds(30);
      expect(world.moved.filter((moved) => moved.startsWith("firing RecordingMissing"))).toHaveLength(gone);
      await world.rounds(23 * 12, 5 * MINUTE);
      expect(world.stored.names.size, "after 23 hours").toBe(10 * each);
      await world.rounds(24, 5 * MINUTE);
      expect(world.stored.names.size).toBe(10 * each - gone);
    },
  );
  await fc.assert(holds, { numRuns: 2 });
});

it.each(["L1", "L2"])(
  "an offline recording that moves to %s, of its shard or another one, stays one episode",
  async (to) => {
    const rule = offlineRule({ forMs: 2 * MINUTE, keepFiringForMs: 5 * MINUTE });
    for (const named of ["before", "after"]) {
      const world = new World(LOCATIONS, [rule]);
      for (const [i, id] of IDS.entries()) world.listed.set(id, [`L${i}`]);
      world.offline.add("a");
      await world.rounds(10);
      const since = world.known().find(({ id }) => id === "a")?.since;
      world.listed.set("a", [to]);
      if (named === "before") world.readName("a", 0);
      await world.rounds(20);
      expect(world.moved.map((one) => one.replace(/@.*/, ""))).toEqual(["firing RecordingOffline/recording/a"]);
      expect(world.known().filter(({ id }) => id === "a")).toMatchObject([{ locationId: to, since }]);
      expect(world.joined, "its uptime is read there").toEqual(to === "L2" ? [1] : []);
      world.offline.delete("a");
      world.moved = [];
      await world.rounds(20);
      expect(world.moved.map((one) => one.replace(/ .*/, ""))).toEqual(["updated", "resolved"]);
    }
  },
);
