import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMatcher, formatMatcher, matchesAll, parseMatcher, parseMatchers } from "../../src/alerting/matcher.ts";

const formatted = (text: string) => parseMatchers(text).map(formatMatcher);

describe("parsing matchers as Alertmanager does", () => {
  const good: [string, string[]][] = [
    ["foo=bar", ['foo="bar"']],
    [' severity = "warning" ', ['severity="warning"']],
    ['{foo="bar",baz!="qux",}', ['foo="bar"', 'baz!="qux"']],
    ["foo=bar, dings!=bums", ['foo="bar"', 'dings!="bums"']],
    ['{ alertname =~ "Recording.*|LowQuality" }', ['alertname=~"Recording.*|LowQuality"']],
    ["alertname=~Recording.*|LowQuality", ['alertname=~"Recording.*|LowQuality"']],
    ['a!~"x"', ['a!~"x"']],
    ['location_id != ""', ['location_id!=""']],
    ['a="x,y}"', ['a="x,y}"']],
    ['a="say \\"hi\\"\\n\\t\\\\"', ['a="say \\"hi\\"\\n\\t\\\\"']],
    ['"l\\u00e4nge \\x41"="\\101\\U0001F600"', ['"länge A"="A😀"']],
    ['a="\\xe2\\x82\\xac"', ['a="€"']],
    ["läng=ö", ['"läng"="ö"']],
    ["{}", []],
    ["", []],
    [" { } ", []],
  ];
  test.each(good)("%s", (text, expected) => {
    expect(formatted(text)).toEqual(expected);
  });

  const bad: [string, string][] = [
    ["foo", "column 4: expected one of = != =~ !~, found the end"],
    ["foo bar", 'column 5: expected one of = != =~ !~, found "bar"'],
    ["foo=", "column 5: expected a name or value (bare, or in double quotes), found the end"],
    ["=bar", 'column 1: expected a name or value (bare, or in double quotes), found "="'],
    ['""=bar', "column 1: a label name cannot be empty"],
    ["{foo=bar", "column 9: expected }, found the end"],
    ["foo=bar}", 'column 8: expected the end, found "}"'],
    ["{foo=bar}}", 'column 10: expected the end, found "}"'],
    ["foo=bar,,a=b", 'column 9: expected a name or value (bare, or in double quotes), found ","'],
    ["foo=bar baz", 'column 9: expected the end, found "baz"'],
    ['foo="bar', "column 5: the closing double quote is missing"],
    ["foo='bar'", "column 5: ' must stand inside double quotes"],
    ["foo=`bar`", "column 5: ` must stand inside double quotes"],
    ["foo=a\\b", "column 6: \\ must stand inside double quotes"],
    ["foo==bar", 'column 5: expected a name or value (bare, or in double quotes), found "="'],
    ['foo="\\q"', 'column 5: "\\q" has an escape or line break a Go string does not allow'],
    ['foo="\\xff"', 'column 5: "\\xff" has an escape or line break a Go string does not allow'],
    ['foo="\\ud800"', 'column 5: "\\ud800" has an escape or line break a Go string does not allow'],
    ['foo="a\nb"', 'column 5: "a\nb" has an escape or line break a Go string does not allow'],
    ['foo=~"("', 'column 6: "(" is not a regular expression RE2 understands: missing closing ): `(`'],
  ];
  test.each(bad)("%j is refused with the place", (text, message) => {
    expect(() => parseMatchers(text)).toThrow(new Error(message));
  });

  test("parseMatcher takes exactly one, without braces", () => {
    expect(formatMatcher(parseMatcher(" a = b "))).toBe('a="b"');
    for (const text of ["", "{a=b}", "a=b,", "a=b,c=d"]) expect(() => parseMatcher(text)).toThrow(/^column \d+: /);
  });

  test("whatever is formatted is parsed back", () => {
    const operators = fc.constantFrom("=" as const, "!=" as const);
    const name = fc.string({ minLength: 1, unit: "grapheme" });
    fc.assert(
      fc.property(name, operators, fc.string({ unit: "grapheme" }), (label, operator, value) => {
        const { matches: _, ...parsed } = parseMatcher(formatMatcher({ name: label, operator, value }));
        expect(parsed).toEqual({ name: label, operator, value });
      }),
    );
  });

  test("any text is parsed or refused with one sentence, nothing else", () => {
    const pieces = fc.constantFrom("{", "}", "=", "!", "~", ",", "\\", '"', "'", "`", " ", "a", "(", "\n", "x1");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        try {
          parseMatchers(parts.join(""));
        } catch (thrown) {
          expect((thrown as Error).message).toMatch(/^column \d+: /);
        }
      }),
    );
  });
});

describe("matching", () => {
  const labels = { alertname: "RecordingOffline", location: "Leeds\nBriggate" };
  const rows: [string, boolean][] = [
    ['alertname="RecordingOffline"', true],
    ['alertname="recordingoffline"', false],
    ['alertname!="LowQuality"', true],
    ['alertname=~"Recording.*|LowQuality"', true],
    ['alertname=~"Recording"', false],
    ['alertname=~"Offline"', false],
    ['alertname=~"Recording|RecordingOffline"', true],
    ['alertname!~"Recording"', true],
    ['alertname!~"(?i)RECORDING.*"', false],
    ['nothing=""', true],
    ['nothing!=""', false],
    ['nothing=~".*"', true],
    ['nothing=~".+"', false],
    ['nothing!~"x"', true],
    ['location=~"Leeds.Briggate"', false],
    ['location=~"(?s)Leeds.Briggate"', true],
    ['toString=""', true],
    ['__proto__=""', true],
  ];
  test.each(rows)("%s is %s", (text, expected) => {
    expect(matchesAll(parseMatchers(text), labels)).toBe(expected);
  });

  test("all must agree, and none is agreed", () => {
    expect(matchesAll(parseMatchers('alertname=~"Rec.*",nothing="x"'), labels)).toBe(false);
    expect(matchesAll([], labels)).toBe(true);
  });
});

describe("no pattern hangs", () => {
  test.each(["(?=a)b", "(?!a)b", "(?<=a)b", "(a)\\1", "((a{1000}){1000})", "a".repeat(4_097)])(
    "%s is refused: RE2 has no such thing, or it is too large",
    (pattern) => {
      expect(() => createMatcher("a", "=~", pattern)).toThrow();
    },
  );

  test.each(["(a+)+", "(a|a)*", "(a|aa)+", "(.*a){20}", "([a-z]+)*\\d", "(x+x+)+y", "(a?){50}a{50}", "a{0,1000}b"])(
    "%s takes time in proportion to the text",
    (pattern) => {
      const matcher = createMatcher("a", "=~", pattern);
      const began = performance.now();
      matcher.matches(`${"a".repeat(20_000)}!`);
      expect(performance.now() - began).toBeLessThan(30_000);
    },
  );

  test("nor does any made of the parts that are known to", () => {
    const atom = fc.constantFrom("a", ".", "[a-z]", "\\w", "a|b", "");
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc
          .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2,9}", ""))
          .map(([inner, repeat]) => `(${inner})${repeat}`),
        fc.tuple(tie("pattern"), tie("pattern")).map(([one, two]) => `(?:${one}|${two}${one})`),
      ),
    }));
    fc.assert(
      fc.property(pattern, (text) => {
        fc.pre(compiles(text));
        const began = performance.now();
        createMatcher("a", "=~", text).matches(`${"ab".repeat(500)}!`);
        expect(performance.now() - began).toBeLessThan(10_000);
      }),
      { numRuns: 60 },
    );
  });
});

function compiles(pattern: string): boolean {
  try {
    createMatcher("a", "=~", pattern);
    return true;
  } catch {
    return false;
  }
}
