import { expect, it } from "vitest";
import { createReconcile, createWake } from "../../src/cluster/reconcile.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { createDigestSchedule } from "../../src/digest/schedule.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { DigestDue } from "../../src/store/digests.ts";
import type { Attempt } from "../../src/store/shards.ts";
import { HOUR, MINUTE, T0 } from "../store/fixtures.ts";

const good = (at: number): Attempt => ({ goodAt: at, attemptedAt: at });

/** Queues that only write down what they were asked to do. */
function notebook() {
  const calls: unknown[][] = [];
  return {
    took: () => calls.splice(0),
    queues: {
      add: async (queue: string, data: object, options: object = {}) => void calls.push(["add", queue, data, options]),
    },
  };
}

function reconcileOf(stored: [string, number][], attempt: Attempt | undefined) {
  const read = async () => {
    calls.push("assignments");
    return new Map(stored);
  };
  const assigned = createAssigned(read, undefined, async () => stored.length);
  assigned.set(new Map([["north", 0]]));
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
    inventory: { follow: async () => void calls.push("names") },
    followTicks: (attempts) => {
      calls.push(`ticks of ${attempts.size}`);
      throw new Error("down");
    },
    integrations: ["late", "soon"],
    enqueueDueDigests: async () => void calls.push("digests"),
    checkColdStart: async () => {},
    wake: async (due) => void woken.push(...due),
  });
  return { reconcile, calls, woken, assigned };
}

it("what is overdue is woken; a step that fails blocks no other", async () => {
  const { reconcile, calls, woken } = reconcileOf([["north", 0]], undefined);
  await reconcile();
  expect(woken).toEqual([["late", T0 - 301]]);
  expect(calls).toEqual(["ticks of 0", "digests"]);
});

it("follows what another replica assigned and listed, once for each inventory or where their number differs", async () => {
  const stored: [string, number][] = [
    ["north", 0],
    ["south", 1],
  ];
  const { reconcile, calls, assigned } = reconcileOf(stored, good(T0));
  const read = () => ["assignments", "names"].map((what) => calls.filter((call) => call === what).length);
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
