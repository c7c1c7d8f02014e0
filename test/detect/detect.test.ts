/** The bench of the detection, as `npm run detect` runs it, in a world of two locations. */
import { expect, test } from "vitest";
import { lostTable, playLost } from "../../bench/detect/lost.ts";
import { monthsOf, rowsOf, tableOf, upperBound } from "../../bench/detect/report.ts";
import { playWorld } from "../../bench/detect/run.ts";
import { sumOfVisits } from "../../src/alerting/uncounted.ts";

test("a blind camera of a small world is found, and nothing else is named", () => {
  const from = Date.parse("2026-03-02");
  const played = playWorld({ seed: 16, locations: 2, recordingsPerLocation: 3, weeks: 1, from, sensitivities: [30] });
  const [row] = rowsOf(played);
  expect(row).toMatchObject({ blind: { of: 1, found: 1, withinDay: 1 }, wrong: [] });
  const months = monthsOf(played);
  expect(months.all).toBeCloseTo((2 * 3 * 7) / 30);
  expect(tableOf([row as NonNullable<typeof row>], months, played)).toContain("| 30 | 1 | 1 (100.0 %) |");
});

test("visits said to be lost in outages at the same time are near those that were missed, also in all", () => {
  const cases = playLost({ seed: 603, locations: 4, recordings: 2, isTogether: true });
  const said = cases.flatMap(({ later, missed }) => (typeof later === "object" ? [{ ...later, missed }] : []));
  expect(said.length).toBeGreaterThan(1);
  const total = said.reduce((sum, { missed }) => sum + missed, 0);
  const { low = 0, high = 0 } = sumOfVisits(said) ?? {};
  expect(low).toBeGreaterThan(0.3 * total);
  expect([low <= total, total <= high]).toEqual([true, true]);
  expect(lostTable(cases)).toMatch(/\| \*\*all recordings\*\* \| 4 \|.*\nOf what was said, in all: about [\d,]+ \(/s);
});

test("no false alarm in few camera-months proves little", () => {
  expect(upperBound(0, 1_000)).toBeCloseTo(3.69, 2);
  expect(upperBound(3, 1_000)).toBeCloseTo(8.77, 1);
  expect(upperBound(0, 100)).toBeCloseTo(36.9, 1);
});
