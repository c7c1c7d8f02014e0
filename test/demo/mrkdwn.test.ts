import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMrkdwn } from "../../src/demo/slack/message.ts";
import { bold } from "../../src/notify/slack/mrkdwn.ts";

const styled = (text: string) =>
  parseMrkdwn(text).map(({ text: shown, style, href }) => [shown, ...(style ? [style] : []), ...(href ? [href] : [])]);
const shown = (text: string) =>
  parseMrkdwn(text)
    .map((span) => span.text)
    .join("");

describe("mrkdwn", () => {
  test.each([
    ["plain text", [["plain text"]]],
    ["a *bold* word", [["a "], ["bold", "b"], [" word"]]],
    ["*2 of 3* since _14:05_", [["2 of 3", "b"], [" since _14:05_"]]],
    ["&lt;!channel&gt; &amp;amp;", [["<!channel> &amp;"]]],
    ["type `lenswatch why`, <!here>", [["type "], ["lenswatch why", "code"], [", "], ["@here", "b"]]],
    ["<https://a.example/?a=1&amp;b=2|there>", [["there", "https://a.example/?a=1&b=2"]]],
  ])("%s", (text, expected) => {
    expect(styled(text)).toEqual(expected);
  });

  test.each([
    "2 * 3 * 4 and snake*case*name",
    "*not closed",
    "a < b",
    "<javascript:alert(1)|click>",
    "*one\ntwo* three",
  ])("%s has no markup", (text) => {
    expect(shown(text)).toBe(text);
    expect(styled(text).flat()).not.toContain("b");
  });

  test("shows every text that our messages make bold", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."*_~`<>|&a ") }), (text) => {
        expect(shown(bold(`a${text}`)).replaceAll("\u200b", "")).toBe(`a${text}`);
      }),
    );
  });

  test("takes any text without throwing and makes no text up", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."*_~`<>|&a \n") }), (text) => {
        expect(shown(text).length).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  test("stays quick on a text made to be slow", () => {
    expect(parseMrkdwn("*a ".repeat(100_000)).length).toBeGreaterThan(0);
  });
});
