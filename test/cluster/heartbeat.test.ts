import { expect, it } from "vitest";
import { createHeartbeat, type HeartbeatOutcome } from "../../src/cluster/heartbeat.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { Attempt } from "../../src/store/shards.ts";
import { MINUTE, SECOND, T0 } from "../store/fixtures.ts";

/** One round at T0, with the last sweeps asked for so long ago. */
async function roundAfter(...agesMs: number[]): Promise<HeartbeatOutcome[]> {
  const attempts = agesMs.map((age, shard): [string, Attempt] => [
    `shard:${shard}`,
    { goodAt: T0 - age, attemptedAt: T0 - age },
  ]);
  const outcomes: HeartbeatOutcome[] = [];
  const heartbeat = createHeartbeat({
    clock: { now: () => T0 },
    log: silentLogger,
    queues: { add: async () => {} },
    store: { attempts: async () => new Map(attempts) },
    intervalMs: MINUTE,
    statusIntervalMs: 10 * SECOND,
    requestTimeoutMs: 20 * SECOND,
    takeLease: async () => true,
    call: async () => undefined,
    beat: (outcome) => void outcomes.push(outcome),
  });
  await heartbeat.round();
  return outcomes;
}

it("the switch is called while answers come, however slowly: they are dated by their question", async () => {
  expect(await roundAfter(38 * SECOND)).toEqual(["ok"]);
});

it("the switch is not called once answers would have come, and did not", async () => {
  expect(await roundAfter(42 * SECOND, 5 * MINUTE)).toEqual(["skipped"]);
  expect(await roundAfter()).toEqual(["skipped"]);
});
