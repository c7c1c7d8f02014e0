/** The files of the embedded Redis in its directory: `redis.json` (where it listens) and `redis.pid`. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile, readlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { lastingPort } from "../lib/free-port.ts";

const RedisEndpoint = z.object({ port: z.int().min(1).max(65_535), password: z.string().regex(/^[0-9a-f]{32,64}$/) });
export type RedisEndpoint = z.infer<typeof RedisEndpoint>;

/** Where the directory's server listens or is to listen; chosen and written (0600) when nothing is there yet. */
export async function redisEndpoint(dir: string): Promise<RedisEndpoint> {
  const file = join(dir, "redis.json");
  const known = await readEndpoint(file);
  if (known) return known;
  const endpoint = { port: await lastingPort(), password: randomBytes(24).toString("hex") };
  try {
    await writeFile(file, `${JSON.stringify(endpoint)}\n`, { mode: 0o600, flag: "wx" });
    return endpoint;
  } catch (thrown) {
    // Another process was first, or the file is unreadable.
    const theirs = await readEndpoint(file);
    if (theirs) return theirs;
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    await unlink(file).catch(() => {});
    return redisEndpoint(dir);
  }
}

/** Deletes an endpoint that turned out to be another program's, unless it was replaced meanwhile. */
export async function dropEndpoint(dir: string, endpoint: RedisEndpoint): Promise<void> {
  const file = join(dir, "redis.json");
  const current = await readEndpoint(file);
  if (current?.password === endpoint.password) await unlink(file).catch(() => {});
}

/** The pid in `redis.pid`, if that process runs in `dir` (known on Linux only). */
export async function liveServerIn(dir: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(join(dir, "redis.pid"), "utf8").catch(() => ""), 10);
  if (!(pid > 0) || isGone(pid)) return undefined;
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return cwd === dir ? pid : undefined;
}

/** Whether the process has ended; a zombie has. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ESRCH";
  }
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, ""));
  } catch {
    return false;
  }
}

async function readEndpoint(file: string): Promise<RedisEndpoint | undefined> {
  try {
    return RedisEndpoint.safeParse(JSON.parse(await readFile(file, "utf8"))).data;
  } catch {
    return undefined;
  }
}
