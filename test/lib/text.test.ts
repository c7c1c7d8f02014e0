import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cut, escapeHtml, stripControls, visibleJson } from "../../src/lib/text.ts";

describe("stripControls", () => {
  test.each([
    ["a line break becomes one space", "Till 1\r\nBcc: all@example.com", "Till 1 Bcc: all@example.com"],
    ["tabs and Unicode line separators become spaces", "a\tb\u2028c\u2029d\u0085e", "a b c d e"],
    ["control characters go", "a\u0000b\u001b[31mc\u007fd\u009be", "ab[31mcde"],
    ["bidirectional overrides and isolates go", "\u202etxt.exe\u202c \u2066a\u2069 \u200fb\u061c", "txt.exe a b"],
    ["zero-width characters go", "T\u200bi\u200dl\u2060l\ufeff", "Till"],
    ["tag characters go", "a\u{e0041}b", "ab"],
    ["a lone surrogate becomes the replacement character", "a\ud83db", "a\ufffdb"],
    ["ordinary names of any script stay", "Büro Köln 東京 🎥 שלום", "Büro Köln 東京 🎥 שלום"],
  ])("%s", (_, given, expected) => {
    expect(stripControls(given)).toBe(expected);
  });

  test("is done at once with a megabyte of line breaks", () => {
    expect(stripControls("\n".repeat(1_000_000))).toBe(" ");
  });
});

describe("cut", () => {
  test("leaves what fits alone, counted in code points", () => {
    expect(cut("abc", 3)).toBe("abc");
    expect(cut("🎥🎥🎥", 3)).toBe("🎥🎥🎥");
  });

  test("ends with an ellipsis inside the limit and splits no character", () => {
    expect(cut("abcd", 3)).toBe("ab…");
    expect(cut("🎥🎥🎥🎥", 3)).toBe("🎥🎥…");
    expect(cut("Leeds Briggate", 7)).toBe("Leeds…");
    expect(cut("abc", 0)).toBe("");
  });

  test("never gives more than asked for", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", " ", "é", "\u0301", "🎥", "東") }),
        fc.nat(20),
        (text, max) => {
          const kept = cut(text, max);
          return [...kept].length <= max && kept.isWellFormed() === text.isWellFormed();
        },
      ),
    );
  });
});

test("escapeHtml leaves nothing that HTML could read as markup or as the end of an attribute", () => {
  expect(escapeHtml(`<img src=x onerror='a("b")'>&amp;`)).toBe(
    "&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;amp;",
  );
});

test("JSON text in which nothing is invisible means the same", () => {
  const value = { "k\u009b": "a\u202eb\u{e0041}\u001b[31m\u007f\u2028\ud800 é 東京 🎥", n: [1] };
  const json = visibleJson(JSON.stringify(value, null, 2));
  expect(JSON.parse(json)).toEqual(value);
  expect(json.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e\u2028\u{e0041}]/u);
  expect(json).toContain("é 東京 🎥");
});
