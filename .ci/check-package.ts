/**
 * Installs the packed tarball into an empty prefix, as `npm i -g` does, and uses it: `lenswatch demo` up to its first alert
 * on Node 24 and 26, one sentence on Node 20, and docs/client.md with its types. Exit code 77: skipped, and why.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { toError } from "../src/lib/errors.ts";
import { findRedisServer } from "../src/redis-embedded/launch.ts";

const MAX_BYTES = 2_750_000;
const OLD_NODE = 20;
const SKIPPED = 77;
const UNREACHABLE = /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN/;
const BELONGS = /^(?:dist\/.+\.(?:js|d\.ts|css|lua|yaml)|(?:config|docs)\/.+|[A-Z]+(?:\.md)?|package\.json)$/;

const root = resolve(import.meta.dirname, "..");
const dir = await mkdtemp(join(tmpdir(), "lenswatch-package-"));
const prefix = join(dir, "prefix");
const lenswatch = join(prefix, "bin/lenswatch");
const run = promisify(execFile);

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

function must(holds: boolean, what: string): void {
  process.stdout.write(`${holds ? "ok" : "FAILED"}: ${what}\n`);
  if (!holds) process.exitCode = 1;
}

/** Packs the sources, or a package of the registry. */
async function pack(...wanted: string[]): Promise<Packed> {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", dir, ...wanted], { cwd: root });
  const answer = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as Packed[] | Record<string, Packed>;
  const [packed] = Object.values(answer);
  if (!packed) throw new Error("npm pack has packed nothing");
  return packed;
}

async function packAndInstall(): Promise<void> {
  const { filename, unpackedSize, files } = await pack();
  const strangers = files.map(({ path }) => path).filter((path) => !BELONGS.test(path) || path.includes("images"));
  must(strangers.length === 0, `${files.length} files, all of them wanted ${strangers.join(" ")}`);
  must(unpackedSize < MAX_BYTES, `${unpackedSize} bytes without dependencies`);
  const options = ["--prefix", prefix, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", "--global", ...options, join(dir, filename)], { cwd: dir });
}

/** The directory of that Node. */
async function node(major: number): Promise<string> {
  const { filename } = await pack(`node-${process.platform}-${process.arch}@${major}`);
  const at = join(dir, `node-${major}`);
  await mkdir(at);
  await run("tar", ["xf", join(dir, filename), "-C", at, "--strip-components=1"]);
  return join(at, "bin");
}

function start(nodeDir: string, ...args: string[]) {
  const env = { ...process.env, PATH: `${nodeDir}${delimiter}${process.env.PATH}` };
  return spawn(lenswatch, args, { env, cwd: dir, stdio: ["ignore", "pipe", "inherit"] });
}

async function demo(name: string, nodeDir: string): Promise<void> {
  const began = performance.now();
  const child = start(nodeDir, "demo");
  const lines: string[] = [];
  let alertedAfter: number | undefined;
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (alertedAfter !== undefined || !/^[\d:]+ {2}Slack .*offline/.test(line)) continue;
    alertedAfter = performance.now() - began;
    child.kill("SIGINT");
  }
  const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
  const seconds = ((alertedAfter ?? 0) / 1000).toFixed(1);
  must(alertedAfter !== undefined, `the first alert of the demo on Node ${name}, after ${seconds} s`);
  must(
    code === 0 && lines.at(-1)?.includes("Nothing is left running") === true,
    `SIGINT ends it with exit code ${code}`,
  );
  if (alertedAfter === undefined) process.stdout.write(`${lines.slice(-20).join("\n")}\n`);
}

async function refusal(nodeDir: string): Promise<void> {
  const env = { ...process.env, PATH: nodeDir };
  const failed = (await run(lenswatch, ["--version"], { env }).catch((thrown: unknown) => thrown)) as {
    code?: number;
    stderr?: string;
  };
  const { code, stderr = "" } = failed;
  must(code === 1 && /^lenswatch needs Node [\d.]+ or later.*\n$/.test(stderr), `Node ${OLD_NODE}: ${stderr.trim()}`);
}

/** docs/client.md in a project of its own, without the packages that lenswatch has. */
async function client(): Promise<void> {
  const project = join(dir, "project");
  await mkdir(join(project, "node_modules"), { recursive: true });
  await symlink(join(prefix, "lib/node_modules/lenswatch"), join(project, "node_modules/lenswatch"));
  const page = await readFile(join(root, "docs/client.md"), "utf8");
  await writeFile(join(project, "status.mts"), /```ts\n(.+?)```/s.exec(page)?.[1] ?? "");
  await Promise.all([typesOf(project), example(project), onlyTheClient(project)]);
}

async function typesOf(project: string): Promise<void> {
  const types = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node", "--skipLibCheck", "false"];
  const language = ["--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--target", "es2022"];
  const args = ["--ignoreConfig", "--noEmit", ...types, ...language, join(project, "status.mts")];
  const tsc = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...args]);
  const errors = await tsc.then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
  must(errors === "", `the types of docs/client.md, strictly ${errors}`);
}

async function example(project: string): Promise<void> {
  const simulator = start(dirname(process.execPath), "simulate", "--output", "json");
  const [line] = (await once(createInterface(simulator.stdout), "line")) as [string];
  const settings = Object.entries(JSON.parse(line) as Record<string, string>);
  const env = Object.fromEntries(settings.map(([key, value]) => [`LENSWATCH_${key.toUpperCase()}`, value]));
  const { stdout } = await run(process.execPath, [join(project, "status.mts")], { env });
  must(stdout.trim().split("\n").length === 20, "the example of docs/client.md against `lenswatch simulate`");
  simulator.kill("SIGTERM");
  await once(simulator, "exit");
}

async function onlyTheClient(project: string): Promise<void> {
  const script = 'import("lenswatch").catch((error) => console.log(error.code))';
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: project });
  must(stdout === "ERR_PACKAGE_PATH_NOT_EXPORTED\n", "no other module can be imported");
}

async function check(): Promise<void> {
  if (!(await findRedisServer(process.env))) return skip("there is no redis-server here");
  const [current, newest, old] = await Promise.all([
    node(24),
    dirname(process.execPath),
    node(OLD_NODE),
    packAndInstall(),
  ]).catch((thrown: unknown) => {
    if (UNREACHABLE.test(toError(thrown).message)) skip("the registry does not answer");
    else throw thrown;
    return [];
  });
  if (!current || !newest || !old) return;
  // One after the other: two that start at once would choose the same port.
  const demos = demo("24", current).then(() => demo(process.version, newest));
  await Promise.all([demos, refusal(old), client()]);
}

function skip(why: string): void {
  process.stdout.write(`skipped: ${why}\n`);
  process.exitCode = SKIPPED;
}

try {
  await check();
} finally {
  await rm(dir, { recursive: true, force: true });
}
