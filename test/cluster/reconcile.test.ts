import { expect, it } from "vitest";
import { createReconcile, createWake } from "../../src/cluster/reconcile.ts";
import type { SlotJob } from "../../src/cluster/schedulers.ts";
import { Schedulers } from "../../src/cluster/schedulers.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { createDigestSchedule } from "../../src/digest/schedule.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { DigestDue } from "../../src/store/digests.ts";
import type { Attempt } from "../../src/store/shards.ts";
import { HOUR, MINUTE, SECOND, T0 } from "../store/fixtures.ts";

const STATUS = 30 * SECOND;
const good = (at: number): Attempt => ({ goodAt: at, attemptedAt: at });

/** Queues that only write down what they were asked to do. */
function notebook() {
  const calls: unknown[][] = [];
  const schedulers: Record<string, string[]> = { sweep: [], upkeep: [] };
  const waiting: Record<string, ReadonlySet<string>> = {};
  return {
    ...{ calls, schedulers, waiting },
    took: () => calls.splice(0),
    queues: {
      every: async (queue: string, id: string, everyMs: number, _: object, offsetMs?: number) =>
        void calls.push(["every", queue, id, everyMs, ...(offsetMs ? [offsetMs] : [])]),
      stop: async (queue: string, id: string) => void calls.push(["stop", queue, id]),
      schedulers: async (queue: string) => schedulers[queue] ?? [],
      waiting: async (queue: string) => waiting[queue] ?? new Set<string>(),
      add: async (queue: string, data: object, options: object = {}) => void calls.push(["add", queue, data, options]),
    },
  };
}

function schedulesOf(assignments: [string, number][] | undefined, slotJobs: Pick<SlotJob, "name" | "everyMs">[] = []) {
  const book = notebook();
  const clock = { at: T0 };
  const assigned = createAssigned();
  if (assignments) assigned.set(new Map(assignments));
  const schedules = new Schedulers({
    clock: { now: () => clock.at },
    queues: book.queues,
    assigned,
    statusIntervalMs: STATUS,
    inventoryIntervalMs: HOUR,
    requestTimeoutMs: 8 * SECOND,
    slotJobs,
  });
  return {
    ...book,
    assert: (attempts: ReadonlyMap<string, Attempt> = new Map()) => schedules.assert(attempts),
    revive: (attempts: ReadonlyMap<string, Attempt>) => schedules.revive(attempts),
    takeOver: (slot: number) => schedules.takeOver(slot),
    clock,
    assigned,
  };
}

it("there is a scheduler for the inventory, the service, and each job of each slot, at its time", async () => {
  const assignments: [string, number][] = [
    ["north", 0],
    ["east", 16],
    ["west", 32],
  ];
  const { assert, took } = schedulesOf(assignments, [
    { name: "uptime", everyMs: 10 * MINUTE },
    { name: "details", everyMs: HOUR },
  ]);
  await assert();
  expect(took().filter(([what]) => what === "every")).toEqual([
    ["every", "upkeep", "inventory", HOUR],
    ["every", "upkeep", "fleet", STATUS],
    ["every", "sweep-0", "slot-0", STATUS],
    ["every", "sweep-0", "uptime-0", 10 * MINUTE],
    ["every", "sweep-0", "details-0", HOUR],
    ["every", "sweep-16", "slot-16", STATUS, STATUS / 2],
    ["every", "sweep-16", "uptime-16", 10 * MINUTE, 5 * MINUTE],
    ["every", "sweep-16", "details-16", HOUR, HOUR / 2],
  ]);
});

it("a shard that lost all its locations is swept a last time; before they are known none is stopped", async () => {
  const known = schedulesOf([["north", 0]]);
  known.schedulers["sweep-0"] = ["slot-0"];
  known.schedulers["sweep-7"] = ["slot-7"];
  known.schedulers.upkeep = ["inventory", "fleet"];
  const attempts = new Map(["shard:0", "uptime:7", "shard:7"].map((subject) => [subject, good(T0)]));
  await known.assert(attempts);
  expect(known.took().filter(([what]) => what !== "every")).toEqual([
    ["stop", "sweep-7", "slot-7"],
    ["add", "sweep", { shard: 7 }, { id: "shard-7" }],
  ]);
  const unknown = schedulesOf(undefined);
  unknown.schedulers["sweep-0"] = ["slot-0"];
  await unknown.assert(attempts);
  expect(unknown.took().filter(([what]) => what !== "every")).toEqual([]);
});

it("a slot is begun again with all its jobs once none of its shards was swept, unless it waits for a worker", async () => {
  const assignments: [string, number][] = [
    ["north", 1],
    ["south", 33],
  ];
  const { revive, took, clock, waiting } = schedulesOf(assignments, [{ name: "uptime", everyMs: HOUR }]);
  await revive(new Map());
  clock.at += 2 * STATUS + SECOND + 1;
  const others = ["inventory", "fleet"].map((one): [string, Attempt] => [one, good(clock.at)]);
  await revive(new Map([...others, ["shard:33", good(clock.at)]]));
  waiting["sweep-1"] = new Set(["slot-1"]);
  await revive(new Map(others));
  expect(took().filter(([what]) => what === "every")).toEqual([]);
  delete waiting["sweep-1"];
  await revive(new Map(others));
  await revive(new Map(others));
  expect(took().toSorted(([a], [b]) => String(b).localeCompare(String(a)))).toEqual([
    ["stop", "sweep-1", "slot-1"],
    ["stop", "sweep-1", "uptime-1"],
    ["every", "sweep-1", "slot-1", STATUS, Math.floor(STATUS / 32)],
    ["every", "sweep-1", "uptime-1", HOUR, Math.floor(HOUR / 32)],
    ["add", "sweep-1", { job: "sweep" }, { id: "now-slot-1" }],
  ]);
});

it.each<[string, Attempt[]]>([
  ["does not sweep", []],
  ["cannot read", [{ goodAt: T0, attemptedAt: T0 + HOUR, fault: "unreadable", error: "x" }]],
])("a shard that its replica %s for longer than an answer takes is swept by any other", async (_, tried) => {
  const { revive, took, clock } = schedulesOf([
    ["north", 1],
    ["south", 33],
  ]);
  const swept = () =>
    new Map([
      ...["inventory", "fleet", "shard:33"].map((one): [string, Attempt] => [one, good(clock.at)]),
      ...tried.map((attempt): [string, Attempt] => ["shard:1", attempt]),
    ]);
  await revive(swept());
  clock.at += 2 * STATUS + SECOND + 8 * SECOND;
  await revive(swept());
  expect(took()).toEqual([]);
  clock.at += 1;
  await revive(swept());
  await revive(swept());
  expect(took()).toEqual([["add", "sweep", { shard: 1 }, { id: "shard-1" }]]);
});

it("a job that is silent after the clock went back is begun again as soon as any other", async () => {
  const { assert, revive, took, clock } = schedulesOf([["north", 0]]);
  await assert();
  took();
  clock.at -= HOUR;
  await revive(new Map());
  clock.at += 2 * STATUS + SECOND + 1;
  await revive(new Map());
  expect(took().filter(([what, queue]) => what === "every" && queue === "sweep-0")).toHaveLength(1);
});

function upkeepOf(stored: [string, number][], attempt: Attempt | undefined, known = true) {
  const read = async () => {
    calls.push("assignments");
    return new Map(stored);
  };
  const assigned = createAssigned(read, undefined, async () => stored.length);
  if (known) assigned.set(new Map([["north", 0]]));
  const calls: string[] = [];
  const woken: [string, number][] = [];
  const reconcile = createReconcile({
    clock: { now: () => T0 },
    log: silentLogger,
    followClock: async () => {},
    groups: {
      nextDue: async () =>
        new Map([
          ["late", T0 - 301],
          ["soon", T0 - 299],
        ]),
    },
    store: { attempts: async () => new Map(attempt ? [["inventory", attempt]] : []) },
    assigned,
    inventory: { loadLocations: async () => void calls.push("locations") },
    schedules: {
      revive: async () => {
        calls.push("revive");
        throw new Error("down");
      },
    },
    integrations: ["late", "soon"],
    statusIntervalMs: STATUS,
    enqueueDueDigests: async () => void calls.push("digests"),
    refill: async () => void calls.push("refill"),
    checkColdStart: async () => {},
    wake: async (due) => void woken.push(...due),
  });
  return { reconcile, calls, woken, assigned };
}

it("what is overdue is woken; a step that fails blocks no other", async () => {
  const { reconcile, calls, woken } = upkeepOf([["north", 0]], undefined);
  await reconcile();
  expect(woken).toEqual([["late", T0 - 301]]);
  expect(calls).toEqual(["revive", "digests"]);
});

it("follows what another replica assigned and listed, once for each inventory or where their number differs", async () => {
  const stored: [string, number][] = [
    ["north", 0],
    ["south", 1],
  ];
  const { reconcile, calls, assigned } = upkeepOf(stored, good(T0));
  const read = () => ["assignments", "locations"].map((what) => calls.filter((call) => call === what).length);
  await reconcile();
  await reconcile();
  expect(assigned.shards()).toEqual([0, 1]);
  expect(read()).toEqual([1, 1]);
  stored.push(["east", 2]);
  await reconcile();
  await reconcile();
  expect(assigned.shards()).toEqual([0, 1, 2]);
  expect(read()).toEqual([2, 1]);
});

it.for<[string, boolean, Attempt | undefined, boolean]>([
  ["an emptied Redis is filled at once", true, undefined, true],
  ["before the first list there is nothing to fill", false, undefined, false],
  [
    "a first list that failed is asked for again after an interval",
    true,
    { goodAt: 0, attemptedAt: T0 - STATUS, error: "x" },
    false,
  ],
  ["and not before", false, { goodAt: 0, attemptedAt: T0 - STATUS + 1, error: "x" }, false],
  ["an account without locations is looked at as often", true, good(T0 - STATUS), true],
])("%s", async ([, refilled, attempt, known]) => {
  const { reconcile, calls, assigned } = upkeepOf([], attempt, known);
  await reconcile();
  expect(calls.includes("refill")).toBe(refilled);
  expect(assigned.shards()).toEqual(known ? [0] : []);
});

it("a wake-up is a job at its time, those of 20 ms one and the same", async () => {
  const { queues, took } = notebook();
  const wake = createWake(queues, { now: () => T0 });
  await wake(new Map([["ops/slack/0", T0 - 1]]));
  await wake(new Map([["ops/slack/0", T0 + 101]]));
  await wake(new Map([["ops/slack/0", T0 + 119]]));
  const [now, first, second] = took();
  expect(now).toEqual(["add", "deliver", { integration: "ops/slack/0" }, {}]);
  expect(first).toEqual(second);
  expect(first?.[3]).toMatchObject({ delayMs: 120 });
  expect(first?.[3]).toMatchObject({ id: expect.stringMatching(/^[\w-]+$/) });
});

const daily = { name: "daily ops", cron: "0 8 * * *", timezone: "Europe/London" };
const EIGHT = Date.parse("2026-03-28T08:00:00Z");
const DAY = 24 * HOUR;

function digestsOf(digests: readonly (typeof daily)[], due: [string, DigestDue][] = []) {
  const { queues, took } = notebook();
  const stored = new Map(due);
  const clock = { at: EIGHT - HOUR };
  const look = createDigestSchedule({
    clock: { now: () => clock.at },
    log: silentLogger,
    queues,
    store: {
      schedule: async () => new Map(stored),
      reschedule: async (name, entry) => void stored.set(name, entry),
      unschedule: async (name) => void stored.delete(name),
    },
    digests,
  });
  return { look, took, stored, clock };
}

it("a digest is due by its cron and zone, once, also over a clock change", async () => {
  const { look, took, clock } = digestsOf([daily]);
  const jobs: number[] = [];
  for (; clock.at <= EIGHT + 2 * DAY; clock.at += 30 * MINUTE) {
    await look();
    jobs.push(...took().map(([, , data]) => (data as { at: number }).at));
  }
  expect(jobs).toEqual([EIGHT, EIGHT + DAY - HOUR, EIGHT + 2 * DAY - HOUR]);
});

it("one missed while nobody was there is made up for; of several the latest", async () => {
  const entry = { spec: "0 8 * * * Europe/London", dueAt: EIGHT - 5 * DAY };
  const { look, took, stored, clock } = digestsOf([daily], [["daily ops", entry]]);
  clock.at = EIGHT + 2 * HOUR;
  await look();
  await look();
  expect(took()).toEqual([["add", "digest", { digest: "daily ops", at: EIGHT }, { id: expect.any(String) }]]);
  expect(stored.get("daily ops")?.dueAt).toBe(EIGHT + DAY - HOUR);
});

it("a new digest, or another cron, sends nothing of the past; a removed one is deleted", async () => {
  const old = { spec: "0 7 * * * Europe/London", dueAt: EIGHT - DAY };
  const { look, took, stored } = digestsOf(
    [daily],
    [
      ["daily ops", old],
      ["gone", old],
    ],
  );
  await look();
  expect(took()).toEqual([]);
  expect([...stored]).toEqual([["daily ops", { spec: "0 8 * * * Europe/London", dueAt: EIGHT }]]);
});

it("one that can never be due blocks no other", async () => {
  const never = { ...daily, name: "never", cron: "0 0 31 2 *" };
  const { look, stored } = digestsOf([never, daily]);
  await look();
  expect([...stored.keys()]).toEqual(["daily ops"]);
});
