/** Replicas that share shards, in time that passes as the test lets it. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type FleetJob, OwnTicks, type ShardJob } from "../../src/cluster/own-ticks.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { ranksOf, slotOf } from "../../src/cluster/slots.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { T0 } from "../store/fixtures.ts";

beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterAll(() => void vi.useRealTimers());

const EVERY = 10_000;
const TIMEOUT = 2_000;
const AWAY_MS = 3_000;
const STEP_MS = 500;
const SHARDS = [0, 1, 2, 31, 33, 40, 64];

/** What Redis has, and the time of all replicas. */
class Shared {
  ahead = 0;
  sweepMs = 0;
  readonly attempts = new Map<string, Attempt>();
  readonly reportedAt = new Map<string, number>();
  readonly sweeps: { readonly shard: number; readonly at: number }[] = [];
  readonly backSteps: { readonly at: number; readonly ms: number }[] = [];
  readonly now = () => T0 + Math.round(performance.now()) + this.ahead;

  step(ms: number): void {
    this.ahead += ms;
    if (ms < 0) this.backSteps.push({ at: performance.now(), ms: -ms });
  }
}

/** A replica reports itself and follows every second while it is not frozen; what is under way goes on afterwards. */
class Replica {
  readonly id: string;
  readonly jobs: string[] = [];
  isFrozen = false;
  /** It reports itself, and its sweeps hang. */
  isWedged = false;
  /** It is of an earlier build than what is stored. */
  cannotRead = false;
  readonly #shared: Shared;
  readonly #ticks: OwnTicks;
  #sharing: readonly string[] = [];
  #thaw = Promise.withResolvers<void>();
  #followedAt = Number.NEGATIVE_INFINITY;

  constructor(id: string, shared: Shared, more: Partial<ConstructorParameters<typeof OwnTicks>[0]> = {}) {
    this.id = id;
    this.#shared = shared;
    const assigned = createAssigned();
    assigned.set(new Map(SHARDS.map((shard) => [`location ${shard}`, shard])));
    const attempted = (subject: string) => {
      const now = shared.now();
      shared.attempts.set(subject, { goodAt: now, attemptedAt: now });
      this.jobs.push(subject);
    };
    const sweep: ShardJob = {
      ...{ name: "shard", everyMs: EVERY },
      run: async (shard) => {
        if (shared.sweepMs > 0) await new Promise((resolve) => setTimeout(resolve, shared.sweepMs));
        while (this.isFrozen) await this.#thaw.promise;
        if (this.isWedged) return new Promise<void>(() => {});
        const { goodAt = 0 } = shared.attempts.get(`shard:${shard}`) ?? {};
        attempted(`shard:${shard}`);
        if (this.cannotRead)
          return shared.attempts.set(`shard:${shard}`, { goodAt, attemptedAt: shared.now(), fault: "unreadable" });
        shared.sweeps.push({ shard, at: performance.now() });
      },
    };
    const fleet: FleetJob = { name: "fleet", everyMs: EVERY, run: async () => attempted("fleet") };
    this.#ticks = new OwnTicks({
      ...{ clock: shared, log: silentLogger, assigned, sweep, shardJobs: [], fleetJobs: [fleet] },
      replicas: { ranks: (slots) => ranksOf(id, slots, this.#sharing) },
      requestTimeoutMs: TIMEOUT,
      ...more,
    });
  }

  /** Once in a step of time. */
  act(): void {
    if (this.isFrozen || performance.now() - this.#followedAt < 1_000) return;
    this.#followedAt = performance.now();
    const { reportedAt, attempts } = this.#shared;
    reportedAt.set(this.id, performance.now());
    this.#sharing = [...reportedAt].flatMap(([id, at]) => (performance.now() - at <= AWAY_MS ? id : []));
    this.#ticks.follow(new Map(attempts));
  }

  freeze(isFrozen: boolean): void {
    this.isFrozen = isFrozen;
    this.#thaw.resolve();
    this.#thaw = Promise.withResolvers();
  }

  /** Killed, or stopped: then the others learn of it at once. */
  end(isClean: boolean): void {
    this.isWedged = true;
    void this.#ticks.stop();
    if (isClean) this.#shared.reportedAt.delete(this.id);
  }
}

async function passes(ms: number, replicas: Iterable<Replica>): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    for (const replica of replicas) replica.act();
    await vi.advanceTimersByTimeAsync(STEP_MS);
  }
}

/** The longest time that a shard was not swept, from the beginning to now; clocks that went back meanwhile may add as much. */
function longestGap({ sweeps, backSteps }: Shared, since: number): number {
  const gaps = SHARDS.flatMap((one) => {
    const times = sweeps.flatMap(({ shard, at }) => (shard === one && at >= since ? at : []));
    return [since, ...times].map((time, i, all) => {
      const end = all[i + 1] ?? performance.now();
      const back = backSteps.filter(({ at }) => at >= time && at <= end).map(({ ms }) => ms);
      return end - time - back.reduce((sum, ms) => sum + ms, 0);
    });
  });
  return Math.max(...gaps);
}

const event = fc.record({
  afterMs: fc.integer({ min: 0, max: 3 * EVERY }),
  what: fc.constantFrom("comes", "killed", "stops", "freezes", "thaws", "steps"),
  whom: fc.nat(9),
  ms: fc.integer({ min: -4 * EVERY, max: 4 * EVERY }),
});

it("while one replica lives, each shard is swept within an interval of the time at which another one counts as gone", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 14, size: "max" }), async (events) => {
      const shared = new Shared();
      const alive = new Set([new Replica("first", shared)]);
      const began = performance.now();
      for (const [i, { afterMs, what, whom, ms }] of events.entries()) {
        await passes(afterMs, alive);
        const frozen = [...alive].filter(({ isFrozen }) => isFrozen);
        const awake = [...alive].filter(({ isFrozen }) => !isFrozen);
        const one = awake[whom % awake.length] as Replica;
        if (what === "steps") shared.step(ms);
        if (what === "comes") alive.add(new Replica(`replica ${i}`, shared));
        if (what === "thaws") frozen[whom % frozen.length]?.freeze(false);
        if (awake.length < 2) continue;
        if (what === "freezes") one.freeze(true);
        if (what !== "killed" && what !== "stops") continue;
        alive.delete(one);
        one.end(what === "stops");
      }
      await passes(2 * EVERY, alive);
      // Reported and followed each second, in steps of time.
      expect(longestGap(shared, began)).toBeLessThanOrEqual(1.25 * EVERY + AWAY_MS + 3_000);
      for (const replica of alive) replica.end(true);
    }),
    { numRuns: 100 },
  );
}, 60_000);

it("replicas that come and stay sweep each shard once in an interval", async () => {
  const shared = new Shared();
  const replicas = ["a", "b", "c"].map((id) => new Replica(id, shared));
  await passes(2 * EVERY, replicas);
  shared.sweeps.length = 0;
  await passes(10 * EVERY, replicas);
  expect(shared.sweeps).toHaveLength(10 * SHARDS.length);
  for (const replica of replicas) replica.end(true);
});

it.each(["isWedged", "cannotRead"] as const)(
  "a replica that reports itself and does not sweep (%s) is relieved by the next in rank, one at a time",
  async (fault) => {
    const shared = new Shared();
    const replicas = ["a", "b", "c"].map((id) => new Replica(id, shared));
    await passes(3 * EVERY, replicas);
    const [wedged, ...others] = replicas;
    if (wedged) wedged[fault] = true;
    for (const { jobs } of others) jobs.length = 0;
    shared.sweeps.length = 0;
    const began = performance.now();
    await passes(20 * EVERY, replicas);
    expect(longestGap(shared, began)).toBeLessThanOrEqual(4 * EVERY + TIMEOUT + 2_000);
    const own = ranksOf("a", SHARDS.map(slotOf), ["a", "b", "c"]);
    const left = SHARDS.filter((shard) => own.get(slotOf(shard)) === 0);
    expect(left.length).toBeGreaterThan(0);
    for (const shard of left) {
      const by = others.filter(({ jobs }) => jobs.includes(`shard:${shard}`));
      expect(by).toHaveLength(1);
    }
    for (const replica of others) replica.end(true);
  },
);

it("attempts that are old after a pause of everything are no reason to relieve others", async () => {
  const shared = new Shared();
  const replicas = ["a", "b", "c"].map((id) => new Replica(id, shared));
  shared.sweepMs = 1_500;
  await passes(3 * EVERY, replicas);
  shared.sweeps.length = 0;
  shared.ahead += 100 * EVERY;
  await passes(EVERY, replicas);
  expect(shared.sweeps.length).toBeLessThanOrEqual(2 * SHARDS.length);
  for (const replica of replicas) replica.end(true);
});

it("a job with a need runs when it is needed: at once, or at its time; a shard that is not assigned is only swept", async () => {
  const shared = new Shared();
  let need: "none" | "in_time" | "at_once" = "none";
  const ran: number[] = [];
  const uptime: ShardJob = { name: "uptime", everyMs: EVERY, need: () => need, run: async (shard) => ran.push(shard) };
  const replica = new Replica("a", shared, { shardJobs: [uptime] });
  shared.attempts.set("shard:7", { goodAt: 1, attemptedAt: 1 });
  await passes(2 * EVERY, [replica]);
  expect(ran).toEqual([]);
  expect(replica.jobs.filter((job) => job === "shard:7").length).toBeGreaterThan(0);
  need = "in_time";
  await passes(EVERY, [replica]);
  expect(ran.toSorted((a, b) => a - b)).toEqual(SHARDS);
  need = "at_once";
  await passes(2_000, [replica]);
  expect(ran.length).toBeGreaterThanOrEqual(2 * SHARDS.length);
  replica.end(true);
});
