import { expect, it } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createAskUptime, pacedUptimes } from "../../src/poll/uptime-ask.ts";

const TODAY = { start: "2026-03-10", end: "2026-03-10" };

it("after the first of them twenty requests a second are made, of 200 days of recordings each", async () => {
  const asked: { at: number; count: number }[] = [];
  const ask = createAskUptime({
    log: silentLogger,
    service: pacedUptimes({
      async uptimes({ recids = [] }) {
        asked.push({ at: performance.now(), count: recids.length });
        return { results: [], dropped: 0 };
      },
    }),
  });
  const ids = Array.from({ length: 5_000 }, (_, i) => `r${i}`);
  const { signal } = new AbortController();
  const days = { daysOf: () => TODAY, weeksOf: () => TODAY };
  const asking = { ids, learners: new Set<string>(), ...days, isLastTry: false, signal };
  await Array.fromAsync(ask(asking));
  expect(asked.map(({ count }) => count)).toEqual(Array(25).fill(200));
  expect((asked[24]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThan(200);
});
