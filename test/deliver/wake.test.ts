import { expect, it } from "vitest";
import { createWake, wakeOverdue } from "../../src/deliver/wake.ts";
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

it("a wake-up is given again where it was lost", async () => {
  const woken: [string, number][] = [];
  await wakeOverdue({
    clock,
    groups: {
      nextDue: async (ids) => {
        expect(ids).toEqual(["late", "soon"]);
        return new Map([
          ["late", T0 - 301],
          ["soon", T0 - 299],
        ]);
      },
    },
    integrations: [{ id: "late" }, { id: "soon" }],
    wake: async (due) => void woken.push(...due),
  });
  expect(woken).toEqual([["late", T0 - 301]]);
});
