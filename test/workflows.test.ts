/** The workflows of GitHub, which cannot run here: what actionlint and a reader would object to. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "..");
const files = globSync(".github/workflows/*.yml", { cwd: root });
const text = (file: string) => readFileSync(join(root, file), "utf8");
const { scripts } = JSON.parse(text("package.json")) as { scripts: Record<string, string> };

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly uses?: string;
  readonly steps?: readonly Step[];
  readonly permissions?: Readonly<Record<string, string>>;
}
interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

function hasActionlint(): boolean {
  try {
    return execFileSync("actionlint", ["-version"]).length > 0;
  } catch {
    return false;
  }
}

test.skipIf(!hasActionlint())("actionlint has nothing to say about them (skipped without actionlint)", async () => {
  expect(files.length).toBeGreaterThan(2);
  const { stdout } = await promisify(execFile)("actionlint", ["-no-color", ...files], { cwd: root });
  expect(stdout).toBe("");
});

describe.each(files)("%s", (file) => {
  const workflow = parse(text(file)) as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps ?? []);

  test("runs no action that its owner can exchange: each is pinned by a commit, beside its version", () => {
    const used = [...text(file).matchAll(/\buses: (?<action>\S+)(?<comment>.*)/g)].map(({ groups }) => groups);
    expect(used.length).toBeGreaterThan(0);
    const loose = used.filter((use) => {
      if (use?.action?.startsWith("./")) return !existsSync(join(root, use.action));
      return !/@[0-9a-f]{40}$/.test(use?.action ?? "") || !/^ # v\d+\.\d+\.\d+$/.test(use?.comment ?? "");
    });
    expect(loose).toEqual([]);
  });

  test("may read the sources only; a job that needs more says so", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    expect(text(file)).not.toMatch(/pull_request_target|write-all/);
  });

  test("builds where it may publish nothing: a job that may runs nothing of ours", () => {
    const jobs = Object.entries(workflow.jobs).filter(([, { permissions = {} }]) =>
      Object.values(permissions).includes("write"),
    );
    const building = jobs.flatMap(([name, { steps = [] }]) =>
      steps.flatMap(({ uses = "", run = "" }) => {
        const isOurs = /(?:^|[;&|]\s*|\n\s*)(?:node|npx|sh|bash|npm (?!publish\b.* --ignore-scripts\b))\b/.test(run);
        return isOurs || /^(?:actions\/checkout|docker\/build)/.test(uses) ? [`${name}: ${uses || run}`] : [];
      }),
    );
    expect(building).toEqual([]);
  });

  test("leaves no credentials in the checkout, and puts no expression into a script", () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
    expect(text(file)).not.toContain("secrets.");
  });

  test("runs what is there", () => {
    const commands = steps.flatMap(({ run }) => run ?? []).join("\n");
    const named = [...commands.matchAll(/npm run (?:--silent )?([\w-]+)/g)].map(([, name = ""]) => name);
    const paths = [...commands.matchAll(/(?:^|\s)((?:\.ci|helm)\/[\w./-]+)/gm)].map(([, path = ""]) => path);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe("the notes of a release", () => {
  const changelog =
    "# Changelog\n\n## [Unreleased]\n\n- later\n\n## [1.2.0] - 2026-12-01\n\n### Added\n\n- this\n\n## [1.1.0] - 2026-11-01\n\n- before\n";

  async function notes(tag: string, versions: { manifest: string; chart: string }) {
    const dir = mkdtempSync(join(tmpdir(), "lenswatch-release-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    mkdirSync(join(dir, "helm/lenswatch"), { recursive: true });
    for (const file of ["package.json", "package-lock.json"]) {
      writeFileSync(join(dir, file), JSON.stringify({ version: versions.manifest }));
    }
    writeFileSync(join(dir, "helm/lenswatch/Chart.yaml"), `appVersion: "${versions.chart}"\n`);
    writeFileSync(join(dir, "Dockerfile"), `FROM x\nARG VERSION=${versions.manifest}\n`);
    writeFileSync(join(dir, "CHANGELOG.md"), changelog);
    const script = join(root, ".ci/release-notes.ts");
    return promisify(execFile)(process.execPath, [script, tag], { env: { ROOT: dir } });
  }

  test("are the section of its version", async () => {
    const { stdout } = await notes("v1.2.0", { manifest: "1.2.0", chart: "1.2.0" });
    expect(stdout).toBe("### Added\n\n- this\n");
  });

  test("are refused with everything that is not of its version", async () => {
    const refused = notes("v1.3.0", { manifest: "1.2.0", chart: "1.1.0" });
    const stderr =
      'The tag is for version "1.3.0", but package.json has version 1.2.0; package-lock.json has version 1.2.0; ' +
      "helm/lenswatch/Chart.yaml (appVersion) has version 1.1.0; Dockerfile has version 1.2.0; " +
      'CHANGELOG.md has no section "## [1.3.0] - DATE".\n';
    await expect(refused).rejects.toMatchObject({ code: 1, stdout: "", stderr });
  });
});
