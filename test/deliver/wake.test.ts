import { expect, it } from "vitest";
import { createWake, createWakeOverdue } from "../../src/deliver/wake.ts";
import { MINUTE, T0 } from "../store/fixtures.ts";

const clock = { now: () => T0 };

it("a wake-up is a job at its time, those of 20 ms one and the same; one that is hours off is none", async () => {
  const jobs: unknown[][] = [];
  const wake = createWake({ add: async (_, ...job) => void jobs.push(job) }, clock);
  for (const at of [T0 - 1, T0 + 101, T0 + 119, T0 + 11 * MINUTE]) await wake(new Map([["ops/slack/0", at]]));
  const [now, first, second, ...others] = jobs;
  expect(now).toEqual([{ integration: "ops/slack/0" }]);
  expect(first).toEqual(second);
  expect(first?.[1]).toEqual({ delayMs: 120, id: expect.stringMatching(/^[\w-]+$/) });
  expect(others).toEqual([]);
});

it("a wake-up is given again where it was lost, to one of so many each time; one under way needs none", async () => {
  const woken: [string, number][] = [];
  const ids = Array.from({ length: 1_500 }, (_, i) => `i${i}`);
  const wakeOverdue = createWakeOverdue({
    clock,
    groups: {
      nextDue: async (some) => new Map(some.map((id) => [id, T0 - (["i3", "i4", "i1499"].includes(id) ? 301 : 299)])),
    },
    integrations: ids.map((id) => ({ id })),
    wake: async (due) => void woken.push(...due),
    isUnderWay: (id) => id === "i4",
  });
  for (const expected of ["i3", "i1499", "i3"]) {
    await wakeOverdue();
    expect(woken.splice(0)).toEqual([[expected, T0 - 301]]);
  }
});
