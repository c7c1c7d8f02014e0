import { expect, it } from "vitest";
import { createHeartbeat, type HeartbeatOutcome } from "../../src/cluster/heartbeat.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { Attempt } from "../../src/store/shards.ts";
import { MINUTE, SECOND, T0 } from "../store/fixtures.ts";

/** A switch at T0, with the last sweeps of shards. */
function heartbeatWith(shards: Attempt[], isOurs = true) {
  const attempts = shards.map((attempt, shard): [string, Attempt] => [`shard:${shard}`, attempt]);
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
    takeLease: async () => isOurs,
    call: async () => undefined,
    beat: (outcome) => void outcomes.push(outcome),
  });
  return { ...heartbeat, outcomes, asked, clock };
}

/** The last sweeps were asked for so long ago. */
const roundAfter = (...agesMs: number[]) =>
  roundWith(agesMs.map((age) => ({ goodAt: T0 - age, attemptedAt: T0 - age })));

async function roundWith(shards: Attempt[]): Promise<HeartbeatOutcome[]> {
  const { round, outcomes } = heartbeatWith(shards);
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
  const { round, outcomes } = heartbeatWith([{ goodAt: T0, attemptedAt: T0 }], false);
  await round();
  expect(outcomes).toEqual([]);
});

it("the switch is called while answers come, however slowly: they are dated by their question", async () => {
  expect(await roundAfter(38 * SECOND)).toEqual(["ok"]);
});

it("the switch is not called once answers would have come, and did not", async () => {
  expect(await roundAfter(42 * SECOND, 5 * MINUTE)).toEqual(["skipped"]);
  expect(await roundAfter()).toEqual(["skipped"]);
});

it("the switch is not called while most sweeps are answered, and cannot keep their interval", async () => {
  const good = { goodAt: T0, attemptedAt: T0 };
  const slow = { ...good, slowMs: 31 * SECOND };
  expect(await roundWith([slow])).toEqual(["skipped"]);
  expect(await roundWith([slow, slow, good])).toEqual(["skipped"]);
  expect(await roundWith([slow, good])).toEqual(["ok"]);
});
