import { expect, it } from "vitest";
import type { Handler } from "../../src/cluster/queues.ts";
import type { SlotJob } from "../../src/cluster/schedulers.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { needOf, SlotJobs } from "../../src/cluster/slot-jobs.ts";
import { slotOf } from "../../src/cluster/slots.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { Attempt } from "../../src/store/shards.ts";
import { MINUTE, SECOND, T0 } from "../store/fixtures.ts";

const STATUS = 30 * SECOND;
const EVERY = 10 * MINUTE;
const good = (at: number): Attempt => ({ goodAt: at, attemptedAt: at });
const failed = (at: number): Attempt => ({ goodAt: 0, attemptedAt: at, error: "No answer." });
const attemptsAt = (at: number, ...subjects: string[]) => subjects.map((one): [string, Attempt] => [one, good(at)]);

/** A replica with the slots that it is given, whose rounds are written down and end when they are told to. */
function replicaOf(shards: number[], more: Partial<SlotJob> = {}) {
  const assigned = createAssigned();
  assigned.set(new Map(shards.map((shard) => [`location ${shard}`, shard])));
  const own = new Set(shards.map(slotOf));
  const workers = new Map<string, Handler>();
  const calls: unknown[][] = [];
  const signals: AbortSignal[] = [];
  const hanging = new Set<() => void>();
  const roundOf = (name: string) => (round: readonly number[], signal: AbortSignal) => {
    calls.push([name, ...round]);
    signals.push(signal);
    return new Promise<void>((resolve) => hanging.add(resolve));
  };
  const clock = { at: T0 };
  let stored = new Map<string, Attempt>();
  const deps: ConstructorParameters<typeof SlotJobs>[0] & { schedules: { takeOver(slot: number): Promise<void> } } = {
    clock: { now: () => clock.at },
    log: silentLogger,
    queues: {
      work: async (queue, concurrency, handler) => {
        expect(concurrency).toBe(1);
        workers.set(queue, handler);
      },
      drain: async (queue) => void workers.delete(queue),
    },
    replicas: { ownSlots: () => own },
    assigned,
    store: { attemptsOf: async () => stored },
    schedules: { takeOver: async (slot) => void calls.push(["take over", slot]) },
    statusIntervalMs: STATUS,
    sweep: roundOf("sweep"),
    slotJobs: [{ name: "uptime", everyMs: EVERY, round: roundOf("uptime"), ...more }],
  };
  const jobs = new SlotJobs(deps);
  const took = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return calls.splice(0);
  };
  return {
    ...{ own, clock, deps, jobs, took, workers, signals },
    follow: async (...attempts: [string, Attempt][]) => {
      stored = new Map(attempts);
      await jobs.follow(stored);
      return took();
    },
    end: () => hanging.forEach((resolve) => void resolve()),
  };
}

it("a slot that is taken is swept at once where a shard was not for half an interval", async () => {
  const overdue = replicaOf([1, 33]);
  const attempts = attemptsAt(T0, "shard:1", "uptime:1", "uptime:33");
  const taken = await overdue.follow(...attempts, ...attemptsAt(T0 - STATUS / 2 - 1, "shard:33"));
  expect(taken).toContainEqual(["sweep", 1, 33]);
  const swept = replicaOf([1, 33]);
  expect(await swept.follow(...attempts, ...attemptsAt(T0 - STATUS / 2, "shard:33"))).toEqual([
    ["take over", 1],
    ["uptime"],
  ]);
});

it("shards have a job as soon as they were swept, and where a slot is taken if half its interval is over", async () => {
  const { follow, workers, took, clock } = replicaOf([1, 33, 65]);
  const swept = attemptsAt(T0, "shard:1", "shard:33", "shard:65");
  expect(await follow(...attemptsAt(T0, "shard:33"), ["shard:1", failed(T0)], ["shard:65", failed(T0)])).toContainEqual(
    ["uptime", 33],
  );
  const young = attemptsAt(T0 - EVERY / 2 + 1, "uptime:1");
  const old = attemptsAt(T0 - EVERY / 2, "uptime:33");
  expect(await follow(...swept, ...young, ...old)).toEqual([["uptime", 65]]);
  await workers.get("sweep-1")?.({ name: "", data: { job: "uptime" } });
  expect(await took()).toEqual([["uptime", 33, 65]]);
  const next = replicaOf([1, 33, 65]);
  expect(await next.follow(...swept, ...young, ...old)).toContainEqual(["uptime", 33, 65]);
  clock.at += EVERY;
  expect(await follow(...swept, ...young, ...old, ...attemptsAt(T0, "uptime:65")), "its scheduler does that").toEqual(
    [],
  );
});

it("a round that hangs keeps no sweep waiting", async () => {
  const { follow, workers, took } = replicaOf([1]);
  await follow();
  for (const job of ["uptime", "uptime", "sweep", undefined])
    await workers.get("sweep-1")?.({ name: "", data: { job } });
  expect((await took()).toSorted()).toEqual([["sweep", 1], ["sweep", 1], ["uptime"], ["uptime"]]);
});

it("a slot that is left takes no jobs, and its rounds end; those of the others go on", async () => {
  const { follow, own, workers, signals, jobs, end } = replicaOf([1, 2]);
  const swept = attemptsAt(T0, "shard:1", "shard:2");
  const begun = await follow(...swept);
  own.delete(1);
  await follow(...swept);
  expect([...workers.keys()]).toEqual(["sweep-2"]);
  const isAborted = (round: string, shard: number) =>
    begun
      .filter(([what]) => what !== "take over")
      .flatMap(([what, one], i) => (what === round && one === shard ? [signals[i]?.aborted] : []));
  expect([isAborted("uptime", 1), isAborted("uptime", 2)]).toEqual([
    [true, true],
    [false, false],
  ]);
  let isStopped = false;
  const stopped = jobs.stop().then(() => {
    isStopped = true;
  });
  expect(isAborted("uptime", 2)).toEqual([true, true]);
  expect(await follow(...swept), "nothing is begun").toEqual([]);
  expect(isStopped).toBe(false);
  end();
  await stopped;
});

const swept = attemptsAt(T0, "shard:1");
const uptimeFailed = (ago: number): [string, Attempt] => ["uptime:1", failed(T0 - ago)];
const retried = { retryMs: () => MINUTE };
it.each<[string, Partial<SlotJob>, [string, Attempt][], string]>([
  ["not swept yet", {}, [["shard:1", failed(T0)]], "none"],
  ["unreadable since it was swept", {}, [["shard:1", { ...failed(T0), goodAt: T0 - 1, fault: "unreadable" }]], "none"],
  ["swept, never attempted", {}, swept, "at_once"],
  ["after another job", { after: "details" }, swept, "none"],
  ["after another job that failed", { after: "details" }, [...swept, ["details:1", failed(T0)]], "at_once"],
  ["failed just now", retried, [...swept, uptimeFailed(MINUTE - 1)], "none"],
  ["failed a while ago", retried, [...swept, uptimeFailed(MINUTE)], "at_once"],
  ["failed, and not to be tried again before its time", {}, [...swept, uptimeFailed(MINUTE)], "none"],
  ["good a while ago", retried, [...swept, ...attemptsAt(T0 - MINUTE, "uptime:1")], "none"],
])("a shard that was %s", (_, more, attempts, need) => {
  const job: SlotJob = { name: "uptime", everyMs: EVERY, round: async () => {}, ...more };
  expect(needOf(job, 1, new Map(attempts), T0)).toBe(need);
});
