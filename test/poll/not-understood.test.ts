import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { createHeartbeat } from "../../src/deliver/heartbeat.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createSelfAlerts } from "../../src/poll/self-alerts.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import { parseStatusRows } from "../../src/service/status-uptime-rows.ts";
import { missingRule, offlineRule, rule } from "../health/shard-history.ts";
import { HOUR, MINUTE, T0, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { clockOf, commitOf, plainSweep, STEP, storedSweep } from "./rig.ts";

const id = (n: number) => n.toString(16).padStart(24, "0");
const row = (n: number, more: object) => ({
  recording_id: id(n),
  location_id: "north",
  status: "online",
  average_quality: 1,
  ...more,
});
const fleet = Array.from({ length: 20 }, (_, n) => n);
const selfRules = [
  rule("ServiceUnreachable", { kind: "service", state: "unreachable" }, { forMs: 3 * MINUTE }),
  rule("ServicePartlyUnreachable", { kind: "service", state: "partly_unreachable" }, { forMs: 10 * MINUTE }),
];

describeWithRedis("20 cameras of which rows cannot be read any more", () => {
  const testStore = useTestStore();

  /** What is said of the service within an hour, and how the heartbeat goes at its end. */
  async function hear(answerOf: (n: number) => object, canStore = true) {
    const store = testStore().replica();
    const assigned = createAssigned();
    assigned.set(new Map([["north", 0]]));
    const clock = { at: T0 };
    const shards = { ...store.shards };
    let answer: unknown[] = fleet.map((n) => row(n, {}));
    const common = { clock: clockOf(clock), log: silentLogger, store: shards, assigned, commit: commitOf() };
    const intervals = { intervalMs: STEP, uptimeIntervalMs: HOUR, inventoryIntervalMs: HOUR, requestTimeoutMs: 20_000 };
    const sweep = createSweep({
      ...plainSweep(clock),
      ...storedSweep(store),
      ...common,
      service: { statusUptime: async () => parseStatusRows(answer, () => {}) },
      rules: [offlineRule({ forMs: 2 * MINUTE }), missingRule({ forMs: 10 * MINUTE })],
    });
    const evaluateSelf = createSelfAlerts({
      ...{
        ...common,
        ...intervals,
        inventory: store.inventory,
        selfAlerts: store.selfAlerts,
        groups: store.groups,
        firing: store.firing,
      },
      ...{ rules: selfRules, integrations: [] },
      service: { checkStatus: async () => {} },
    });
    const beats: string[] = [];
    let evidence = "";
    const heartbeat = createHeartbeat({
      ...{ ...common, intervals, intervalMs: MINUTE },
      queues: { add: async () => {} },
      takeLease: async () => true,
      call: async () => undefined,
      beat: (outcome) => void beats.push(outcome),
    });
    await sweep(0);
    answer = fleet.map(answerOf);
    if (!canStore) shards.commitShard = () => Promise.reject(new Error("ERR secret of Redis"));
    for (let i = 0; i < 120; i++) {
      clock.at += STEP;
      await sweep(0).catch(() => {});
      evidence = await evaluateSelf();
      await heartbeat.round();
    }
    const alerts = (await store.shards.alerts()).filter(({ subject }) => subject.kind === "service");
    return {
      alerts: alerts.map(({ ruleId, facts }) => [ruleId, facts.detail]),
      beat: beats.at(-1),
      evidence,
      alert: alerts[0],
    };
  }

  const disconnected = 'The service answers "disconnected" for 20 recordings';
  it.each<[string, (n: number) => object, string]>([
    ["offline is called disconnected", (n) => row(n, { status: "disconnected" }), disconnected],
    [
      "status is called state",
      (n) => row(n, { status: undefined, state: "offline" }),
      "The service sends 20 rows that cannot be read",
    ],
    [
      "recording_id is called recordingId",
      (n) => row(n, { recording_id: undefined, recordingId: id(n), status: "offline" }),
      "The service sends 20 rows without the id of a recording",
    ],
  ])(
    "%s: the service is unreachable and says why, and the dead man's switch is not called",
    async (_, changed, why) => {
      const { alert, alerts, beat, evidence } = await hear(changed);
      expect(alerts).toEqual([["ServiceUnreachable", `${why}. It calls itself healthy (GET /v1/status).`]]);
      expect(alert?.annotations.description).toContain(`understood again. ${why}. It calls`);
      expect([beat, evidence]).toEqual(["skipped", "unreachable"]);
    },
  );

  it("a few of them: the service is partly unreachable", async () => {
    const { alerts, beat, evidence } = await hear((n) => row(n, n < 3 ? { status: "disconnected" } : {}));
    expect(alerts).toEqual([["ServicePartlyUnreachable", 'The service answers "disconnected" for 3 recordings']]);
    expect([beat, evidence]).toEqual(["ok", "partly"]);
  });

  it("answers that lenswatch cannot store are its own failure", async () => {
    const { alert, beat } = await hear((n) => row(n, { status: "offline" }), false);
    expect(alert?.ruleId).toBe("ServiceUnreachable");
    expect(alert?.annotations.summary).toBe("lenswatch fails to evaluate some recordings");
    expect(JSON.stringify(alert)).not.toContain("secret");
    expect(beat).toBe("skipped");
  });
});
