/** The real .ci/setup and the real npm, on packages of the test's own that need no registry. */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/directory.ts";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const here = { os: [process.platform], cpu: [process.arch] };
const elsewhere = { os: ["aix"], cpu: ["ppc64"] };
const wantsNew = { engines: { node: ">=26" } };

/** Writes a tarball as the registry would serve it, and the lock file's entry of it. */
async function packed(dir: string, name: string, manifest: object, files: Readonly<Record<string, string>> = {}) {
  const content = join(dir, `${name}-content`, "package");
  await mkdir(content, { recursive: true });
  const all = { ...files, "package.json": JSON.stringify({ name, version: "26.1.0", ...manifest }) };
  for (const [file, text] of Object.entries(all)) await writeFile(join(content, file), text, { mode: 0o755 });
  await run("tar", ["czf", join(dir, `${name}.tgz`), "-C", join(content, ".."), "package"]);
  return { version: "26.1.0", resolved: `file:${name}.tgz`, ...manifest };
}

/** A checkout whose packages are a Node, one with what only the new Node may have, and one of another platform. */
async function checkout() {
  const dir = await temporaryDirectory();
  for (const file of ["setup", "npm-for-node.cjs", "missing-packages.ts"]) {
    await cp(join(root, ".ci", file), join(dir, ".ci", file));
  }
  const node = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`;
  const packages = {
    node: await packed(dir, "node", { bin: { node: "node" } }, { node }),
    binding: { ...(await packed(dir, "binding", { ...here, ...wantsNew })), optional: true },
    foreign: { ...(await packed(dir, "foreign", { ...elsewhere, ...wantsNew })), optional: true },
  };
  const manifest = {
    name: "checkout",
    version: "1.0.0",
    type: "module",
    dependencies: { node: "file:node.tgz" },
    optionalDependencies: { binding: "file:binding.tgz", foreign: "file:foreign.tgz" },
  };
  const locked = Object.entries(packages).map(([name, one]) => [`node_modules/${name}`, one]);
  const lock = { lockfileVersion: 3, packages: { "": manifest, ...Object.fromEntries(locked) } };
  await writeFile(join(dir, "package.json"), JSON.stringify(manifest));
  await writeFile(join(dir, "package-lock.json"), JSON.stringify({ ...manifest, ...lock }));
  return { dir, env: await withOldNode(dir) };
}

/** An environment in which `node`, and so npm, is of version 18. */
async function withOldNode(dir: string): Promise<NodeJS.ProcessEnv> {
  await mkdir(join(dir, "old"));
  await writeFile(
    join(dir, "old/18.cjs"),
    'Object.defineProperty(process, "version", { value: "v18.20.8", configurable: true });',
  );
  const node = `#!/bin/sh\nNODE_OPTIONS="--require=${dir}/old/18.cjs $NODE_OPTIONS" exec '${process.execPath}' "$@"\n`;
  await writeFile(join(dir, "old/node"), node, { mode: 0o755 });
  const { NODE_OPTIONS: _, ...env } = process.env;
  const PATH = [
    join(dir, "old"),
    ...String(env.PATH)
      .split(delimiter)
      .filter((one) => !one.endsWith(".bin")),
  ];
  return { ...env, PATH: PATH.join(delimiter), npm_config_offline: "true", npm_config_update_notifier: "false" };
}

type Checkout = Awaited<ReturnType<typeof checkout>>;
const setup = ({ dir, env }: Checkout, more: NodeJS.ProcessEnv = {}) =>
  run("sh", [".ci/setup"], { cwd: dir, env: { ...env, ...more } });
const has = ({ dir }: Checkout, name: string) =>
  stat(join(dir, "node_modules", name)).then(
    () => true,
    () => false,
  );

describe("the packages of a checkout, with an old Node first on the PATH", () => {
  test("are what this platform needs, completed where npm ci by hand has left one out, and then left alone", async () => {
    const one = await checkout();
    expect((await run("node", ["--print", "process.version"], { env: one.env })).stdout).toBe("v18.20.8\n");
    await run("npm", ["ci"], { cwd: one.dir, env: one.env });
    expect(await Promise.all(["node", "binding"].map((name) => has(one, name)))).toEqual([true, false]);
    expect((await setup(one)).stderr).toContain("Installing the packages");
    expect(await Promise.all(["binding", "foreign"].map((name) => has(one, name)))).toEqual([true, false]);
    expect((await setup(one)).stderr).toBe("");
    await rm(join(one.dir, "node_modules/binding"), { recursive: true });
    expect((await setup(one)).stderr).toContain("Installing the packages");
    expect(await has(one, "binding")).toBe(true);
  });

  test("are named where npm is told to leave them out", async () => {
    const one = await checkout();
    const refused = setup(one, { npm_config_omit: "optional" });
    await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/needs: binding\./) });
  });
});

test("the Node of the lock file is read where setup and npm look for it", async () => {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const script = join(root, ".ci/npm-for-node.cjs");
  const { stdout } = await run(process.execPath, ["--require", script, "--print", "process.version"]);
  expect(stdout).toBe(`v${packages["node_modules/node"].version}\n`);
});
