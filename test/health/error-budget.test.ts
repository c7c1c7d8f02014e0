import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addSample,
  budgetRemaining,
  burnRate,
  type ErrorBudget,
  isBurning,
  observedIn,
} from "../../src/health/error-budget.ts";
import { budgetWords, sloEvaluator } from "../../src/health/slo-evaluator.ts";
import { rule as ruleOf } from "./shard-history.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse("2026-11-01T00:00:00Z");
const PERIOD = 30 * DAY;

/** Samples once a minute, of a fleet of which a share is bad. */
function played(minutes: number, shareAt: (minute: number) => number | undefined, size = 1_000) {
  let budget: ErrorBudget | undefined;
  const history: ErrorBudget[] = [];
  for (let i = 0; i <= minutes; i++) {
    const share = shareAt(i);
    const bad = Math.round((share ?? 0) * size);
    budget = addSample(
      budget,
      share === undefined ? { good: 0, bad: 0 } : { good: size - bad, bad },
      START + i * MINUTE,
    );
    history.push(budget);
  }
  return { budget: budget as ErrorBudget, now: START + minutes * MINUTE, history };
}

/** How many minutes after `from` it begins to burn; undefined: never. */
function detectedAfter(speed: "fast" | "slow", objective: number, share: number, lastsMinutes: number) {
  const from = 3 * 24 * 60;
  const { history } = played(from + lastsMinutes, (i) => (i > from ? share : 0), 10_000);
  const at = history
    .slice(from)
    .findIndex((budget, i) => isBurning(budget, objective, speed, START + (from + i) * MINUTE) === true);
  return at < 0 ? undefined : at;
}

describe("burn rates", () => {
  // The SRE workbook: the time to detect is (1 - objective) / error ratio × rate × window.
  test.each([
    ["everything is down", 0.999, 1, 1],
    ["a tenth is down", 0.99, 0.1, 216],
    ["errors use 2 % of the budget in an hour", 0.99, 0.15, 58],
  ])("%s: fast within the time of the workbook", (_, objective, share, minutes) => {
    const found = detectedAfter("fast", objective, share, 6 * 60);
    expect(Math.abs((found ?? Number.POSITIVE_INFINITY) - minutes)).toBeLessThanOrEqual(6 + 0.1 * minutes);
  });

  test("errors that last as long as the budget are not fast, and are slow once they last for days", () => {
    expect(detectedAfter("fast", 0.99, 0.011, 8 * 60)).toBeUndefined();
    expect(detectedAfter("slow", 0.99, 0.011, 70 * 60)).toBeGreaterThan(48 * 60);
    expect(detectedAfter("slow", 0.99, 0.0095, 80 * 60)).toBeUndefined();
  });

  test("one of ten recordings is a tenth: with 99.5 % it is urgent, with 90 % nothing ever is", () => {
    expect(detectedAfter("fast", 0.995, 0.1, 60)).toBeLessThan(50);
    expect(detectedAfter("fast", 0.9, 1, 6 * 60)).toBeLessThan(4 * 60);
    const { budget, now } = played(120, () => 1);
    expect(burnRate(budget, 0.9, HOUR, now)).toBeCloseTo(10, 9);
  });

  test("it is over minutes after the errors, not when the long window has forgotten them", () => {
    const { history } = played(240, (i) => (i > 120 && i <= 150 ? 1 : 0));
    const states = history.map((budget, i) => isBurning(budget, 0.995, "fast", START + i * MINUTE));
    expect(states.slice(130, 150)).not.toContain(false);
    // The window of 6 h still burns in its last half hour.
    expect(states.slice(190, 230)).not.toContain(true);
  });

  test("nothing is said where less than half was watched", () => {
    const young = played(20, () => 1);
    expect(burnRate(young.budget, 0.9, HOUR, young.now)).toBeUndefined();
    expect(isBurning(young.budget, 0.99, "fast", young.now)).toBeUndefined();
    const gone = played(300, (i) => (i < 200 ? 0 : undefined));
    expect(isBurning(gone.budget, 0.99, "fast", gone.now)).toBeUndefined();
    expect(observedIn(gone.budget, HOUR, gone.now)).toEqual({ share: 0, good: 0, bad: 0 });
  });

  test("more errors never burn less, and more time does not change a steady rate", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 60, maxLength: 130 }),
        fc.nat(100),
        (shares, more) => {
          const less = played(shares.length, (i) => (shares[i % shares.length] ?? 0) / 100, 100);
          const worse = played(shares.length, (i) => Math.min(1, ((shares[i % shares.length] ?? 0) + more) / 100), 100);
          const [a, b] = [less, worse].map(({ budget, now }) => burnRate(budget, 0.99, HOUR, now));
          expect(b).toBeGreaterThanOrEqual(a ?? 0);
          expect(budgetRemaining(worse.budget, { objective: 0.99, periodMs: PERIOD }, worse.now)).toBeLessThanOrEqual(
            budgetRemaining(less.budget, { objective: 0.99, periodMs: PERIOD }, less.now) ?? 0,
          );
          const sum = less.budget.tiers.map((tier) => tier.reduce((all, [, , good, bad]) => all + good + bad, 0));
          expect(new Set(sum)).toEqual(new Set([shares.length * 60 * 100]));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("the error budget", () => {
  const slo = { objective: 0.99, periodMs: PERIOD };

  test("is spent by the share of its whole period that errors took", () => {
    const { budget, now } = played(10 * 24 * 60, (i) => (i <= 5 * 60 ? 0.48 : 0));
    // 2.4 recordings' hours of 7.2 in 30 days.
    expect(budgetRemaining(budget, slo, now)).toBeCloseTo(1 - 2.4 / 7.2, 2);
  });

  test("is not spent by time that was not watched, and a sample after a gap stands for nothing", () => {
    const before = played(600, () => 0);
    const after = addSample(before.budget, { good: 0, bad: 10 }, before.now + DAY);
    expect(budgetRemaining(after, slo, before.now + DAY)).toBe(1);
    expect(addSample(before.budget, { good: 0, bad: 10 }, before.now - DAY).tiers).toEqual(before.budget.tiers);
  });

  test("leaves out samples of later, which the clock may have gone back from", () => {
    const { budget } = played(180, () => 0.5, 2);
    const { good, bad } = observedIn(budget, HOUR, START + HOUR);
    expect([good, bad].map((seconds) => seconds / 60)).toEqual([64, 64]);
  });

  test("stays small, and forgets what is older than a quarter", () => {
    let budget = addSample(undefined, { good: 100_000, bad: 5_000 }, START);
    for (let i = 1; i <= 130 * 24 * 8; i++)
      budget = addSample(budget, { good: 100_000, bad: 5_000 }, START + i * 7.5 * MINUTE);
    expect(budget.tiers.map(({ length }) => length)).toEqual(
      [54, 80, 92].map((most) => expect.toSatisfy((n) => n <= most)),
    );
    expect(JSON.stringify(budget).length).toBeLessThan(12_000);
    expect(budgetRemaining(budget, slo, budget.at)).toBeLessThan(-3);
  });
});

test("an alert says what burns, how fast and what is left", () => {
  const { budget, now } = played(600, (i) => (i > 500 ? 0.2 : 0));
  const evidence = {
    id: "recording/acme",
    title: "SLO recording of acme",
    objective: 0.99,
    periodMs: PERIOD,
    labels: { slo: "recording", organisation: "acme" },
    budget,
    offline: { total: 3, names: ["Leeds, Till 3"] },
  };
  const rule = ruleOf("SLOBurnRateHigh", { kind: "slo_burn", speed: "fast" });
  const evaluator = sloEvaluator(evidence, now);
  expect(evaluator.evidence(rule, false)).toBe(true);
  expect(evaluator.subject).toEqual({ kind: "group", id: "slo/recording/acme" });
  expect(evaluator.describe(rule, now)).toMatchObject({
    labels: { alertname: "SLOBurnRateHigh", slo: "recording", organisation: "acme" },
    annotations: {
      summary: "The error budget of SLO recording of acme burns fast",
      description:
        "The objective is 99 %. Errors against what it allows: 20.0 times in 1 h, 5.5 times in 6 h. 95 % of the error budget of 30 d is left. Offline now: Leeds, Till 3; 2 more.",
    },
  });
  const { offline: _, ...unnamed } = evidence;
  expect(sloEvaluator(unnamed, now).describe(rule, now).annotations.description).toMatch(/30 d is left\.$/);
});

test("what is left is never said to be more than it is, what is overspent never less", () => {
  expect([0.019, -0.011].map((left) => budgetWords(left, PERIOD))).toEqual([
    "1 % of the error budget of 30 d is left",
    "The error budget of 30 d is overspent by 2 %",
  ]);
});
