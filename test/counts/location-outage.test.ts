import { describe, expect, it } from "vitest";
import { type OutageAlert, visitsLostDuring } from "../../src/counts/location-outage.ts";
import type { CountedHours } from "../../src/counts/visits-lost.ts";
import type { ProblemKind } from "../../src/health/alert.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 10, 18, 12);

/** 40 an hour, and of these hours `during` instead. */
function counts(during: number | null, [first, hours]: [first: number, hours: number] = [0, 0]): CountedHours {
  const all = Array.from({ length: 57 * 24 }, (_, i) => NOON + 24 * HOUR - (i + 1) * HOUR);
  const isOut = (at: number) => at >= NOON + first * HOUR && at < NOON + (first + hours) * HOUR;
  return { timezone: "UTC", hours: new Map(all.map((at) => [at, isOut(at) ? during : 40 + ((at / HOUR) % 3)])) };
}

const row = (id: string, from: number, to: number, problem: ProblemKind = "offline"): OutageAlert => ({
  subject: { kind: problem === "location_offline" ? "location" : "recording", id },
  problem,
  startsAt: NOON + from * HOUR,
  endsAt: NOON + to * HOUR,
});

const estimate = (...args: Parameters<typeof visitsLostDuring>) => {
  const found = visitsLostDuring(...args);
  return typeof found === "string" ? found : Math.round(found.estimate / 10) * 10;
};

describe("visits lost while an alert fires", () => {
  const now = NOON + 20 * HOUR;

  it("are all while every recording of the location is offline, also in part of an hour", () => {
    const [door, till] = [row("door", 0, 0.5), row("till", 0.25, 0.75)];
    const whole = counts(40);
    expect(estimate(door, [till], 2, whole, now)).toBe(10);
    expect(estimate(door, [row("till", 0, 0.5)], 2, whole, now)).toBe(20);
    expect(estimate(door, [row("till", 0, 0.5)], 3, whole, now)).toBe("chance_explains_it");
    expect(estimate(door, [], 1, whole, now)).toBe(20);
  });

  it("are all where nothing was counted though few recordings have an alert", () => {
    expect(estimate(row("leeds", 0.5, 3.5, "location_offline"), [], 4, counts(null, [1, 2]), now)).toBe(120);
    expect(estimate(row("door", 0, 3), [], 4, counts(0, [0, 3]), now)).toBe(120);
  });

  it("last until now while it fires, and are none for what does not keep anything from being counted", () => {
    const door = { ...row("door", -3, 0), endsAt: undefined };
    expect(estimate(door, [], 1, counts(null, [-3, 24]), NOON)).toBe(120);
    expect(estimate(row("door", 0, 3, "low_quality"), [], 1, counts(0, [0, 3]), now)).toBe("nothing_expected");
  });

  it("are also what a camera that is online does not count", () => {
    expect(estimate(row("door", 0, 3, "not_uploading"), [], 1, counts(40), now)).toBe(120);
    expect(estimate(row("door", 0, 3, "counts_low"), [], 1, counts(8, [0, 3]), now)).toBe(100);
    expect(estimate(row("leeds", 0, 3, "counts_low"), [], 2, counts(8, [0, 3]), now)).toBe(100);
  });

  it("are not said of low counts by a short outage meanwhile, while the hours before it are not known", () => {
    const outage = [row("door", 2, 2.25), row("till", 2, 2.25)];
    const { hours, timezone } = counts(40);
    const unread = { timezone, hours: new Map([...hours].filter(([at]) => at < NOON || at >= NOON + 3 * HOUR)) };
    expect(estimate(row("door", 0, 3, "counts_low"), outage, 2, unread, now)).toBe("nothing_expected");
    expect(estimate(row("door", 2, 2.25), [row("till", 2, 2.25)], 2, unread, now)).toBe(10);
    expect(estimate(row("door", 0, 3, "counts_low"), outage, 2, counts(8, [0, 3]), now)).toBe(100);
  });

  it("have a history also where a recording that counts nothing was offline for weeks", () => {
    const yard = row("yard", -50 * 24, 3);
    expect(estimate(row("door", 0, 3), [yard], 3, counts(0, [0, 3]), now)).toBe(120);
  });
});
