/** The pages for people against the code: what they say of names, codes, keys and files is so. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { notifyErrorCodes } from "../src/alerting/notification.ts";
import { daemonErrorCodes } from "../src/commands/cli/daemon.ts";
import { commandTable } from "../src/commands/cli/program.ts";
import { formatProblem, parseConfig } from "../src/config/load.ts";
import type { ConfigErrorCode } from "../src/config/problem.ts";
import { defaultRules } from "../src/config/rule-schema.ts";
import type { DigestErrorCode } from "../src/digest/errors.ts";
import { httpErrorCodes } from "../src/http/errors.ts";
import { fleetRows, processRows } from "../src/metrics/table.ts";
import { serviceErrorCodes } from "../src/service/service.ts";
import type { SimulatorErrorCode } from "../src/simulator/errors.ts";
import { storeErrorCodes } from "../src/store/errors.ts";
import { serve } from "./http/serve.ts";
import { mayImport } from "./imports.ts";
import { fleetOf, recordingState } from "./metrics/fleets.ts";
import { anchorOf, blocks, firstCells, readPage, table } from "./support/documents.ts";

const root = new URL("../", import.meta.url);
const readme = readPage("README.md");
const operations = readPage("docs/operations.md");
const contributing = readPage("CONTRIBUTING.md");
const pages = [readme, operations, contributing];

test("the table of metrics has every metric as it is, and no other", () => {
  const rows = [...Object.values(fleetRows), ...Object.values(processRows)];
  expect(table(operations, "Metrics"), "write it anew: node .ci/write-tables.ts").toEqual(
    rows.map(({ name, type, labels, help }) => [name, type, labels.join(", "), help]),
  );
});

/** Unions that exist for the compiler alone: it refuses a list that lacks one or has one too many. */
const configCodes = { not_found: 1, unreadable: 1, invalid: 1 } satisfies Record<ConfigErrorCode, 1>;
const digestCodes = { invalid_cron: 1, invalid_timezone: 1 } satisfies Record<DigestErrorCode, 1>;
const simulatorCodes = {
  bad_option: 1,
  bad_scenario: 1,
  bad_fault: 1,
  bad_change: 1,
  not_found: 1,
  cannot_read: 1,
  cannot_listen: 1,
} satisfies Record<SimulatorErrorCode, 1>;

describe("the tables of errors", () => {
  const unions: Record<string, readonly string[]> = {
    ServiceError: serviceErrorCodes,
    NotifyError: notifyErrorCodes,
    StoreError: storeErrorCodes,
    ConfigError: Object.keys(configCodes),
    HttpError: httpErrorCodes,
    DaemonError: daemonErrorCodes,
    DigestError: Object.keys(digestCodes),
    SimulatorError: Object.keys(simulatorCodes),
  };

  test.each(Object.entries(unions))("%s has every code, and no other", (name, codes) => {
    expect(firstCells(operations, name).sort()).toEqual([...codes].sort());
  });

  test("there is one for every class of errors", () => {
    expect([...operations.sections.keys()].filter((title) => /^[A-Z]\w+Error$/.test(title))).toEqual(
      Object.keys(unions),
    );
  });
});

describe("commands", () => {
  const names = commandTable.map(({ name }) => name);

  test("the table has every command in the order of --help, and no other", () => {
    expect(firstCells(readme, "Commands")).toEqual(names);
  });

  test("those shown to be typed exist", () => {
    const typed = pages
      .flatMap((page) => blocks(page, "sh"))
      .flatMap((text) => [...text.matchAll(/^lenswatch ([\w-]+)/gm)].map(([, name]) => name));
    expect(typed.length).toBeGreaterThan(4);
    expect(typed.filter((name) => !names.includes(name ?? ""))).toEqual([]);
  });

  test("the scripts of npm shown to be typed exist", () => {
    const { scripts } = readPackage();
    const typed = pages
      .flatMap(({ text }) => [...text.matchAll(/\bnpm run (?:--silent )?([\w-]+)/g)])
      .map(([, name = ""]) => name);
    expect(typed).toContain("demo");
    expect(typed.filter((name) => !(name in scripts))).toEqual([]);
  });
});

test("the table of dependencies has every package, and no other", () => {
  const { dependencies, devDependencies } = readPackage();
  expect(firstCells(readme, "Dependencies")).toEqual([
    ...Object.keys(dependencies),
    ...Object.keys(devDependencies),
  ]);
  expect(table(readme, "Dependencies").filter(([, why = ""]) => why === "")).toEqual([]);
});

function readPackage(): Record<"dependencies" | "devDependencies" | "scripts", Record<string, string>> {
  return JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
}

describe.each(pages.map((page) => [page.path, page] as const))("links of %s", (path, { targets }) => {
  const inside = targets.filter((target) => !/^https?:/.test(target));
  const parts = inside.map((target) => /^([^#]*)(#.*)?$/.exec(target) ?? []);

  test("lead to files that are there", () => {
    const files = parts.map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(4);
    expect(files.filter((file) => !existsSync(new URL(file, new URL(path, root))))).toEqual([]);
  });

  test("lead to headings that are there", () => {
    const toHeadings = parts.flatMap(([whole = "", file = "", anchor]) =>
      anchor ? [{ whole, file, anchor }] : [],
    );
    const lost = toHeadings.filter(({ file, anchor }) => {
      const linked = new URL(file || path.replace(/^.*\//, ""), new URL(path, root));
      const page = pages.find((one) => new URL(one.path, root).href === linked.href);
      return ![...(page?.sections.keys() ?? [])].map(anchorOf).includes(anchor);
    });
    expect(lost.map(({ whole }) => whole)).toEqual([]);
  });
});

test("pictures are small enough to load on a telephone", () => {
  const pictures = pages.flatMap(({ targets }) => targets).filter((file) => file.endsWith(".png"));
  expect(pictures).toHaveLength(4);
  expect(pictures.filter((file) => statSync(new URL(file, root)).size > 300_000)).toEqual([]);
});

describe("the map of the folders", () => {
  const rows = table(contributing, "The folders");

  test("has every folder with what it may import, and no other", () => {
    const shown = (folders: (typeof mayImport)[string]) =>
      folders === "*" ? "everything but main" : folders.join(", ") || "nothing of ours";
    const folderOf = (path: string) => path.replace(/^src\/|\.ts$|\/$/g, "");
    expect(rows.map(([path = "", , imports]) => [folderOf(path), imports])).toEqual(
      Object.entries(mayImport).map(([folder, folders]) => [folder, shown(folders)]),
    );
  });

  test("leads to what is there, as does every path of a source", () => {
    const named = [...contributing.text.matchAll(/`((?:src|test|config|\.ci)\/[\w./-]+)`/g)].map(
      ([, path = ""]) => path,
    );
    const paths = named.filter((path) => !path.includes("NAME"));
    expect(paths).toContain("src/health/");
    expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });
});

test("every metric the guide for operators names is one", () => {
  const rows = [...Object.values(fleetRows), ...Object.values(processRows)];
  const known = rows.flatMap(({ name, type }) => (type === "histogram" ? [name, `${name}_count`] : [name]));
  const named = [...operations.text.matchAll(/\b(?:lenswatch|alertmanager)_[a-z][a-z_]+/g)].map(
    ([name]) => name,
  );
  expect(new Set(named).size).toBeGreaterThan(20);
  expect(named.filter((name) => !known.includes(name) && !/_configs$/.test(name))).toEqual([]);
});

describe("configurations", () => {
  const env = {
    ...Object.fromEntries(
      ["CLIENT_ID", "CLIENT_SECRET", "AUDIENCE"].map((name) => [`LENSWATCH_${name}`, "x"]),
    ),
    ...Object.fromEntries(
      ["BASE_URL", "AUTH_URL", "SLACK_URL"].map((name) => [`LENSWATCH_${name}`, "https://a.example"]),
    ),
    LENSWATCH_WS_URL: "wss://a.example",
  };
  const readSecret = (path: string) => (path.endsWith("_url") ? "https://hooks.example/x" : "secret");
  const shown = blocks(readme, "yaml");

  test.each(shown.map((text, i) => [i + 1, text] as const))(
    "number %i loads without a warning",
    (_, text) => {
      const loaded = parseConfig(text, { file: "README.md", env, readSecret });
      expect("problems" in loaded ? loaded.problems.map(formatProblem) : loaded.warnings).toEqual([]);
    },
  );

  test("the first is config/lenswatch.yaml", () => {
    const file = readFileSync(new URL("config/lenswatch.yaml", root), "utf8");
    expect(parse(shown[0] ?? "")).toEqual(parse(file));
  });

  test("the default rules are those of the table", () => {
    const text = (value: unknown) => (value === undefined ? "" : String(value));
    const rules = table(readme, "How alerts are judged and told").map(([name, , holds, keeps, severity]) => [
      name,
      holds,
      keeps,
      severity,
    ]);
    expect(rules).toEqual(
      defaultRules.map((rule) => {
        const { severity } = (rule.labels ?? {}) as { severity?: string };
        return [rule.alert, text(rule.for), text(rule.keep_firing_for), text(severity)];
      }),
    );
  });
});

test("every path of the table of HTTP is answered", async () => {
  const { get } = await serve({ fleet: async () => fleetOf({ recordings: [recordingState("rec-1")] }) });
  const paths = firstCells(readme, "HTTP").map((cell) => cell.replace(/^GET /, "").replace("{id}", "rec-1"));
  expect(paths).toContain("/metrics");
  const answers = await Promise.all(paths.map(async (path) => [path, (await get(path)).status]));
  expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
});
