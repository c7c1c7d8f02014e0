/** Compares the documents with the code: names, codes, keys, paths, commands and files exist as the documents list them. */
import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { generatedPages } from "../.ci/reference/pages.ts";
import { commandTable } from "../src/commands/cli/program.ts";
import { parseConfig } from "../src/config/load.ts";
import { formatProblem } from "../src/config/problem.ts";
import { fleetRows, processRows } from "../src/metrics/table.ts";
import { parseScenario } from "../src/simulator/scenario.ts";
import { serve } from "./http/serve.ts";
import { mayImport } from "./imports.ts";
import { fleetOf, recordingState } from "./metrics/fleets.ts";
import { anchorOf, blocks, firstCells, type Page, readPage, table } from "./support/documents.ts";

const root = new URL("../", import.meta.url);
const readme = readPage("README.md");
const contributing = readPage("CONTRIBUTING.md");
const guides = globSync("docs/**/*.md", { cwd: root }).sort().map(readPage);
const pages = [readme, contributing, readPage("SECURITY.md"), readPage("CHANGELOG.md"), ...guides];
const guide = (name: string) => pageAt(`docs/${name}.md`);

function pageAt(path: string): Page {
  const page = pages.find((one) => one.path === path);
  if (!page) throw new Error(`there is no ${path}`);
  return page;
}

test.each(Object.entries(generatedPages()))("%s is up to date", (path, text) => {
  expect(pageAt(path).text, "write it with: node .ci/write-reference.ts").toBe(text);
});

test("the documents together have at most 190 kB", () => {
  expect(pages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThanOrEqual(190_000);
});

describe("commands", () => {
  const names = commandTable.map(({ name }) => name);

  test("the table lists every command in the order of --help", () => {
    expect(firstCells(guide("commands"), "Commands")).toEqual(names);
  });

  test("commands in examples exist", () => {
    const typed = pages
      .flatMap((page) => blocks(page, "sh"))
      .flatMap((text) => [...text.matchAll(/^lenswatch ([\w-]+)/gm)].map(([, name]) => name));
    expect(typed.length).toBeGreaterThan(4);
    expect(typed.filter((name) => !names.includes(name ?? ""))).toEqual([]);
  });

  test("npm scripts in examples exist", () => {
    const { scripts } = readPackage();
    const typed = pages
      .flatMap(({ text }) => [...text.matchAll(/\bnpm run (?:--silent )?([\w-]+)/g)])
      .map(([, name = ""]) => name);
    expect(typed).toContain("demo");
    expect(typed.filter((name) => !(name in scripts))).toEqual([]);
  });
});

test("the table of dependencies lists every package with its reason", () => {
  const { dependencies, devDependencies } = readPackage();
  expect(firstCells(contributing, "Dependencies")).toEqual([
    ...Object.keys(dependencies),
    ...Object.keys(devDependencies),
  ]);
  expect(table(contributing, "Dependencies").filter(([, why = ""]) => why === "")).toEqual([]);
});

function readPackage(): Record<"dependencies" | "devDependencies" | "scripts", Record<string, string>> {
  return JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
}

test("README is at most 120 lines", () => {
  expect(readme.text.split("\n").length - 1).toBeLessThanOrEqual(120);
});

interface Link {
  readonly page: Page;
  readonly target: string;
  /** From the root of the project. */
  readonly file: string;
  /** With its `#`; empty if the link has none. */
  readonly anchor: string;
}

describe("links", () => {
  const links = pages.flatMap(linksOf);

  test.each(pages.map(({ path }) => path))("of %s lead to files and headings that exist", (path) => {
    const broken = links.filter(({ page }) => page.path === path).filter((link) => !leadsSomewhere(link));
    expect(broken.map(({ target }) => target)).toEqual([]);
  });

  test("are found", () => {
    expect(links.length).toBeGreaterThan(80);
    expect(links.filter(({ anchor }) => anchor).length).toBeGreaterThan(40);
  });

  test("lead from README to every page", () => {
    const reached = new Set([readme.path]);
    for (const path of reached) for (const { page, file } of links) if (page.path === path) reached.add(file);
    expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

function linksOf(page: Page): Link[] {
  const inside = page.targets.filter((target) => !/^https?:/.test(target));
  return inside.map((target) => {
    const { href, hash } = new URL(target, new URL(page.path, root));
    return { page, target, file: href.slice(root.href.length, href.length - hash.length), anchor: hash };
  });
}

function leadsSomewhere({ file, anchor }: Link): boolean {
  if (!existsSync(new URL(file, root))) return false;
  return anchor === "" || [...pageAt(file).sections.keys()].some((title) => anchorOf(title) === anchor);
}

test("every picture is shown and has at most 300 kB", () => {
  const shown = pages.flatMap(linksOf).flatMap(({ file }) => (file.endsWith(".png") ? [file] : []));
  const stored = readdirSync(new URL("docs/images/", root)).map((name) => `docs/images/${name}`);
  expect([...new Set(shown)].sort(), "every picture is shown").toEqual(stored.sort());
  expect(stored.filter((file) => statSync(new URL(file, root)).size > 300_000)).toEqual([]);
});

describe("the table of folders", () => {
  const rows = table(contributing, "Folders");

  test("lists every folder with the folders it may import", () => {
    const shown = (folders: (typeof mayImport)[string]) =>
      folders === "*" ? "everything but main" : folders.join(", ") || "nothing of ours";
    const folderOf = (path: string) => path.replace(/^src\/|\.ts$|\/$/g, "");
    expect(rows.map(([path = "", , imports]) => [folderOf(path), imports])).toEqual(
      Object.entries(mayImport).map(([folder, folders]) => [folder, shown(folders)]),
    );
  });
});

test("every path that a page names exists", () => {
  const named = pages.flatMap(({ text }) =>
    [...text.matchAll(/`((?:src|test|config|docs|\.ci)\/[\w./-]+)`/g)].map(([, path = ""]) => path),
  );
  const paths = named.filter((path) => !path.includes("NAME"));
  expect(paths).toContain("src/health/");
  expect(paths.filter((path) => /\.|\/$/.test(path) && !existsSync(new URL(path, root)))).toEqual([]);
});

test("every metric that a page names exists", () => {
  const rows = [...Object.values(fleetRows), ...Object.values(processRows)];
  const known = rows.flatMap(({ name, type }) => (type === "histogram" ? [name, `${name}_count`] : [name]));
  const named = pages.flatMap(({ text }) =>
    [...text.matchAll(/\b(?:lenswatch|alertmanager)_[a-z][a-z_]+/g)].map(([name]) => name),
  );
  expect(new Set(named).size).toBeGreaterThan(20);
  expect(named.filter((name) => !known.includes(name) && !/_configs$/.test(name))).toEqual([]);
});

test("the on-call page quotes errors of the service as they are", () => {
  const section = guide("first-night").sections.get('"Analytics service unreachable"') ?? "";
  const said = [...section.matchAll(/`([^`]+)`/g)].map(([, words = ""]) => words);
  const source = globSync("src/service/*.ts", { cwd: root }).map((path) => readFileSync(new URL(path, root), "utf8"));
  expect(said).toHaveLength(4);
  expect(said.filter((words) => !source.join("").includes(words))).toEqual([]);
});

const isScenario = (text: string) => /^(?:events|visits):/.test(text);

describe("configurations", () => {
  const env = {
    ...Object.fromEntries(["CLIENT_ID", "CLIENT_SECRET", "AUDIENCE"].map((name) => [`LENSWATCH_${name}`, "x"])),
    ...Object.fromEntries(
      ["BASE_URL", "AUTH_URL", "SLACK_URL"].map((name) => [`LENSWATCH_${name}`, "https://a.example"]),
    ),
    LENSWATCH_WS_URL: "wss://a.example",
  };
  const readSecret = (path: string) => (path.endsWith("_url") ? "https://hooks.example/x" : `the-secret-of${path}`);
  const shown = [readme, guide("configuration"), guide("simulator")].flatMap((page) =>
    blocks(page, "yaml")
      .filter((text) => !isScenario(text))
      .map((text) => [page.path, text] as const),
  );

  test.each(blocks(guide("simulator"), "yaml").filter(isScenario))("of scenarios can be read: %s", (text) => {
    expect(() => parseScenario(text)).not.toThrow();
  });

  test("are shown", () => {
    expect(shown.map(([path]) => path)).toEqual(["README.md", "docs/configuration.md", "docs/simulator.md"]);
  });

  test.each(shown)("of %s loads without a warning", (file, text) => {
    const loaded = parseConfig(text, { file, env, readSecret });
    expect("problems" in loaded ? loaded.problems.map(formatProblem) : loaded.warnings).toEqual([]);
  });

  const recipes = blocks(guide("how-to"), "yaml").filter((text) => !text.includes(" tls:")); // a certificate is read
  test.each(recipes)("of a recipe can be used beside others: %s", (text) => {
    const { receivers = [], ...recipe } = parse(text) as { receivers?: { name: string }[] };
    const others = ["ops", "mail"].filter((name) => !receivers.some((one) => one.name === name));
    const all = [...receivers, ...others.map((name) => ({ name, webhook_configs: [{ url: "https://a.example" }] }))];
    const whole = { ...parse(blocks(readme, "yaml")[0] ?? ""), route: { receiver: "ops" }, ...recipe, receivers: all };
    const loaded = parseConfig(stringify(whole), { file: "recipe.yaml", env, readSecret });
    expect("problems" in loaded ? loaded.problems.map(formatProblem) : []).toEqual([]);
  });

  test("with mistakes give the problems that docs/configuration.md shows", () => {
    const [smallest = ""] = blocks(readme, "yaml");
    const lines = smallest.split("\n");
    lines.splice(
      lines.indexOf("receivers:"),
      0,
      "watch:",
      "  status_intervall: 10s",
      "rules:",
      "  - alert: RecordingOffline",
      "    when: { status: ofline }",
      "    for: 2x",
    );
    const loaded = parseConfig(lines.join("\n"), { file: "lenswatch.yaml", env, readSecret });
    const problems = "problems" in loaded ? loaded.problems.map(formatProblem) : [];
    const shownProblems = blocks(guide("configuration"), "").join("").trimEnd().split("\n");
    expect(problems).toEqual(shownProblems);
  });

  test("README shows config/lenswatch.yaml", () => {
    const file = readFileSync(new URL("config/lenswatch.yaml", root), "utf8");
    expect(parse(blocks(readme, "yaml")[0] ?? "")).toEqual(parse(file));
  });
});

test("every path of the table of HTTP is answered", async () => {
  const adminToken = "admin-token-of-32-characters-long";
  const headers = { authorization: `Bearer ${adminToken}` };
  const { get } = await serve({ adminToken, fleet: async () => fleetOf({ recordings: [recordingState("rec-1")] }) });
  const paths = firstCells(guide("http-api"), "Paths").map((cell) =>
    cell.replace(/^GET /, "").replace("{id}", "rec-1").replace("{route}", "status"),
  );
  expect(paths).toContain("/metrics");
  const answers = await Promise.all(paths.map(async (path) => [path, (await get(path, headers)).status]));
  expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
});
