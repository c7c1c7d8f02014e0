import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changesOf, isFlapping, recentChanges, recordStatus } from "../../src/health/flapping.ts";
import type { RecordingState, StateHistory, StatusStretch } from "../../src/health/shard-state.ts";
import { degradedRule, INTERVAL, MINUTE, offlineRule, rule, SECOND, START, Story } from "./shard-history.ts";

type Status = StatusStretch["status"];
type Seen = Pick<RecordingState, "status" | "readAt" | "history">;
const NAGIOS = { high: 0.3, low: 0.2 };
const flappingRule = (more = {}) => rule("RecordingFlapping", { kind: "flapping", ...NAGIOS }, more);
const KEY = "RecordingFlapping/recording/a";

/** The history after one reading a minute: `o` online, `x` offline, `d` degraded, `.` nobody saw. */
function historyOf(letters: string, intervalMs = MINUTE): StateHistory | undefined {
  return seenOver(letters, intervalMs).history;
}

function seenOver(letters: string, intervalMs = MINUTE): Seen & { now: number } {
  let seen: Seen = { status: undefined, readAt: 0, history: undefined };
  let now = START;
  for (const letter of letters) {
    now += intervalMs;
    const status = STATUSES[letter];
    if (!status) continue;
    seen = { status, readAt: now, history: recordStatus(seen, status, now, intervalMs) };
  }
  return { ...seen, now };
}

const STATUSES: Readonly<Record<string, Status>> = { o: "online", x: "offline", d: "degraded" };

const percent = (history: StateHistory | undefined) => Math.round(changesOf(history).share * 1000) / 10;

describe("the weighted share of changes", () => {
  test.each([
    ["oooooooooooooooooooox", 6.3, "the newest change"],
    ["ooooooooooooooooooxox", 18.4, "the 3 newest"],
    ["oooooooooooooooooxoxo", 24.2, "the 4 newest"],
    ["ooooooooooooooooxoxox", 29.9, "the 5 newest"],
    ["oooooooooooooooxoxoxo", 35.5, "the 6 newest"],
    ["oxoxoxoxoxoxoxoxoxoxo", 100, "every one"],
    ["oxxxxxxxxxxxxxxxxxxxx", 3.8, "the oldest change"],
    ["oxoxoxooooooooooooooooooooo", 0, "changes that are out of the window"],
  ])("%s is %d %%: %s", (letters, expected) => {
    expect(percent(historyOf(letters))).toBe(expected);
  });

  test("counts degraded as a state of its own", () => {
    expect(percent(historyOf("ooodxd"))).toBe(18.4);
    expect(percent(historyOf("oooxdo"))).toBe(18.4);
  });

  test("is the same as Nagios' own arithmetic over any 21 states", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("o", "x", "d"), { minLength: 21, maxLength: 80 }), (letters) => {
        expect(changesOf(historyOf(letters.join(""))).share).toBeCloseTo(nagios(letters.slice(-21)), 9);
      }),
    );
  });
});

/** base/flapping.c, as written there: a loop over the ring with its curve of 0.75 to 1.25. */
function nagios(states: readonly string[]): number {
  let curved = 0;
  for (let x = 1; x <= 20; x++) {
    if (states[x] !== states[x - 1]) curved += ((x - 1) * (1.25 - 0.75)) / 19 + 0.75;
  }
  return curved / 20;
}

const intervals = fc.integer({ min: 5, max: 30 });

interface TimedStatus {
  readonly status: Status;
  readonly readAt: number;
}

/** The history after readings `step` seconds apart. */
function historyBy(readings: readonly TimedStatus[], step: number): StateHistory | undefined {
  let seen: Seen = { status: undefined, readAt: 0, history: undefined };
  for (const { status, readAt } of readings) {
    seen = { status, readAt, history: recordStatus(seen, status, readAt, step * SECOND) };
  }
  return seen.history;
}

/** By definition: of the last 20 minutes, those with a reading unlike the one before it. */
function shareByMinute(readings: readonly TimedStatus[]): number {
  const changed = readings.map(({ status, readAt }, i) => {
    return { minute: Math.floor(readAt / MINUTE), is: i > 0 && readings[i - 1]?.status !== status };
  });
  const minutes = [...Map.groupBy(changed, ({ minute }) => minute).values()].map((all) => all.some(({ is }) => is));
  const states = [...Array.from({ length: 21 }, () => false), ...minutes].slice(-21);
  return nagios(states.map((_, i) => String(states.slice(1, i + 1).filter(Boolean).length)));
}

describe("what is remembered", () => {
  test("nothing of a recording that has always been the same, and nothing again once it rests", () => {
    expect(historyOf("oooooooo")).toBeUndefined();
    expect(historyOf(`ox${"x".repeat(19)}`)).toBeDefined();
    expect(historyOf(`ox${"x".repeat(20)}`)).toBeUndefined();
  });

  test("one change a minute, however often it is looked at", () => {
    let seen: Seen = { status: "online", readAt: START, history: undefined };
    for (let now = START + SECOND, i = 0; now < START + MINUTE; now += SECOND, i++) {
      const status = i % 2 === 0 ? "offline" : "online";
      seen = { status, readAt: now, history: recordStatus(seen, status, now, SECOND) };
    }
    expect(changesOf(seen.history).count).toBe(1);
    const history = recordStatus(seen, "online", START + MINUTE, SECOND);
    expect(changesOf(history).count).toBe(2);
  });

  test("a minute counts as changed exactly if one of its readings differs from the one before", () => {
    fc.assert(
      fc.property(intervals, fc.array(fc.constantFrom<Status>("online", "offline", "degraded")), (step, statuses) => {
        const readings = statuses.map((status, i) => ({ status, readAt: START + i * step * SECOND }));
        expect(changesOf(historyBy(readings, step)).share).toBeCloseTo(shareByMinute(readings), 9);
      }),
    );
  });

  test("whatever comes and goes every 20 to 110 s is flapping, wherever the sweeps fall", () => {
    const pattern = fc.record({
      period: fc.integer({ min: 20, max: 110 }),
      share: fc.double({ min: 0.3, max: 0.7, noNaN: true }),
    });
    fc.assert(
      fc.property(intervals, pattern, fc.nat(120), (step, { period, share }, phase) => {
        const isOn = (seconds: number) => (seconds + phase) % period < period * share;
        // Shorter than the interval, a part of the pattern can fall between all sweeps.
        fc.pre(Math.min(share, 1 - share) * period >= step);
        const readings = Array.from({ length: (25 * 60) / step }, (_, i) => ({
          status: isOn(i * step) ? ("online" as const) : ("offline" as const),
          readAt: START + i * step * SECOND,
        }));
        const moment = { now: readings.at(-1)?.readAt ?? START, intervalMs: step * SECOND };
        expect(isFlapping(historyBy(readings, step), NAGIOS, false, moment)).toBe(true);
      }),
    );
  });

  test("one state a sweep where sweeps are rarer, be they early or late", () => {
    let seen: Seen = { status: "online", readAt: START, history: undefined };
    const late = [119, 241, 360.5, 479, 600].map((seconds) => START + seconds * SECOND);
    for (const [i, now] of late.entries()) {
      const status = i % 2 === 0 ? "offline" : "online";
      seen = { status, readAt: now, history: recordStatus(seen, status, now, 2 * MINUTE) };
    }
    expect(changesOf(seen.history).count).toBe(5);
  });

  test("never more than 21 states", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("o", "x", "d", "."), { maxLength: 60 }), (letters) => {
        const stretches = historyOf(letters.join(""))?.stretches ?? [];
        expect(stretches.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(21);
        expect(stretches.length).not.toBe(1);
      }),
    );
  });
});

describe("beginning and end", () => {
  test("it begins at high and ends at low, and in between goes on as it was", () => {
    const context = (letters: string) => ({ now: seenOver(letters).now, intervalMs: MINUTE });
    const flaps = (letters: string, firing: boolean) =>
      isFlapping(historyOf(letters), NAGIOS, firing, context(letters));
    expect(flaps("oxoxox", false), "29.9 %").toBe(false);
    expect(flaps("oxoxoxo", false), "35.5 %").toBe(true);
    expect(flaps("oxoxo", true), "24.2 %").toBe(true);
    expect(flaps("oxox", true), "18.4 %").toBe(false);
  });

  test("it never begins and ends on the same states", () => {
    const shares = fc
      .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([a, b]) => ({ high: Math.max(a, b), low: Math.min(a, b) }))
      .filter(({ high, low }) => high - low > 1e-6);
    const states = fc.array(fc.constantFrom("o", "x", "d", "."), { maxLength: 40 });
    fc.assert(
      fc.property(states, shares, fc.integer({ min: 0, max: 200 }), (letters, when, later) => {
        const { history, now } = seenOver(letters.join(""));
        const moment = { now: now + later * MINUTE, intervalMs: MINUTE };
        const begins = isFlapping(history, when, false, moment);
        if (begins) expect(isFlapping(history, when, true, moment)).toBe(true);
      }),
    );
  });

  test("it does not begin with changes from before hours in which nobody saw anything, nor end for them", () => {
    const letters = `oxoxox${".".repeat(180)}o`;
    const moment = { now: seenOver(letters).now, intervalMs: MINUTE };
    expect(percent(historyOf(letters))).toBe(35.5);
    expect(recentChanges(historyOf(letters), moment).count).toBe(1);
    expect(isFlapping(historyOf(letters), NAGIOS, false, moment)).toBe(false);
    expect(isFlapping(historyOf(letters), NAGIOS, true, moment)).toBe(true);
  });

  test.each([
    [30 * SECOND, 5 * MINUTE],
    [5 * MINUTE, 30 * SECOND],
    [2 * MINUTE, MINUTE],
  ])("another poll interval, from %d to %d ms, neither begins nor ends it by itself", (before, after) => {
    const step = Math.max(before, MINUTE);
    for (const [letters, firing] of [
      ["oxoxox", false],
      ["oxoxoxo", true],
    ] as const) {
      const seen = seenOver(letters, step);
      const now = seen.now + after;
      const history = recordStatus(seen, seen.status ?? "online", now, after);
      expect(isFlapping(history, NAGIOS, firing, { now, intervalMs: after })).toBe(firing);
    }
  });
});

describe("a recording that flaps, judged", () => {
  const both = () => [flappingRule(), offlineRule({ keepFiringForMs: MINUTE }), degradedRule()];

  /** One letter a minute, two sweeps each; gives what alerts did. */
  function play(story: Story, letters: string): string[] {
    const said: string[] = [];
    for (const letter of letters) {
      const status = STATUSES[letter];
      if (status) said.push(...story.sweepFor(MINUTE, { a: status }));
      else story.pass(MINUTE);
    }
    return said;
  }

  test("begins once and ends once", () => {
    const story = new Story(flappingRule());
    expect(play(story, "ooo")).toEqual([]);
    const said = play(story, "xoxoxo");
    expect(said).toEqual([`firing ${KEY}`]);
    const { facts, annotations } = story.state.recordings.get("a")?.alerts?.RecordingFlapping ?? {};
    expect(facts).toMatchObject({ problem: "flapping", changes: 6, status: "online" });
    expect(annotations?.description).toContain("changed at least 6 times since");
    const rest = play(story, "o".repeat(30)).filter((one) => !one.startsWith("updated"));
    expect(rest).toEqual([`resolved ${KEY} recovered`]);
    expect(story.state.recordings.get("a")).toMatchObject({ history: undefined, alerts: undefined });
  });

  test("ends with what is true then: offline, and since when", () => {
    const story = new Story(flappingRule());
    play(story, "oooxoxoxo");
    const darkAt = story.now + INTERVAL;
    play(story, "x");
    for (let minute = 0; minute < 30; minute++) {
      if (play(story, "x").includes(`resolved ${KEY} recovered`)) break;
    }
    expect(story.alert).toMatchObject({
      state: "resolved",
      endReason: "recovered",
      facts: { status: "offline", statusSince: darkAt },
    });
  });

  test("holds the end of what was offline before, and lets go of it in the same judgement", () => {
    const story = new Story(...both());
    play(story, "ooo");
    const offlineAt = story.now + INTERVAL;
    const said = play(story, "xxxoxoxoxo").filter((one) => !one.startsWith("updated"));
    const firings = said.filter((one) => one.startsWith("firing RecordingOffline"));
    expect(said.at(-1), said.join("\n")).not.toMatch(/^resolved/);
    const rest: string[] = [];
    for (let minute = 0; minute < 30; minute++) {
      const moved = play(story, "o").filter((one) => one.startsWith("resolved"));
      rest.push(...moved);
      if (moved.length > 0) break;
    }
    expect(firings.length).toBeGreaterThan(0);
    expect(rest).toEqual([`resolved ${KEY} recovered`, "resolved RecordingOffline/recording/a recovered"]);
    const ended = story.last.transitions.find(({ alert }) => alert.ruleId === "RecordingOffline");
    expect(ended?.alert.startsAt).toBe(offlineAt);
    expect(ended?.alert.endsAt, "when it came back, not when it was steady").toBeLessThan(story.now - 5 * MINUTE);
  });

  test("lets go of it whatever its keep_firing_for: to be steady is to have been well for longer", () => {
    const story = new Story(flappingRule(), offlineRule({ keepFiringForMs: 60 * MINUTE }));
    play(story, "ooxxxoxoxoxo");
    expect(story.alertState("a", "RecordingFlapping")?.state).toBe("firing");
    const said = play(story, "o".repeat(30)).filter((one) => one.startsWith("resolved"));
    expect(said).toEqual([`resolved ${KEY} recovered`, "resolved RecordingOffline/recording/a recovered"]);
  });

  test("keeps what is offline firing when it is steady at that", () => {
    const story = new Story(flappingRule(), offlineRule({ keepFiringForMs: 5 * MINUTE }));
    play(story, "ooxxxoxoxoxo");
    expect(story.alertState("a", "RecordingOffline")?.state).toBe("firing");
    const said = play(story, "x".repeat(30)).filter((one) => !one.startsWith("updated"));
    expect(said).toEqual([`resolved ${KEY} recovered`]);
    expect(story.alertState("a", "RecordingOffline")?.state).toBe("firing");
  });

  test("lets an outage that began meanwhile end by itself", () => {
    const story = new Story(flappingRule(), offlineRule());
    play(story, "oooxoxodo");
    expect(story.alertState("a", "RecordingFlapping")?.state).toBe("firing");
    expect(play(story, "x")).toContain("firing RecordingOffline/recording/a");
    expect(play(story, "o")).toContain("resolved RecordingOffline/recording/a recovered");
    expect(story.alertState("a", "RecordingFlapping")?.state).toBe("firing");
  });

  test("is neither steady nor worse for time in which nobody saw it", () => {
    const story = new Story(flappingRule());
    play(story, "oooxoxoxo");
    expect(play(story, `${".".repeat(600)}o`).filter((one) => !one.startsWith("updated"))).toEqual([]);
    expect(story.alertState("a", "RecordingFlapping")?.state).toBe("firing");
  });
});
