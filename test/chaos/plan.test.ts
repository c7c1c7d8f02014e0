import { describe, expect, it } from "vitest";
import type { Action } from "../../bench/chaos/action.ts";
import { type PlanOptions, planChaos } from "../../bench/chaos/plan.ts";
import { parseFault } from "../../src/simulator/faults.ts";

const OPTIONS: PlanOptions = {
  seed: 7,
  lengthMs: 300_000,
  kills: 100,
  locations: 40,
  recordingsPerLocation: 5,
  replicas: 3,
  webhooks: 2,
  failover: false,
  receiverOf: (location) => location % 2,
  scheduled: { night: [40, 41], ends: [42], begins: [43], crossingAt: 150_000 },
};
const NONE = { night: [], ends: [], begins: [], crossingAt: undefined };
const { actions: plan, leftOffline } = planChaos(OPTIONS);
type Of<K extends Action["kind"]> = Extract<Action, { readonly kind: K }>;
const of = <K extends Action["kind"]>(...kinds: K[]) =>
  plan.filter((action): action is Of<K> => kinds.some((kind) => kind === action.kind));

describe("the plan of a chaos run", () => {
  it("is the same for the same seed, another for another", () => {
    expect(planChaos(OPTIONS).actions).toEqual(plan);
    expect(planChaos({ ...OPTIONS, seed: 8 }).actions).not.toEqual(plan);
  });

  it("kills as many processes as asked for, within its time", () => {
    const replicas = of("kill").reduce((sum, action) => sum + action.replicas.length, 0);
    expect(replicas + of("redis").length).toBe(100);
    expect(of("redis").length).toBeGreaterThan(3);
    expect(of("kill").some((action) => action.replicas.length === 3)).toBe(true);
    expect(plan.every(({ at }) => at >= 0 && at <= 300_000)).toBe(true);
  });

  it("alternates the status of every recording", () => {
    const status = new Map<number, string>();
    for (const change of of("status")) {
      for (const recording of change.recordings) {
        expect(status.get(recording) ?? "online").not.toBe(change.status);
        status.set(recording, change.status);
      }
    }
    expect(status.size).toBeGreaterThan(60);
    expect(Math.max(...status.keys())).toBeLessThan(220);
  });

  it("takes a region offline at once, with more locations of one webhook than get single messages", () => {
    const offline = of("status").filter(({ status }) => status === "offline");
    const regions = offline.map(({ at }) => {
      const sites = offline.filter((one) => one.at >= at && one.at <= at + 1_200);
      return new Set(sites.map(({ recordings: [first = 0] }) => Math.floor(first / 5))).size;
    });
    expect(Math.max(...regions)).toBeGreaterThan(11);
  });

  it("silences and acknowledges some outages", () => {
    expect(of("silence").length).toBeGreaterThan(3);
    expect(of("silence").some(({ endAfterMs }) => endAfterMs !== undefined)).toBe(true);
    expect(of("ack").length).toBeGreaterThan(0);
  });

  it("has no recording flap but those planned to, which need a longer run", () => {
    const changes = (actions: readonly Action[]) => {
      const all = actions.flatMap((one) =>
        one.kind === "status" ? one.recordings.map((r) => ({ r, at: one.at })) : [],
      );
      const minutes = Map.groupBy(all, ({ r }) => r);
      return [...minutes].map(([r, some]) => [r, new Set(some.map(({ at }) => Math.floor(at / 60_000))).size] as const);
    };
    expect(changes(plan).filter(([, minutes]) => minutes >= 4)).toEqual([]);
    expect(leftOffline.size).toBe(0);
    const long = planChaos({ ...OPTIONS, locations: 200, lengthMs: 480_000, scheduled: NONE });
    expect(changes(long.actions).filter(([, minutes]) => minutes >= 4)).toHaveLength(10);
    expect(long.leftOffline.size).toBeGreaterThan(0);
  });

  it("has recordings offline when their schedule ends, and when it begins", () => {
    const outageAt = (location: number, time: number) => {
      const own = of("status").filter(({ recordings: [first = 0] }) => Math.floor(first / 5) === location);
      const before = Map.groupBy(own, ({ recordings: [first = 0] }) => first);
      return [...before.values()].filter((all) => all.findLast(({ at }) => at <= time)?.status === "offline").length;
    };
    expect(outageAt(42, 150_000)).toBeGreaterThan(0);
    expect(outageAt(43, 150_000)).toBeGreaterThan(0);
    expect(outageAt(40, 290_000) + outageAt(41, 290_000)).toBeGreaterThan(0);
  });

  it("kills Redis only twice a minute with failovers", () => {
    const { actions } = planChaos({ ...OPTIONS, failover: true });
    const killed = actions.filter((one) => one.kind === "redis" || (one.kind === "ambush" && one.victim === "redis"));
    expect(killed).toHaveLength(10);
  });

  it("uses only existing faults", () => {
    const faults = of("service").flatMap((action) => action.faults);
    expect(faults.length).toBeGreaterThan(10);
    for (const [name, params] of faults) expect(() => parseFault(name, params)).not.toThrow();
  });
});
