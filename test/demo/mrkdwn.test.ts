import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMrkdwn } from "../../src/demo/slack-message.ts";

const styled = (text: string) =>
  parseMrkdwn(text).map(({ text: shown, href, ...styles }) => {
    const on = Object.entries(styles).flatMap(([style, is]) => (is ? [style] : []));
    return [shown, ...on, ...(href ? [href] : [])];
  });

describe("mrkdwn", () => {
  test.each([
    ["plain text", [["plain text"]]],
    ["a *bold* word", [["a "], ["bold", "bold"], [" word"]]],
    ["_it_ ~gone~ `code`", [["it", "italic"], [" "], ["gone", "strike"], [" "], ["code", "code"]]],
    ["2 * 3 * 4 and snake_case_name", [["2 * 3 * 4 and snake_case_name"]]],
    ["*not closed", [["*not closed"]]],
    ["`*no bold in code*`", [["*no bold in code*", "code"]]],
    ["&lt;!channel&gt; &amp;amp;", [["<!channel> &amp;"]]],
    ["<https://a.example/?a=1&amp;b=2|there>", [["there", "https://a.example/?a=1&b=2"]]],
    ["*<https://a.example|bold link>*", [["bold link", "bold", "https://a.example"]]],
    ["<javascript:alert(1)|click>", [["click"]]],
    ["<!channel>", [["@channel"]]],
    ["<!date^1700000000^{time}|14:05>", [["14:05"]]],
    ["a < b", [["a < b"]]],
  ])("%s", (text, expected) => {
    expect(styled(text)).toEqual(expected);
  });

  test("ends every style with its line", () => {
    expect(styled("*one\ntwo* three").flat()).not.toContain("bold");
  });

  test("takes any text without throwing and makes no text up", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."*_~`<>|&a \n") }), (text) => {
        const shown = parseMrkdwn(text).reduce((sum, span) => sum + span.text.length, 0);
        expect(shown).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  test("stays quick on a text made to be slow", () => {
    expect(parseMrkdwn("*a ".repeat(100_000)).length).toBeGreaterThan(0);
  });
});
