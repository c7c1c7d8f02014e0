import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, "..");
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, Locked>>;
};
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  engines: { node: string };
  dependencies: Readonly<Record<string, string>>;
  scripts: Readonly<Record<string, string>>;
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

  test("holds the hash of every package that can be installed, on any platform", () => {
    const packages = Object.entries(lock.packages).filter(([path]) => path !== "");
    expect(packages.length).toBeGreaterThan(200);
    const without = packages.filter(([, { integrity = "" }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
    expect(without.map(([path, { version }]) => `${path}@${version}`)).toEqual([]);
  });

  test("names no registry", () => {
    expect(JSON.stringify(lock)).not.toMatch(/"resolved":/);
  });
});

interface Component {
  readonly name: string;
  readonly version: string;
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses: readonly { readonly license: { readonly id?: string } }[];
}

interface Sbom {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

test("the SBOM lists every package of an installation with its hash and licence", async () => {
  const script = join(root, ".ci/write-sbom.ts");
  // It does not ask npm, whose majors differ: the oldest has no SBOM.
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 2 ** 26, env: { PATH: "" } });
  const sbom = JSON.parse(stdout) as Sbom;
  expect(sbom).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "lenswatch" } } });
  const listed = sbom.components.map(({ name, version, hashes: [hash] }) => {
    const integrity = `sha512-${Buffer.from(hash?.content ?? "", "hex").toString("base64")}`;
    return `${name}@${version} ${hash?.alg} ${integrity}`;
  });
  const installed = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && !dev);
  const wanted = installed.map(([path, { version, integrity }]) => {
    return `${path.replace(/^.*node_modules\//, "")}@${version} SHA-512 ${integrity}`;
  });
  expect(new Set(listed)).toEqual(new Set(wanted));
  expect(sbom.components.filter(({ licenses }) => !licenses?.[0]?.license.id).map(({ name }) => name)).toEqual([]);
  const refs = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  expect(refs.get(`lenswatch@${lock.packages[""]?.version}`)).toHaveLength(Object.keys(manifest.dependencies).length);
  const known = new Set(sbom.components.map(({ name, version }) => `${name}@${version}`));
  expect(new Set([...refs.values()].flat())).toEqual(known);
});

describe("the npm package", () => {
  test("takes what is listed, and no file that a user has put beside it", async () => {
    const dir = mkdtempSync(join(tmpdir(), "lenswatch-files-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const wanted = ["package.json", "README.md", "config/demo.yaml", "config/prometheus/lenswatch.rules.yml"];
    for (const file of wanted) cpSync(join(root, file), join(dir, file));
    const own = [
      "config/.env",
      "config/production.yaml",
      "config/secrets/admin_token",
      "secrets/x",
      "data/redis.password",
    ];
    for (const file of own) {
      mkdirSync(dirname(join(dir, file)), { recursive: true });
      writeFileSync(join(dir, file), "hush");
    }
    const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
    const { stdout } = await promisify(execFile)("npm", args, { cwd: dir });
    const packed = [...stdout.matchAll(/"path": "(?<path>[^"]+)"/g)].map(({ groups }) => groups?.path);
    expect(packed.sort()).toEqual(wanted.sort());
  });

  test("runs nothing when it is installed", () => {
    const names = ["preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare"];
    expect(names.filter((name) => name in manifest.scripts)).toEqual([]);
  });

  test.each(["18.20.8", "24.11.1"])("refuses Node %s with the version that it needs", async (version) => {
    const other = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "${version}" })`;
    const started = promisify(execFile)(process.execPath, ["--import", other, join(root, "src/bin.ts"), "--version"]);
    const needed = manifest.engines.node.replace(">=", "Node ");
    await expect(started).rejects.toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(needed) });
  });

  test("starts on the Node that it needs", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, "src/bin.ts"), "--version"]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

/** Looks where Node would: beside the package, then upwards. */
function isLocked(path: string, name: string): boolean {
  if (lock.packages[`${path}/node_modules/${name}`.replace(/^\//, "")]?.version) return true;
  const parent = path.lastIndexOf("/node_modules/");
  if (parent < 0) return Boolean(lock.packages[`node_modules/${name}`]?.version);
  return isLocked(path.slice(0, parent), name);
}
