import { describe, expect, it } from "vitest";
import type { Action } from "../../bench/chaos/action.ts";
import { planChaos } from "../../bench/chaos/plan.ts";
import { parseFault } from "../../src/simulator/faults.ts";

const OPTIONS = {
  seed: 7,
  lengthMs: 300_000,
  kills: 100,
  locations: 40,
  recordingsPerLocation: 5,
  replicas: 3,
  webhooks: 2,
  receiverOf: (location: number) => location % 2,
};
const plan = planChaos(OPTIONS);
const of = <K extends Action["kind"]>(kind: K) =>
  plan.filter((action): action is Extract<Action, { readonly kind: K }> => action.kind === kind);

describe("the plan of a chaos run", () => {
  it("is the same for the same seed, another for another, and within its time", () => {
    expect(planChaos(OPTIONS)).toEqual(plan);
    expect(planChaos({ ...OPTIONS, seed: 8 })).not.toEqual(plan);
    expect(plan.every(({ at }) => at >= 0 && at <= 300_000)).toBe(true);
  });

  it("kills as many processes as asked for, silences and acknowledges, and uses only existing faults", () => {
    const killed = plan.flatMap((one) => (one.kind === "kill" ? one.replicas.length : []));
    expect(killed.reduce((sum, n) => sum + n, of("redis").length)).toBe(100);
    expect(of("redis").length).toBeGreaterThan(3);
    expect(Math.max(...killed)).toBe(3);
    expect(of("silence").some(({ endAfterMs }) => endAfterMs !== undefined)).toBe(true);
    expect(of("ack").length).toBeGreaterThan(0);
    const faults = of("service").flatMap((action) => action.faults);
    expect(faults.length).toBeGreaterThan(10);
    for (const [name, params] of faults) expect(() => parseFault(name, params)).not.toThrow();
  });

  it("alternates the status of every recording, and takes more locations of a webhook offline at once than storms need", () => {
    const status = new Map<number, string>();
    for (const change of of("status"))
      for (const recording of change.recordings) {
        expect(status.get(recording) ?? "online").not.toBe(change.status);
        status.set(recording, change.status);
      }
    expect(status.size).toBeGreaterThan(60);
    expect(Math.max(...status.keys())).toBeLessThan(200);
    const offline = of("status").filter((one) => one.status === "offline");
    const regions = offline.map(({ at }) => {
      const sites = offline.filter((one) => one.at >= at && one.at <= at + 1_200);
      return new Set(sites.map(({ recordings: [first = 0] }) => Math.floor(first / 5))).size;
    });
    expect(Math.max(...regions)).toBeGreaterThan(11);
  });
});
