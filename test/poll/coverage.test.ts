import { expect, test } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createCoverage } from "../../src/poll/coverage.ts";

test("that somebody watches is written once a minute, and again at once where that failed", async () => {
  const noted: [number, number][] = [];
  let fails = false;
  const store = {
    async note(at: number, gapMs: number) {
      if (fails) throw new Error("no Redis");
      noted.push([at, gapMs]);
    },
  };
  const note = createCoverage({ log: silentLogger, store, statusIntervalMs: 30_000 });
  for (const seconds of [0, 30, 59, 60, 90]) note(seconds * 1_000);
  expect(noted).toEqual([
    [0, 660_000],
    [60_000, 660_000],
  ]);
  fails = true;
  note(120_000);
  await Promise.resolve();
  fails = false;
  note(121_000);
  expect(noted.at(-1)).toEqual([121_000, 660_000]);
  createCoverage({ log: silentLogger, store, statusIntervalMs: 3_600_000 })(180_000);
  expect(noted.at(-1), "sweeps far apart are one watch").toEqual([180_000, 6 * 3_600_000 + 60_000]);
});
