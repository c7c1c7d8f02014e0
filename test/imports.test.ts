import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { mayImport } from "./imports.ts";

/** What is pure stays pure: no folder of decisions touches disk, net, processes or time. */
const pureFolders = ["health", "alerting", "counts", "backtest", "digest/compute", "digest/render"];
const impureModules =
  /^(?:node:(?:fs|net|http|https|child_process|dgram|tls|timers)(?:\/|$)|ioredis|bullmq|undici|ws$)/;

const source = resolve(import.meta.dirname, "../src");
const IMPORT = /^(?:import|export)\s(?<type>type\s)?[^;]*?from\s+"(?<static>[^"]+)"|import\("(?<dynamic>[^"]+)"\)/gm;

interface Arrow {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const imports = files.flatMap((file) => {
  const text = readFileSync(join(source, file), "utf8");
  return [...text.matchAll(IMPORT)].map(({ groups }) => ({
    file,
    target: groups?.static ?? groups?.dynamic ?? "",
    typeOnly: groups?.type !== undefined,
  }));
});
const arrows = imports
  .filter(({ target }) => target.startsWith("."))
  .map(({ file, target, typeOnly }): Arrow => {
    const to = relative(source, resolve(source, dirname(file), target));
    return { file, from: folderOf(file), to: folderOf(to), typeOnly };
  })
  .filter(({ from, to }) => from !== to);

function folderOf(file: string): string {
  return (file.split(sep)[0] ?? "").replace(/\.ts$/, "");
}

function isAllowed({ from, to, typeOnly }: Arrow): boolean {
  const allowed = mayImport[from];
  if (to === "..") return false;
  if (allowed === undefined || allowed === "*") return allowed === "*" && !["main", "client"].includes(to);
  return allowed.includes(to) || (typeOnly && allowed.includes(`${to} (types)`));
}

describe("the folders of src", () => {
  test("are all in the table", () => {
    expect(new Set(files.map(folderOf)).difference(new Set(Object.keys(mayImport)))).toEqual(new Set());
  });

  test("import only what the table lets them", () => {
    expect(arrows.length).toBeGreaterThan(20);
    const forbidden = arrows.filter((arrow) => !isAllowed(arrow));
    expect(forbidden.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  test("decide without touching the outside where they are pure", () => {
    const touching = imports.filter(
      ({ file, target }) => pureFolders.some((folder) => file.startsWith(`${folder}/`)) && impureModules.test(target),
    );
    expect(touching.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  test("have no file that imports itself through others, within its folder not even for types", () => {
    const targetOf = ({ file, target }: { file: string; target: string }) =>
      relative(source, resolve(source, dirname(file), target));
    const inside = imports.filter(({ target }) => target.startsWith("."));
    const counted = inside.filter((one) => !one.typeOnly || folderOf(targetOf(one)) === folderOf(one.file));
    const graph = Map.groupBy(counted, ({ file }) => file);
    expect(files.flatMap((file) => findCycle(file, (from) => (graph.get(from) ?? []).map(targetOf)))).toEqual([]);
  });
});

/** The way from `start` back to it, as one line; nothing when there is none. */
function findCycle(start: string, targets: (file: string) => readonly string[]): string[] {
  const seen = new Set<string>();
  const walk = (file: string, way: readonly string[]): string[] => {
    for (const next of targets(file)) {
      if (next === start) return [[...way, next].join(" → ")];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = walk(next, [...way, next]);
      if (found.length > 0) return found;
    }
    return [];
  };
  return walk(start, [start]);
}
