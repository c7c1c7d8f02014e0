import { expect, it } from "vitest";
import { createHeartbeat, type HeartbeatOutcome } from "../../src/cluster/heartbeat.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { Attempt } from "../../src/store/shards.ts";
import { MINUTE, SECOND, T0 } from "../store/fixtures.ts";

/** A switch at T0, with the last sweeps asked for so long ago. */
function heartbeatAfter(...agesMs: number[]) {
  const attempts = agesMs.map((age, shard): [string, Attempt] => [
    `shard:${shard}`,
    { goodAt: T0 - age, attemptedAt: T0 - age },
  ]);
  const outcomes: HeartbeatOutcome[] = [];
  const asked: number[] = [];
  const clock = { at: T0 };
  const heartbeat = createHeartbeat({
    clock: { now: () => clock.at },
    log: silentLogger,
    queues: { add: async () => void asked.push(clock.at) },
    store: { attempts: async () => new Map(attempts) },
    intervalMs: MINUTE,
    statusIntervalMs: 10 * SECOND,
    requestTimeoutMs: 20 * SECOND,
    takeLease: async () => true,
    call: async () => undefined,
    beat: (outcome) => void outcomes.push(outcome),
  });
  return { ...heartbeat, outcomes, asked, clock };
}

async function roundAfter(...agesMs: number[]): Promise<HeartbeatOutcome[]> {
  const { round, outcomes } = heartbeatAfter(...agesMs);
  await round();
  return outcomes;
}

it("the switch is called in each interval, also after the clock went back", async () => {
  const { check, asked, clock } = heartbeatAfter(0);
  for (const at of [T0, T0 + MINUTE - 1, T0 - 60 * MINUTE, T0 - 59 * MINUTE]) {
    clock.at = at;
    await check();
  }
  expect(asked).toEqual([T0, T0 - 60 * MINUTE, T0 - 59 * MINUTE]);
});

it("the switch is called while answers come, however slowly: they are dated by their question", async () => {
  expect(await roundAfter(38 * SECOND)).toEqual(["ok"]);
});

it("the switch is not called once answers would have come, and did not", async () => {
  expect(await roundAfter(42 * SECOND, 5 * MINUTE)).toEqual(["skipped"]);
  expect(await roundAfter()).toEqual(["skipped"]);
});
