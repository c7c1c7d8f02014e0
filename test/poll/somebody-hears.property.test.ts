import fc from "fast-check";
import { expect, test } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { attemptsOf } from "../../src/health/attempt.ts";
import { evaluateSelf, type SelfAlertState } from "../../src/health/evaluate-self.ts";
import { fleetEvidence } from "../../src/health/evidence.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import { parseStatusRows } from "../../src/service/status-uptime-rows.ts";
import { HOUR, INTERVAL, MINUTE, missingRule, offlineRule, rule, START } from "../health/shard-history.ts";
import { rootRoute } from "../http/serve.ts";
import { commitOf, memoryStores, plainSweep } from "./rig.ts";

/** How a shard is answered for as long as the run lasts. */
const shard = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  /** Of the requests and of the commits, how many fail. */
  fails: fc.constantFrom(0, 0, 0.5, 0.8, 0.95, 1),
  lost: fc.constantFrom(0, 0, 0, 0.9, 1),
  swept: fc.boolean().map((is) => is || undefined),
  /** What becomes of each row, by the number of the recording. */
  rows: fc.array(
    fc.constantFrom<object | undefined>(
      ...[{}, {}, {}, {}, { status: "disconnected" }, { status: 7 }, { recording_id: undefined }, { location_id: 5 }],
      undefined,
    ),
    { minLength: 12, maxLength: 12 },
  ),
});
type Answering = typeof shard extends fc.Arbitrary<infer T> ? T : never;

const rules = [
  rule(
    "ServiceUnreachable",
    { kind: "service", state: "unreachable" },
    { forMs: 3 * MINUTE, keepFiringForMs: 3 * MINUTE },
  ),
  rule("ServicePartlyUnreachable", { kind: "service", state: "partly_unreachable" }, { forMs: 10 * MINUTE }),
];
const moment = {
  intervalMs: INTERVAL,
  uptimeIntervalMs: 100 * HOUR,
  inventoryIntervalMs: HOUR,
  requestTimeoutMs: 20_000,
};
const idOf = (location: number, n: number) => `${location}`.padStart(12, "a") + `${n}`.padStart(12, "0");
async function run(all: readonly Answering[], seed: number): Promise<string[]> {
  let at = seed;
  const chance = (share: number) => {
    at = (at * 1_103_515_245 + 12_345) % 2 ** 31;
    return at / 2 ** 31 < share;
  };
  const clock = { at: START };
  let isWell = true;
  const { states, attempts, ...stored } = memoryStores((i) => !isWell && chance(all[i]?.lost ?? 0));
  const assigned = createAssigned();
  assigned.set(new Map(all.map((_, i) => [`${i}`.padStart(24, "b"), i])));
  const sweep = createSweep({
    ...plainSweep(clock, { statusIntervalMs: INTERVAL }),
    ...{ ...stored, assigned },
    service: {
      async statusUptime({ entities: [location = ""] }) {
        const i = assigned.shardOf(location) ?? 0;
        const { size, fails, rows } = all[i] as Answering;
        if (!isWell && chance(fails)) throw new Error("No answer.");
        const listed = Array.from({ length: size }, (_, n) => {
          const row = { recording_id: idOf(i, n), location_id: location, status: "online", average_quality: 1 };
          return isWell ? row : rows[n] && { ...row, ...rows[n] };
        });
        const present = listed.filter((row) => row !== undefined);
        return parseStatusRows(present, () => {});
      },
    },
    nameThem: async () => {},
    rules: [offlineRule({ forMs: 2 * MINUTE }), missingRule({ forMs: 10 * MINUTE })],
    commit: commitOf({ route: rootRoute, integrations: [] }),
  });
  let self: SelfAlertState = {};
  const unheard: string[] = [];
  let firedAt = 0;
  for (let tick = 0; tick < 180; tick++) {
    clock.at += INTERVAL;
    isWell = tick < 3;
    for (const i of all.keys()) if (isWell || all[i]?.swept) await sweep(i).catch(() => {});
    const now = clock.at;
    const good = { goodAt: now, attemptedAt: now };
    const known = { ...attemptsOf(attempts, [...all.keys()]), inventory: good, uptimes: [], counts: [] };
    const context = { ...moment, now, rules, startedAt: START };
    self = evaluateSelf(self, { ...known, integrations: [] }, context).next;
    const { state } = fleetEvidence(known, context);
    if (Object.values(self["service/analytics"] ?? {}).some((alert) => alert.state === "firing")) firedAt = now;
    for (const { state: stored } of states.values())
      for (const { id, readAt, alerts } of stored.recordings.values()) {
        const isMissing = alerts?.RecordingMissing !== undefined;
        const unreadMs = now - readAt;
        // Three intervals until it is old, and three more until the next sweep would have counted it.
        if (unreadMs > 7 * INTERVAL && state === "in_time" && !isMissing) unheard.push(`${tick} well beside ${id}`);
        // Where it is read once in a while, one alert ends before the other one fires.
        const isHeard = now - firedAt <= 15 * MINUTE || alerts?.RecordingMissing?.state === "firing";
        if (unreadMs > 40 * MINUTE && !isHeard) unheard.push(`${tick} nobody hears of ${id}`);
      }
  }
  return unheard;
}

test("of a recording that is not read somebody hears, however the service answers", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(shard, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1 }), async (all, seed) => {
      expect(await run(all, seed)).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
