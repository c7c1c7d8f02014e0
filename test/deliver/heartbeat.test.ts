import { expect, it } from "vitest";
import { createHeartbeat, type HeartbeatOutcome } from "../../src/deliver/heartbeat.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { MINUTE, SECOND, T0 } from "../store/fixtures.ts";

const good = { goodAt: T0, attemptedAt: T0 };

/** A switch at T0, with the last sweeps of shards. */
function heartbeatWith(shards: Attempt[], { isOurs = true, fleet = good }: { isOurs?: boolean; fleet?: Attempt } = {}) {
  const attempts = shards.map((attempt, shard): [string, Attempt] => [`shard:${shard}`, attempt]);
  const outcomes: HeartbeatOutcome[] = [];
  const asked: number[] = [];
  const clock = { at: T0 };
  const heartbeat = createHeartbeat({
    clock: { now: () => clock.at },
    log: silentLogger,
    queues: { add: async () => void asked.push(clock.at) },
    store: { attempts: async () => new Map([...attempts, ["fleet", fleet]]) },
    assigned: { shards: () => [...shards.keys()] },
    intervalMs: MINUTE,
    intervals: {
      intervalMs: 10 * SECOND,
      uptimeIntervalMs: 10 * MINUTE,
      inventoryIntervalMs: 60 * MINUTE,
      requestTimeoutMs: 20 * SECOND,
    },
    takeLease: async () => isOurs,
    call: async () => undefined,
    beat: (outcome) => void outcomes.push(outcome),
  });
  return { ...heartbeat, outcomes, asked, clock };
}

/** The last sweeps were asked for so long ago. */
const roundAfter = (...agesMs: number[]) =>
  roundWith(agesMs.map((age) => ({ goodAt: T0 - age, attemptedAt: T0 - age })));

async function roundWith(shards: Attempt[], fleet = good): Promise<HeartbeatOutcome[]> {
  const { round, outcomes } = heartbeatWith(shards, { fleet });
  await round();
  return outcomes;
}

it("the switch is called in each interval, also after the clock went back", async () => {
  const { check, asked, clock } = heartbeatWith([{ goodAt: T0, attemptedAt: T0 }]);
  for (const at of [T0, T0 + MINUTE - 1, T0 - 60 * MINUTE, T0 - 59 * MINUTE]) {
    clock.at = at;
    await check();
  }
  expect(asked).toEqual([T0, T0 - 60 * MINUTE, T0 - 59 * MINUTE]);
});

it("the switch is not called in an interval that another replica has taken", async () => {
  const { round, outcomes } = heartbeatWith([good], { isOurs: false });
  await round();
  expect(outcomes).toEqual([]);
});

it("the switch is called while answers come, however slowly: they are dated by their question", async () => {
  expect(await roundAfter(50 * SECOND)).toEqual(["ok"]);
});

it("the switch is not called once answers would have come, and did not", async () => {
  expect(await roundAfter(50 * SECOND + 1, 5 * MINUTE)).toEqual(["skipped"]);
  expect(await roundAfter()).toEqual(["skipped"]);
});

it("the switch is not called while most recordings are not read, or not in time, whatever some shards are", async () => {
  const late = { ...good, lateMs: 31 * SECOND };
  const old = { goodAt: T0 - MINUTE, attemptedAt: T0, error: "No answer." };
  expect(await roundWith([late])).toEqual(["skipped"]);
  expect(await roundWith([late, old, good])).toEqual(["skipped"]);
  expect(await roundWith([late, good])).toEqual(["ok"]);
  expect(await roundWith([{ ...old, known: 50 }, good, good, good])).toEqual(["skipped"]);
  expect(await roundWith([{ ...good, known: 50, stale: 26 }])).toEqual(["skipped"]);
  expect(await roundWith([{ ...good, known: 50, stale: 24 }])).toEqual(["ok"]);
});

it("the switch is not called while lenswatch itself fails, with one shard or with self alerts", async () => {
  const internal = { goodAt: T0 - MINUTE, attemptedAt: T0, error: "failed", fault: "internal" as const };
  expect(await roundWith([good, good, good, internal])).toEqual(["skipped"]);
  expect(await roundWith([good, good, good, { ...internal, goodAt: T0 - 10 * SECOND }])).toEqual(["ok"]);
  expect(await roundWith([good], { goodAt: T0 - MINUTE, attemptedAt: T0 - MINUTE })).toEqual(["skipped"]);
});
