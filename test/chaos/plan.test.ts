import { describe, expect, it } from "vitest";
import { parseFault } from "../../src/simulator/faults.ts";
import type { Action } from "./action.ts";
import { type PlanOptions, planChaos } from "./plan.ts";

const OPTIONS: PlanOptions = {
  seed: 7,
  lengthMs: 300_000,
  kills: 100,
  locations: 40,
  recordingsPerLocation: 5,
  replicas: 3,
  webhooks: 8,
};
const plan = planChaos(OPTIONS);
type Of<K extends Action["kind"]> = Extract<Action, { readonly kind: K }>;
const of = <K extends Action["kind"]>(...kinds: K[]) =>
  plan.filter((action): action is Of<K> => kinds.some((kind) => kind === action.kind));

describe("the plan of a chaos run", () => {
  it("is the same for the same seed, another for another", () => {
    expect(planChaos(OPTIONS)).toEqual(plan);
    expect(planChaos({ ...OPTIONS, seed: 8 })).not.toEqual(plan);
  });

  it("kills as many processes as asked for, within its time", () => {
    const replicas = of("kill").reduce((sum, action) => sum + action.replicas.length, 0);
    expect(replicas + of("redis").length).toBe(100);
    expect(of("redis").length).toBeGreaterThan(3);
    expect(of("kill").some((action) => action.replicas.length === 3)).toBe(true);
    expect(plan.every(({ at }) => at >= 0 && at <= 300_000)).toBe(true);
  });

  it("turns every camera on and off in turn, none twice the same way", () => {
    const status = new Map<number, string>();
    for (const change of of("status")) {
      for (const recording of change.recordings) {
        expect(status.get(recording) ?? "online").not.toBe(change.status);
        status.set(recording, change.status);
      }
    }
    expect(status.size).toBeGreaterThan(60);
    expect(Math.max(...status.keys())).toBeLessThan(200);
  });

  it("knows only faults that there are", () => {
    const faults = of("service").flatMap((action) => action.faults);
    expect(faults.length).toBeGreaterThan(10);
    for (const [name, params] of faults) expect(() => parseFault(name, params)).not.toThrow();
  });
});
