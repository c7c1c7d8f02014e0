import { expect, it } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createAskUptime, createPeriods, pacedUptimes } from "../../src/poll/uptime-ask.ts";
import { ServiceError } from "../../src/service/errors.ts";
import type { Days } from "../../src/service/service.ts";
import { DAY, UNBROKEN } from "./rig.ts";

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
  const days = { daysOf: () => TODAY, weeksOf: () => TODAY };
  const asking = { ids, learners: new Set<string>(), ...days, isLastTry: false, signal: UNBROKEN };
  await Array.fromAsync(ask(asking));
  expect(asked.map(({ count }) => count)).toEqual(Array(25).fill(200));
  expect((asked[24]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThan(200);
});

/** Asks for these days of a service that refuses more than `most`; `asked` gets how many each question was for. */
function limited(most: number) {
  const service = { most, asked: [] as number[] };
  const inPeriods = createPeriods();
  const ask = async ({ start, end }: Days) => {
    const days = (Date.parse(end) - Date.parse(start)) / DAY + 1;
    service.asked.push(days);
    if (days > service.most) throw new ServiceError("bad_request", "too many days");
    return [start, end];
  };
  return { service, read: (days: Days) => inPeriods(days, ask) };
}

const WEEKS = { start: "2026-10-20", end: "2026-11-10" };

it.each([
  [22, [22, 22]],
  [14, [22, 7, 7, 7, 1, 7, 7, 7, 1]],
  [3, [22, 7, ...Array(22).fill(1), ...Array(22).fill(1)]],
])("of a service that gives %d days these are asked for, again as accepted", async (most, lengths) => {
  const { service, read } = limited(most);
  for (let i = 0; i < 2; i++) {
    const parts = await read(WEEKS);
    expect([parts[0]?.[0], parts.at(-1)?.[1]]).toEqual([WEEKS.start, WEEKS.end]);
  }
  expect(service.asked).toEqual(lengths);
});

it("a refusal of what was accepted before is not about its length", async () => {
  const { service, read } = limited(22);
  await read(WEEKS);
  service.most = 0;
  await expect(read({ start: "2026-10-21", end: "2026-11-11" })).rejects.toThrow("too many days");
  expect(service.asked).toHaveLength(2);
});
