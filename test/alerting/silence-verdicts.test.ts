import { describe, expect, test } from "vitest";
import { type Matcher, parseMatchers } from "../../src/alerting/matcher.ts";
import { silencesOf } from "../../src/alerting/silence.ts";
import { forgetVerdicts, isMatched, lookBudget } from "../../src/alerting/silence-verdicts.ts";
import { anAlert, aSilence } from "../support/fixtures.ts";

const alert = (id: string, x = "text", kind: "external" | "recording" = "external") =>
  anAlert({ id, labels: { x }, subject: { kind, id } });

/** Matchers that count how often a pattern is asked. */
function counted(pattern = ".*t") {
  const asked: string[] = [];
  const matches = (text: string) => asked.push(text) > 0 && text.endsWith("t");
  const matchers: Matcher[] = [{ name: "x", operator: "=~", value: pattern, matches }];
  return { asked, matchers };
}

describe("matchers and an alert", () => {
  test("are a pair that is asked once, whatever else is asked meanwhile", () => {
    const { asked, matchers } = counted();
    const others = Array.from({ length: 2_000 }, (_, i) => alert(`${i}`, "x".repeat(1_000)));
    for (let look = 0; look < 3; look++) {
      expect(isMatched(matchers, alert("a"))).toBe(true);
      for (const one of others) isMatched(matchers, one);
    }
    expect(asked).toHaveLength(2_001);
  });

  test("are asked again where the matchers are others, or the alert is another episode", () => {
    const [a, b] = [counted(), counted()];
    expect([a, b].map(({ matchers }) => isMatched(matchers, alert("a")))).toEqual([true, true]);
    expect(isMatched(a.matchers, alert("b", "tail"))).toBe(false);
    expect([a.asked.length, b.asked.length]).toEqual([2, 1]);
  });

  test("are left to the next look where the budget is spent, and cost none once known", () => {
    const { asked, matchers } = counted();
    const all = Array.from({ length: 2_000 }, (_, i) => alert(`${i}`, "x".repeat(1_000)));
    const answered = () => {
      const budget = lookBudget();
      return all.filter((one) => isMatched(matchers, one, budget) !== undefined).length;
    };
    const looks = Array.from({ length: 30 }, answered);
    expect(looks[0]).toBeGreaterThan(0);
    expect(looks[0]).toBeLessThan(2_000);
    expect(looks.at(-1)).toBe(2_000);
    expect(asked).toHaveLength(2_000);
  });

  test("without patterns need neither memory nor budget", () => {
    const matchers = parseMatchers('x="text"');
    expect(isMatched(matchers, alert("a"), { left: 0 })).toBe(true);
    expect(isMatched(matchers, alert("a", "other"), { left: 0 })).toBe(false);
  });

  test("are forgotten once the alert is over, and not while it fires", () => {
    const { asked, matchers } = counted();
    const all = Array.from({ length: 1_100 }, (_, i) => alert(`${i}`));
    for (const one of all) isMatched(matchers, one);
    forgetVerdicts([matchers], all.slice(0, 10));
    for (const one of all) isMatched(matchers, one);
    expect(asked).toHaveLength(1_100 + 1_090);
  });
});

test("an alert of lenswatch is compared with every silence at once, whatever the budget", () => {
  const { matchers } = counted();
  const silences = [aSilence({ matchers, startsAt: 0, endsAt: 9 })];
  const look = (kind: "external" | "recording") => {
    const steps = silencesOf(silences, alert("a", "text", kind), 1, { left: 0 });
    for (;;) {
      const { done, value } = steps.next();
      if (done) return [value.found.length, value.isComplete];
    }
  };
  expect(look("external")).toEqual([0, false]);
  expect(look("recording")).toEqual([1, true]);
});
