/** Every row of the threat model in SECURITY.md names a test that exists. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync(new URL("../SECURITY.md", import.meta.url), "utf8");
const section = page.slice(page.indexOf("\n## Threat model\n"));
const lines = section.split("\n").filter((line) => line.startsWith("| c"));
const ROW = /^\| (?:can|cannot) +\| (?<what>[^|]+?) +\| `(?<file>[\w/-]+)`: (?<title>[^|]+?) +\|$/;

test.each(lines)("%s", (line) => {
  const { file = "", title = "" } = ROW.exec(line)?.groups ?? {};
  expect(title, "a row is `| can or cannot | what | `file`: title |`").not.toBe("");
  const at = [`./${file}.test.ts`, `./${file}.ts`].map((path) => new URL(path, import.meta.url));
  const found = at.find((url) => existsSync(url));
  expect(found, `test/${file}.test.ts`).toBeDefined();
  if (!found) return;
  // As the first argument of `test(…)`, `it.skipIf(…)(…)` or `test.each(…)(…)`.
  const titles = [...readFileSync(found, "utf8").matchAll(/\(\s*(["`])((?:(?!\1)[^\\\n])+)\1,/g)];
  expect(titles.map(([, , text]) => text)).toContain(title);
});

test("every attacker has something that is possible and something that is not", () => {
  const attackers = [...section.matchAll(/^### (.+)\n\n.+\n\n((?:\|.*\n)+)/gm)];
  expect(attackers.map(([, who]) => who)).toHaveLength(10);
  for (const [, who, table = ""] of attackers) {
    expect(table, who).toMatch(/^\| can /m);
    expect(table, who).toMatch(/^\| cannot /m);
  }
  expect(lines.length).toBeGreaterThan(50);
});
