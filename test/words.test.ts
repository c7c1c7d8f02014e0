/** Words that were replaced by those of Prometheus and Alertmanager, and must not come back. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../", import.meta.url);
const SHIPPED = ["src/**/*.{ts,js,css,lua}", "config/**/*.{yaml,yml,json}", "docs/**/*.md", "README.md"];

/** A banned pattern, without regard to case, and what to write instead. */
const BANNED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:un)?told\b/, "notified, sent"],
  [/\bwhoever\b/, "a noun"],
  [/(?:^|[.:] |\/\*\* |\* )Who [a-z]/, "a noun"],
  [/\bwithout memory\b/, "cold start, empty store"],
  [/blind(?:ness)?\b(?! (?:cameras?|recordings?)\b)/, "service unreachable, stale"],
  [/\bgo(?:es)? dark\b|\bwent dark\b|\bin the dark\b/, "offline, stale"],
  [/\bfarewells?\b/, "retire, drain"],
  [/\bshift of\b/, "reload"],
  [/\bthe house\b/, "the runtime"],
  [/\broll call\b/, "replicas"],
  [/\bheld back\b|\bholds? back\b|\bkept back\b/, "suppressed"],
  [/\bfrom outside\b/, "external"],
  [/\banew\b/, "again"],
  [/\bbreathe\b/, "yield"],
  [/\basleep\b/, "paused"],
  [/\bhealing\b/, "reconciling"],
  [/\bby nobody yet\b/, "unacknowledged"],
];

function occurrences(pattern: RegExp): string[] {
  return globSync(SHIPPED, { cwd: root }).flatMap((path) =>
    readFileSync(new URL(path, root), "utf8")
      .split("\n")
      .flatMap((line, i) =>
        new RegExp(pattern, "i").test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 120)}`] : [],
      ),
  );
}

test.each(BANNED)("%s is not used (write: %s)", (pattern) => {
  expect(occurrences(pattern)).toEqual([]);
});
