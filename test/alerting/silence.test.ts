import { describe, expect, test } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import {
  changeSilence,
  endSilence,
  roomProblem,
  type Silence,
  silenceProblem,
  silenceState,
  silencesOf,
  undoneTogether,
  type WantedSilence,
} from "../../src/alerting/silence.ts";
import { runYielding } from "../../src/lib/yield.ts";
import { aSilence } from "../support/fixtures.ts";
import { alertWith, NOW } from "./alerts.ts";

const HOUR = 3_600_000;
const matchers = parseMatchers('location="Leeds", severity=~"c.*"');
const silence = (more: Partial<Silence> = {}): Silence =>
  aSilence({ id: "old", matchers, startsAt: NOW - HOUR, endsAt: NOW + HOUR, updatedAt: NOW - HOUR, ...more });
const wanted = ({ updatedAt: _, ...of }: Silence, more: Partial<WantedSilence> = {}): WantedSilence => ({
  ...of,
  ...more,
});
const context = { now: NOW, newId: "new" };

test.each([
  [NOW - 1, NOW + 1, "active"],
  [NOW, NOW + 1, "active"],
  [NOW + 1, NOW + 2, "pending"],
  [NOW - 2, NOW, "expired"],
] as const)("from %i to %i it is %s by the clock", (startsAt, endsAt, state) => {
  expect(silenceState({ startsAt, endsAt }, NOW)).toBe(state);
});

describe("an alert is silenced", () => {
  const labels = { location: "Leeds", severity: "critical" };
  test("by every active silence whose matchers all match, the longest first", async () => {
    const longer = silence({ id: "longer", endsAt: NOW + 2 * HOUR });
    const others = [
      silence({ matchers: parseMatchers('location="Leeds", severity="warning"') }),
      silence({ startsAt: NOW + 1 }),
      silence({ endsAt: NOW }),
    ];
    const alert = alertWith(labels);
    const { found, isComplete } = await runYielding(silencesOf([silence(), ...others, longer], alert, NOW));
    expect(found.map(({ id }) => id)).toEqual(["longer", "old"]);
    expect(isComplete).toBe(true);
  });
});

describe("a silence that cannot be had", () => {
  const rows: [string, Partial<WantedSilence>, RegExp | undefined][] = [
    ["has no matcher", { matchers: [] }, /at least one matcher/],
    ["matches what has no labels", { matchers: parseMatchers('a!="b", c=~".*", d=""') }, /empty string/],
    ["ends before it starts", { startsAt: NOW + 2, endsAt: NOW + 1 }, /before the end/],
    ["lasts no time", { startsAt: NOW + 1, endsAt: NOW + 1 }, /before the end/],
    ["is over", { startsAt: NOW - 2, endsAt: NOW }, /past/],
  ];
  test.each(rows)("%s", (_, more, problem) => {
    expect(silenceProblem(wanted(silence(), more), NOW)).toMatch(problem as RegExp);
  });

  test("a sound one has no problem, also with one loose matcher beside a firm one", () => {
    expect(silenceProblem(wanted(silence(), { matchers: parseMatchers('a!="b", c="d"') }), NOW)).toBeUndefined();
  });
});

describe("a change", () => {
  test("without an id is a new one, from now on at the earliest", () => {
    expect(changeSilence(undefined, wanted(silence(), { id: undefined }), context)).toEqual({
      silence: silence({ id: "new", startsAt: NOW, updatedAt: NOW }),
      replaced: undefined,
    });
  });

  test("of an active one's end, comment and author is made in place", () => {
    const asked = wanted(silence(), { endsAt: NOW + 1, comment: "longer", startsAt: NOW - HOUR + 400 });
    expect(changeSilence(silence(), asked, context)).toEqual({
      silence: silence({ endsAt: NOW + 1, comment: "longer", updatedAt: NOW }),
      replaced: undefined,
    });
  });

  test("of the order of matchers is none", () => {
    const asked = wanted(silence(), { matchers: [...silence().matchers].reverse() });
    expect(changeSilence(silence(), asked, context).silence.id).toBe("old");
  });

  const replacing: [string, Partial<Silence>, Partial<WantedSilence>][] = [
    ["matchers", {}, { matchers: parseMatchers('location="York"') }],
    ["the start of an active one", {}, { startsAt: NOW + 1 }],
    ["the start of a pending one into the past", { startsAt: NOW + 1 }, { startsAt: NOW - 1 }],
  ];
  test.each(replacing)("of %s ends the old one and begins another", (_, before, asked) => {
    const old = silence(before);
    const { silence: next, replaced } = changeSilence(old, wanted(old, asked), context);
    expect(next.id).toBe("new");
    expect(next.startsAt).toBeGreaterThanOrEqual(NOW);
    expect(replaced && silenceState(replaced, NOW)).toBe("expired");
  });

  test("of one that is over begins another, and leaves the old as it was", () => {
    const old = silence({ endsAt: NOW - 1 });
    const change = changeSilence(old, wanted(silence()), context);
    expect(change).toMatchObject({ silence: { id: "new", startsAt: NOW }, replaced: undefined });
  });
});

test("ended, it is over now; a pending one never began; one that was over stays as it was", () => {
  expect(endSilence(silence(), NOW)).toEqual(silence({ endsAt: NOW, updatedAt: NOW }));
  expect(endSilence(silence({ startsAt: NOW + 1 }), NOW)).toMatchObject({ startsAt: NOW, endsAt: NOW });
  const over = silence({ endsAt: NOW - 1 });
  expect(endSilence(over, NOW)).toBe(over);
});

test("of those changed lately, those that end together last are undone together", () => {
  const of = (id: string, endsAt: number, at?: number) =>
    silence({ id, endsAt, last: at === undefined ? undefined : { at } });
  const all = [
    of("a", NOW + 2, NOW),
    of("b", NOW + 2, NOW),
    of("c", NOW + 1, NOW),
    of("d", NOW + 2),
    of("e", NOW + 3, 0),
  ];
  expect(undoneTogether(all, NOW).map(({ id }) => id)).toEqual(["a", "b"]);
  expect(undoneTogether([], NOW)).toEqual([]);
});

describe("there is no room for one more", () => {
  const of = (text: string) => silence({ matchers: parseMatchers(text) });
  const rows: [string, Silence[], RegExp | undefined][] = [
    ["beside a few", [of('a=~"b.*"')], undefined],
    ["beside expired ones", Array(2_000).fill(silence({ endsAt: NOW })), undefined],
    ["beside too many", Array(2_000).fill(silence()), /2000 silences already/],
    ["beside large ones", Array(20).fill(silence({ comment: "x".repeat(60_000) })), /1000000 characters/],
    ["beside costly ones", Array(60).fill(of('a=~"(b?){40}"')), /regular expressions of all silences/],
  ];
  test.each(rows)("%s", (_, others, problem) => {
    const found = roomProblem(others, wanted(silence()), NOW);
    if (problem) expect(found).toMatch(problem);
    else expect(found).toBeUndefined();
  });
});
