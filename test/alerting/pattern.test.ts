import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { createMatcher, parseMatchers } from "../../src/alerting/matcher.ts";
import { patternCost, requestBudget } from "../../src/alerting/pattern.ts";

/** CPU ms that no pattern may take; what is refused here would take seconds. Collection of garbage is counted, too. */
const MOST_MS = 300;

/** CPU time of this process and its memory, whatever else the machine does: the least of three. */
function costOf(work: () => void): { readonly ms: number; readonly mb: number } {
  const all = Array.from({ length: 3 }, () => costOnce(work));
  return { ms: Math.min(...all.map(({ ms }) => ms)), mb: Math.min(...all.map(({ mb }) => mb)) };
}

function costOnce(work: () => void): { readonly ms: number; readonly mb: number } {
  const [before, began] = [process.memoryUsage(), process.cpuUsage()];
  work();
  const { user, system } = process.cpuUsage(began);
  const after = process.memoryUsage();
  const bytes = (usage: NodeJS.MemoryUsage) => usage.heapUsed + usage.external;
  return { ms: (user + system) / 1000, mb: (bytes(after) - bytes(before)) / 1e6 };
}

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const atom = fc.constantFrom(
  ..."a . b \\d \\pL \\PN \\p{Greek} \\x{100} [a-z] [^a] [\\pL\\pN] []a] [[:alpha:]x] [\\]{9}] \\Qa(b\\E \\Q{\\E \\( ^ $ \\b a\\Q\\E a(?i)".split(
    " ",
  ),
  "(?i)[\\x{100}-\\x{1ffff}]",
  "(?i)k",
  "",
);
const repeat = fc.constantFrom("*", "+", "?", "{3}", "{2,}", "{0,9}", "{20}", "{1000}", "*?", "");
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 5 },
    fc.tuple(atom, repeat).map((parts) => parts.join("")),
    fc.tuple(fc.constantFrom("(", "(?:", "(?P<n>"), tie("pattern"), repeat).map(([o, p, r]) => `${o}${p})${r}`),
    fc.array(tie("pattern"), { minLength: 2, maxLength: 4 }).map((all) => all.join("|")),
    fc.array(tie("pattern"), { minLength: 2, maxLength: 4 }).map((all) => all.join("")),
  ),
}));

describe("the cost of a pattern", () => {
  test("is never less than what RE2 makes of it", () => {
    fc.assert(
      fc.property(pattern, (text) => {
        const cost = patternCost(text);
        fc.pre(cost > 0 && cost < 3_000);
        const compiled = attempt(() => RE2JS.compile(text));
        if (compiled) expect(compiled.programSize()).toBeLessThanOrEqual(cost);
      }),
      { numRuns: 250 },
    );
  });

  test.each([
    ["RecordingOffline|LocationOffline", 0],
    ["Recording.*", 500],
    [".*(Manchester|Leeds|York).*", 500],
    ["[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}", 500],
    ["(?i)[a-zäöü -]{1,60}", 500],
  ])("%s is small enough for a request", (text, most) => {
    expect(patternCost(text)).toBeLessThanOrEqual(most);
    expect(() => createMatcher("a", "=~", text, requestBudget())).not.toThrow();
  });
});

const HOSTILE = {
  "repeated groups": "(a?){1000}".repeat(360),
  "nested repetition": "(((a{10}){10}){10}){2}",
  "a repetition after a quoted bracket": "\\Q[\\E(a?){1000}]",
  "a repetition after an empty quotation": `(?:(?:${"a".repeat(200)})\\Q\\E{31})\\Q\\E{31}`,
  "a repetition after flags": `(?:(?:${"a".repeat(200)})(?s){31})(?s){31}`,
  "a repetition after an escaped class": "[\\]](a?){1000}",
  "classes of Unicode": "\\pL".repeat(1_300),
  "ranges that ignore case": `(?i)${"[a-\\x{1ffff}]".repeat(280)}`,
  "ranges that ignore case, not closed": `(?i)[${"a-\\x{1ffff}".repeat(280)}`,
  "classes not closed": "[".repeat(4_096),
  "open groups": "(".repeat(4_096),
  "one group in another": `${"(".repeat(2_000)}a${")".repeat(2_000)}`,
  "a long class, repeated": `[${"äöüß".repeat(500)}]{400}`,
};

describe("no pattern of a request stalls the process or fills its memory", () => {
  test.each(Object.entries(HOSTILE))("%s", (_, text) => {
    const { ms, mb } = costOf(() => attempt(() => createMatcher("x", "=~", text, requestBudget())));
    expect(ms).toBeLessThan(MOST_MS);
    expect(mb).toBeLessThan(50);
  });

  test("nor do many of them together, each of which may be sent alone", () => {
    const one = "(a|b)*a(a|b){9}";
    expect(() => createMatcher("x", "=~", one, requestBudget())).not.toThrow();
    const all = Array.from({ length: 200 }, (_, i) => `x${i}=~"${one}"`).join(",");
    const { ms } = costOf(() => expect(() => parseMatchers(all, requestBudget())).toThrow(/too large: repeat less/));
    expect(ms).toBeLessThan(MOST_MS);
  });

  test("nor does any that fits, whatever the longest label is", () => {
    const label = Array.from({ length: 1_024 }, (_, i) => "ab"[((i * i * 7919) % 13) & 1]).join("");
    const worst = [
      "(a|b)*a(a|b){75}",
      "(?:a|b)*a[ab]{230}",
      "(?:.?){78}",
      "a*".repeat(160),
      "(?:.*a){65}",
      "(a?){50}a{50}",
    ];
    for (const text of worst) {
      const matcher = createMatcher("x", "=~", text, requestBudget());
      matcher.matches("a");
      const asked = [label, `${label.slice(1)}c`, "a".repeat(1_024)].map((value) =>
        costOf(() => matcher.matches(value)),
      );
      expect(Math.max(...asked.map(({ ms }) => ms)), text).toBeLessThan(MOST_MS);
      expect(
        asked.reduce((sum, { mb }) => sum + mb, 0),
        text,
      ).toBeLessThan(50);
    }
  });
});
