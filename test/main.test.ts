import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { NODE_COMPILE_CACHE } from "./support/daemon.ts";

type Child = ChildProcessByStdio<null, Readable, Readable>;
const main = join(import.meta.dirname, "../src/main.ts");
/** Keeps the process alive after its command has ended, as a forgotten timer would. */
const forgottenTimer = ["--import", "data:text/javascript,setInterval(() => {}, 60_000)"];

let children: Child[] = [];

afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
});

function lenswatch(args: string[], nodeArgs: string[] = []): Child {
  const child = spawn(process.execPath, [...nodeArgs, main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE },
  });
  children.push(child);
  return child;
}

async function exitOf(child: Child): Promise<number | null> {
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

/** A command that runs until a signal, once it is up. */
async function runningSimulator(nodeArgs: string[] = []): Promise<Child> {
  const child = lenswatch(["simulate", "--output", "json"], nodeArgs);
  await once(createInterface(child.stdout), "line");
  return child;
}

describe("the process", () => {
  test("ends by itself, exit code 0, on one SIGHUP", async () => {
    const child = await runningSimulator();
    child.kill("SIGHUP");
    expect(await exitOf(child)).toBe(0);
  });

  test("takes the Ctrl-C that npm passes on a second time for the same", async () => {
    const child = await runningSimulator();
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
  });

  test("ends at once on a later signal, whatever it is still busy with", async () => {
    const child = await runningSimulator(forgottenTimer);
    const again = setInterval(() => child.kill("SIGINT"), 100);
    const code = await exitOf(child).finally(() => clearInterval(again));
    expect(code).toBe(130);
  });

  test("ends with exit code 2 and a suggestion on a command it does not know", async () => {
    const child = lenswatch(["chek-config"]);
    const [said, code] = await Promise.all([text(child.stderr), exitOf(child)]);
    expect(said).toContain("Did you mean check-config?");
    expect(code).toBe(2);
  });

  test("says nothing when whoever read its output has left", async () => {
    const child = lenswatch(["--help"]);
    child.stdout.destroy();
    const [said, code] = await Promise.all([text(child.stderr), exitOf(child)]);
    expect(said).toBe("");
    expect(code).toBe(0);
  });

  test("keeps compiled code for commands, not for the daemon, in the user's own directory alone", async () => {
    const dir = await mkdtemp(join(tmpdir(), "lenswatch-cache-"));
    const shared = await mkdtemp(join(tmpdir(), "lenswatch-tmp-"));
    const env = { PATH: process.env.PATH, HOME: dir, TMPDIR: shared };
    const isKeptBy = async (...args: string[]) => {
      await once(spawn(process.execPath, [main, ...args], { stdio: "ignore", env }), "exit");
      return existsSync(join(dir, ".cache/lenswatch"));
    };
    try {
      expect([await isKeptBy("run", "--help"), await isKeptBy("status", "--help")]).toEqual([false, true]);
      expect([await readdir(join(dir, ".cache")), await readdir(shared)]).toEqual([["lenswatch"], []]);
    } finally {
      for (const one of [dir, shared]) await rm(one, { recursive: true });
    }
  });

  test.each([
    ["an error nobody caught", "setTimeout(() => { throw new Error('ouch token=?token=s3cret') }, 1)"],
    ["a rejection nobody handled", "Promise.reject(new Error('ouch token=?token=s3cret'))"],
  ])("ends with exit code 3 and one sentence on %s", async (_, code) => {
    const bug = `data:text/javascript,setImmediate(() => { ${encodeURIComponent(code)} })`;
    const child = lenswatch(["simulate"], ["--import", bug]);
    const [said, exit] = await Promise.all([text(child.stderr), exitOf(child)]);
    expect(said).toBe("lenswatch: unexpected Error: ouch token=?token=[redacted]\n");
    expect(exit).toBe(3);
  });
});
