/** Every promise of the threat model (.ci/reference/promises.yaml) names a test that exists. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { attackers } from "../.ci/reference/pages.ts";

describe.each(attackers())("$attacker", ({ can, cannot }) => {
  test("has something that is possible and something that is not", () => {
    expect(Object.keys(can)).not.toEqual([]);
    expect(Object.keys(cannot)).not.toEqual([]);
  });

  test.each([...Object.entries(can), ...Object.entries(cannot)])("%s", (_, name) => {
    const [, file = "", title = ""] = /^([\w/-]+): (.+)$/.exec(name) ?? [];
    const at = [`./${file}.test.ts`, `./${file}.ts`].map((path) => new URL(path, import.meta.url));
    const found = at.find((url) => existsSync(url));
    expect(found, `test/${file}.test.ts`).toBeDefined();
    // As the first argument of `test(…)`, `it.skipIf(…)(…)` or `test.each(…)(…)`.
    const text = found ? readFileSync(found, "utf8") : "";
    const titles = [...text.matchAll(/\(\s*(["`])((?:(?!\1)[^\\\n])+)\1,/g)];
    expect(titles.map(([, , one]) => one)).toContain(title);
  });
});

test("the threat model is about ten attackers", () => {
  expect(attackers()).toHaveLength(10);
});
