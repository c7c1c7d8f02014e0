import { describe, expect, test } from "vitest";
import type { Digest } from "../../../src/digest/digest.ts";
import { renderDigest } from "../../../src/digest/mail.ts";
import { digestPeriod } from "../../../src/digest/period.ts";
import { noteQuality, type QualityHistory } from "../../../src/health/quality.ts";
import { digestWith } from "../compute-digest.ts";
import { HOUR, input, NOW, subject } from "../fixtures.ts";

const FRAME = { name: "weekly", externalUrl: undefined };

/** Sixty days of a quality that begins at `first` and loses so much a day. */
function falling(first: number, perDay: number): QualityHistory | undefined {
  let history: QualityHistory | undefined;
  for (let day = 60; day >= 0; day--) {
    for (let hour = 8; hour < 14; hour++) {
      history = noteQuality(
        history,
        first - perDay * (60 - day),
        Math.floor(NOW / (24 * HOUR) - day) * 24 * HOUR + hour * HOUR,
      );
    }
  }
  return history;
}

function digestOf(
  qualities: Readonly<Record<string, QualityHistory | undefined>>,
  qualityBelow: number | undefined = 0.7,
): Digest {
  const scope = input({ period: digestPeriod("1w", NOW, "Europe/London"), qualityBelow });
  return digestWith(
    scope,
    Object.entries(qualities).map(([id, quality]) => [subject(id, { name: `Till ${id}` }), { buckets: [], quality }]),
  );
}

describe("lenses to clean", () => {
  const some = { a: falling(0.95, 0.002), b: falling(0.95, 0), c: falling(0.9, 0.003), d: undefined };

  test("are those whose quality falls steadily, the next to be below the threshold first", async () => {
    const digest = digestOf(some);
    expect(digest.lenses.map(({ recording }) => recording.id)).toEqual(["c", "a"]);
    const { text, html } = await renderDigest(digest, FRAME);
    const [, section] = /Lenses to clean\n-+\n((?:.+\n)+)/.exec(text) ?? [];
    expect(section).toMatch(
      /^Till c · Leeds Briggate: quality 72 %, 2\.\d % lost a week; below 70 % from about \d+ (Nov|Dec) 2026\n/,
    );
    expect(section).toMatch(
      /\nTill a · Leeds Briggate: quality 83 %, 1\.\d % lost a week; below 70 % from about \d+ (Jan|Feb) 2027\n/,
    );
    expect(section).toContain("it foretells no failure");
    expect(html).toContain("Lenses to clean");
  });

  test("are not listed without a rule on quality, and not where the whole fleet loses as much", async () => {
    expect(digestWith(input({}), [[subject("a"), { buckets: [], quality: some.a }]]).lenses).toEqual([]);
    const fleet = Object.fromEntries("123456".split("").map((id) => [id, falling(0.95, 0.002)]));
    expect(digestOf(fleet).lenses).toEqual([]);
    const digest = digestOf({ ...fleet, c: some.c });
    expect(digest.lenses.map(({ recording }) => recording.id)).toEqual(["c"]);
    expect((await renderDigest(digestOf({ b: some.b }), FRAME)).text).not.toContain("Lenses");
  });

  test("below the threshold already are said to be", async () => {
    expect((await renderDigest(digestOf({ a: falling(0.75, 0.003) }), FRAME)).text).toContain(
      "lost a week; below it by now",
    );
  });
});
