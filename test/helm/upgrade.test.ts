import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { chart } from "../../.ci/config-schema.ts";
import { at, helm, lacks, type Manifest, manifestsIn } from "./render.ts";

const root = resolve(chart, "../..");
const previous = previousChart();
const missing = lacks("helm", "version") ?? (previous ? undefined : "the history has no earlier version of it");

/** What the API server refuses to change. Anything else in a StatefulSet may not change either. */
const fixed: Readonly<Record<string, readonly string[]>> = {
  Deployment: ["spec.selector"],
  StatefulSet: ["spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"],
  Service: ["spec.clusterIP", "spec.type"],
};

/** What an upgrade to this version brings, with the values of the previous one; each is explained in CHANGELOG.md. */
const added: Readonly<Record<string, readonly string[]>> = {
  small: [
    "NetworkPolicy watch-lenswatch",
    "NetworkPolicy watch-lenswatch-redis",
    "Secret watch-lenswatch-redis",
    "Secret watch-lenswatch-tokens",
  ],
  full: [],
  "own-configmap": [],
};

describe.skipIf(missing)(`an upgrade from the previous chart${missing ? ` (${missing})` : ""}`, () => {
  const before = mkdtempSync(join(tmpdir(), "lenswatch-chart-"));
  const both = new Map<string, { old: Manifest[]; now: Manifest[] }>();
  beforeAll(async () => {
    execFileSync("sh", ["-c", `git archive ${previous} helm/lenswatch | tar -x -C ${before}`], { cwd: root });
    const from = join(before, "helm/lenswatch");
    const sets = readdirSync(`${from}/ci`).map((file) => file.replace("-values.yaml", ""));
    await Promise.all(
      sets.map(async (name) => {
        const values = `${from}/ci/${name}-values.yaml`;
        const [old, now] = await Promise.all([from, chart].map((path) => rendered(path, values)));
        both.set(name, { old: old ?? [], now: now ?? [] });
      }),
    );
  });
  afterAll(() => rm(before, { recursive: true }));

  test("is one to a higher version", () => {
    const version = (path: string) =>
      String(parse(readFileSync(`${path}/Chart.yaml`, "utf8")).version)
        .split(".")
        .map(Number);
    const [old, now] = [version(join(before, "helm/lenswatch")), version(chart)];
    expect(now.map((part, index) => part - (old[index] ?? 0)).find((step) => step !== 0)).toBeGreaterThan(0);
  });

  test.each(Object.keys(added))(
    "takes the %s values as they are, removes nothing and adds what is listed",
    (values) => {
      const { old, now } = both.get(values) ?? { old: [], now: [] };
      expect(old.length).toBeGreaterThan(5);
      const names = now.map(nameOf);
      expect(old.map(nameOf).filter((name) => !names.includes(name))).toEqual([]);
      const were = old.map(nameOf);
      expect(names.filter((name) => !were.includes(name)).sort()).toEqual(added[values]);
    },
  );

  test("works with the values of the previous release alone, as with --reuse-values", async () => {
    const [old, now] = [join(before, "helm/lenswatch"), chart].map((path) =>
      parse(readFileSync(`${path}/values.yaml`, "utf8")),
    );
    const unknown = Object.keys(now).filter((name) => !(name in old));
    const without = unknown.flatMap((name) => ["--set", `${name}=null`]);
    const manifests = await rendered(chart, join(before, "helm/lenswatch/ci/small-values.yaml"), ...without);
    expect(manifests.map(nameOf)).toEqual(both.get("small")?.now.map(nameOf));
  });

  test.each(Object.keys(added))("changes no field that cannot change, with the %s values", (values) => {
    const { old, now } = both.get(values) ?? { old: [], now: [] };
    const fieldsOf = (manifests: readonly Manifest[]) =>
      manifests.flatMap((manifest) =>
        (fixed[manifest.kind] ?? []).map((path) => [nameOf(manifest), path, at(manifest, path)]),
      );
    expect(fieldsOf(old).length).toBeGreaterThan(2);
    expect(fieldsOf(now)).toEqual(expect.arrayContaining(fieldsOf(old)));
  });

  test.each(Object.keys(added))(
    "keeps the pods of both versions behind every Service, with the %s values",
    (values) => {
      const { old, now } = both.get(values) ?? { old: [], now: [] };
      for (const service of now.filter(({ kind }) => kind === "Service")) {
        const wanted = at(service, "spec.selector") as Record<string, string>;
        for (const manifests of [old, now]) {
          const labels = manifests.map((one) => at(one, "spec.template.metadata.labels") as typeof wanted | undefined);
          const chosen = labels.filter(
            (pod) => pod && Object.entries(wanted).every(([key, value]) => pod[key] === value),
          );
          expect(chosen.length, nameOf(service)).toBeGreaterThan(0);
        }
      }
    },
  );
});

const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;

async function rendered(path: string, values: string, ...more: string[]): Promise<Manifest[]> {
  const flags = ["--namespace", "cameras", "--kube-version", "1.34.0", "--values", values, ...more];
  return manifestsIn(await helm("template", "watch", path, ...flags));
}

/** The commit before the one that gave the chart its version, or undefined where the history does not reach so far. */
function previousChart(): string | undefined {
  const { version } = parse(readFileSync(`${chart}/Chart.yaml`, "utf8"));
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const line = `^version: ${String(version).replaceAll(".", "\\.")}$`;
    const bump = git("log", "--format=%H", "-G", line, "--", "helm/lenswatch/Chart.yaml").split("\n").at(-1);
    return git("rev-parse", "--verify", "--quiet", bump ? `${bump}^` : "HEAD");
  } catch {
    return undefined;
  }
}
