import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

interface Locked {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(join(import.meta.dirname, "../package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, Locked>>;
};

describe("package-lock.json", () => {
  test("holds every platform's packages, or `npm ci` refuses it", () => {
    const wanted = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).map((name) => ({ path, name })),
    );
    expect(wanted.length).toBeGreaterThan(20);
    const missing = wanted.filter(({ path, name }) => !isLocked(path, name));
    expect(missing.map(({ path, name }) => `${path} → ${name}`)).toEqual([]);
  });

  test("names no registry", () => {
    expect(JSON.stringify(lock)).not.toMatch(/"resolved":/);
  });
});

/** Looks where Node would: beside the package, then upwards. */
function isLocked(path: string, name: string): boolean {
  if (lock.packages[`${path}/node_modules/${name}`.replace(/^\//, "")]?.version) return true;
  const parent = path.lastIndexOf("/node_modules/");
  if (parent < 0) return Boolean(lock.packages[`node_modules/${name}`]?.version);
  return isLocked(path.slice(0, parent), name);
}
