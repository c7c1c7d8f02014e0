import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { looks, severityRank, severityTone, toneOf, tones } from "../../src/alerting/tone.ts";

const root = new URL("../../", import.meta.url);
const alert = (id: string, severity: string, kind: "recording" | "location" | "group" = "recording") =>
  ({ subject: { kind, id }, labels: { severity } }) as const;

describe("the tone of alerts", () => {
  test.each([
    ["critical", 0, "critical"],
    ["Page", 0, "critical"],
    ["error", 1, "critical"],
    ["WARN", 2, "warning"],
    ["none", 3, "info"],
    ["sev2", 4, "info"],
  ] as const)("of severity %s has rank %d and is %s", (severity, rank, tone) => {
    expect([severityRank({ severity }), severityTone({ severity })]).toEqual([rank, tone]);
  });

  test.each([
    ["none", [], "good"],
    [
      "one that needs somebody and a worse one that somebody has",
      [
        [alert("a", "warning"), "needed"],
        [alert("b", "critical"), "acknowledged"],
      ],
      "warning",
    ],
    ["what somebody has alone", [[alert("a", "critical"), "silenced"]], "info"],
    ["what is inhibited from elsewhere", [[alert("a", "critical"), "inhibited"]], "critical"],
    [
      "what the alert of its location stands for, which somebody has",
      [
        [alert("leeds", "critical", "location"), "acknowledged"],
        [alert("a", "critical"), "inhibited"],
      ],
      "info",
    ],
    [
      "what another recording's alert does not stand for",
      [
        [alert("a", "warning"), "needed"],
        [alert("b", "critical"), "inhibited"],
      ],
      "critical",
    ],
  ] as const)("of %s", (_, rated, tone) => {
    expect(toneOf(rated)).toBe(tone);
  });
});

test("signs and colours of tones are in one file", () => {
  const own = tones.flatMap((tone) => [looks[tone].colour, looks[tone].sign]);
  const shown = new RegExp(`${own.join("|")}|[\\u2600-\\u27bf\\u25b2\\u25cf]|[\\u{1f534}-\\u{1f7eb}]`, "iu");
  const files = globSync("src/**/*.{ts,js,css}", { cwd: root }).filter((path) => path !== "src/alerting/tone.ts");
  expect(files.length).toBeGreaterThan(400);
  expect(files.filter((path) => shown.test(readFileSync(new URL(path, root), "utf8")))).toEqual([]);
  for (const tone of tones) expect(looks[tone].colour).toMatch(/^#[0-9a-f]{6}$/);
  for (const part of ["sign", "mark", "colour", "terminal"] as const)
    expect(new Set(tones.map((tone) => looks[tone][part])).size, part).toBe(tones.length);
});
