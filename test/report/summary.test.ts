import fc from "fast-check";
import { expect, test } from "vitest";
import { type LossCause, lossCauses } from "../../src/report/attribute.ts";
import type { Report } from "../../src/report/report.ts";
import { causeNotes, reportFigures, reportSummary } from "../../src/report/summary.ts";
import { noLoss } from "../../src/report/tally.ts";

const HOUR = 3_600_000;
const span = { from: 0, to: 1, label: "a month" };
const lossOf = (causes: Partial<Record<LossCause, number>>, known = 1_000 * HOUR) => {
  return { ...noLoss(), recordings: 4, expectedMs: 1_000 * HOUR, knownMs: known, ...causes };
};

function reportOf(total: ReturnType<typeof lossOf>, before = total, name = "Leeds Briggate"): Report {
  const rows = [{ id: "leeds", name, incidents: 1, loss: { ...total, unknown: 0 } }];
  const incidents = [{ id: "I-4F2K7", title: "", startsAt: 0, endsAt: 1, durationMs: 1, visits: undefined }];
  return {
    now: 0,
    period: span,
    total,
    incidents,
    before: { period: span, total: before, incidents: 0 },
    rows,
    groups: [],
  };
}

test.each<[string, ReturnType<typeof lossOf>, ReturnType<typeof lossOf>, string]>([
  [
    "less than before, and where",
    lossOf({ location: 20 * HOUR }),
    lossOf({ location: HOUR }),
    "Cameras recorded 98 % of the time they should, down from 99.9 %; most was lost at Leeds Briggate (20 h)",
  ],
  [
    "more than before",
    lossOf({ recording: HOUR }),
    lossOf({ location: 20 * HOUR }),
    "Cameras recorded 99.9 % of the time they should, up from 98 %; most was lost at Leeds Briggate (1 h)",
  ],
  ["nothing lost", lossOf({}), lossOf({}), "Cameras recorded all of the time they should, as before"],
  [
    "planned work, which is not lost",
    lossOf({ maintenance: 40 * HOUR }),
    lossOf({}, 0),
    "Cameras recorded all of the time they should outside planned work",
  ],
  [
    "a month of which little is known",
    lossOf({ recording: HOUR }, 100 * HOUR),
    lossOf({}, 800 * HOUR),
    "Cameras recorded 99 % of the time they should, as far as is known (10 % of it); most was lost at Leeds Briggate (1 h)",
  ],
  [
    "nothing but planned work",
    lossOf({ maintenance: 10 * HOUR }, 10 * HOUR),
    lossOf({}),
    "There was nothing but planned work, as far as is known",
  ],
  ["nothing known", lossOf({}, 0), lossOf({}), "It is not known whether cameras recorded"],
  ["no schedule", { ...lossOf({}, 0), expectedMs: 0 }, lossOf({}), "No camera should have recorded"],
])("a report of %s is one sentence", (_, total, before, sentence) => {
  expect(reportSummary(reportOf(total, before))).toBe(sentence);
});

test("a period is not compared with one that nobody watched", () => {
  const watched = reportOf(lossOf({ location: 20 * HOUR }), lossOf({ location: HOUR }));
  const report = { ...watched, before: { ...watched.before, incidents: undefined } };
  expect(reportSummary(watched)).toContain(", down from 99.9 %");
  expect(reportSummary(report)).toBe(reportSummary(watched).replace(", down from 99.9 %", ""));
  expect(reportFigures(report).map(({ was }) => was)).toEqual(["", "", ""]);
});

test("never says that all was recorded, or gives a figure, where that is not so", () => {
  const ms = fc.integer({ min: 0, max: 100 * HOUR });
  const tally = fc
    .tuple(fc.dictionary(fc.constantFrom(...lossCauses), ms), fc.integer({ min: 0, max: 1_000 * HOUR }))
    .map(([causes, known]) =>
      lossOf(
        causes,
        Math.max(
          known,
          Object.values(causes).reduce((a, b) => a + b, 0),
        ),
      ),
    );
  fc.assert(
    fc.property(tally, tally, fc.string({ unit: "binary", maxLength: 300 }), (total, before, name) => {
      const report = reportOf(total, before, name);
      const [sentence, figures] = [reportSummary(report), reportFigures(report)];
      const lost = lossCauses.some((cause) => cause !== "maintenance" && total[cause] > 0);
      expect(sentence.includes(" all of the time")).toBe(total.knownMs > total.maintenance && !lost);
      expect(sentence.length).toBeLessThan(250);
      expect(sentence).not.toMatch(/NaN|Infinity|undefined|[\p{Cc}]/u);
      const isSilent = total.knownMs === total.maintenance;
      expect(figures.some(({ value }) => value === "")).toBe(isSilent);
      const isComparable = Math.min(before.knownMs, total.knownMs) >= 900 * HOUR;
      expect(figures.some(({ was }) => was !== "")).toBe(isComparable);
      expect(figures.at(-1)).toEqual({
        ...{ name: "Incidents", value: isSilent && total.knownMs === 0 ? "" : "1" },
        was: isComparable ? "none" : "",
      });
      const noted = (["not_watched", "unknown"] as const).filter((cause) => total[cause] > 0);
      expect(causeNotes(total)).toHaveLength(noted.length);
    }),
    { numRuns: 500 },
  );
});
