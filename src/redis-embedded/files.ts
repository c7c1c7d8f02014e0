/** The directory of the embedded Redis: private to its owner, with the socket, the pid file and the lock. */
import { readFileSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, readlink, realpath, stat, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { unlessThrown } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { StoreError } from "../store/errors.ts";

/** The bytes that fit into `sun_path`: 108 bytes on Linux, 104 on macOS, with a closing zero. */
const SOCKET_PATH_BYTES = 103;
const LOCK = "lock-";
/** An owner answers in this time, unless it hangs. */
const ANSWER_MS = 1_000;

/**
 * Makes `path`, or closes it to other users, and gives its real path. Throws StoreError `unavailable` where it, or
 * something in it, belongs to another user: a socket or link planted there would be used.
 */
export async function privateDirectory(path: string, log: Logger): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const dir = await realpath(path);
  const [link, { uid, mode }, own] = [await lstat(path), await stat(dir), process.getuid?.()];
  if (uid !== own || (link.uid !== own && link.uid !== 0)) {
    throw new StoreError("unavailable", `${dir} belongs to another user (uid ${uid}): choose a directory of your own.`);
  }
  if ((mode & 0o077) !== 0) {
    await chmod(dir, 0o700);
    log.warn({ dir, mode: (mode & 0o777).toString(8) }, "data directory was open to other users, closed it to them");
  }
  for (const name of await readdir(dir)) {
    const entry = await lstat(join(dir, name)).catch(() => undefined);
    if (!entry || entry.uid === own) continue;
    throw new StoreError(
      "unavailable",
      `${join(dir, name)} belongs to another user (uid ${entry.uid}): find out why, and remove it.`,
    );
  }
  return dir;
}

/** Runs `make`; files and sockets it makes are its owner's alone. */
export function privately<T>(make: () => T): T {
  const umask = process.umask(0o077);
  try {
    return make();
  } finally {
    process.umask(umask);
  }
}

/** `dir` as a name that is short enough for a socket in it: absolute or from the working directory. */
export function socketDirectory(dir: string): string {
  const fits = (base: string) => Buffer.byteLength(join(base, `${LOCK}12345678`)) <= SOCKET_PATH_BYTES;
  const base = [dir, relative(process.cwd(), dir) || "."].find(fits);
  if (base !== undefined) return base;
  throw new StoreError("unavailable", `${dir} is too long a path for a socket: start lenswatch closer to it.`);
}

/**
 * The lock of the directory, or its owner, where that answers. The lock is a listening socket: the system frees it
 * with the last process that has it open, and redis-server inherits it. A name is random and used once, so a stale
 * one may be removed at any time; of two that lock at once each sees the other, as a name is there before it looks.
 */
export async function takeLock(base: string): Promise<{ lock: Server } | { owner: number | undefined }> {
  const own = `${LOCK}${crypto.randomUUID().slice(0, 8)}`;
  let isOwner = false;
  const lock = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(isOwner ? `${process.pid}` : "");
  }).unref();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  privately(() => lock.once("error", reject).listen(join(base, own), resolve));
  await promise;
  const names = (await readdir(base)).filter((name) => name.startsWith(LOCK));
  const others = await Promise.all(names.filter((name) => name !== own).map((name) => ask(join(base, name))));
  isOwner = names.includes(own) && others.every((answer) => answer === undefined);
  if (isOwner) return { lock };
  lock.close();
  return { owner: others.map(Number).find((pid) => pid > 0) };
}

/** The answer of a lock's owner; undefined where no process has it open: it is removed. */
async function ask(path: string): Promise<string | undefined> {
  const socket = connect(path);
  socket.setTimeout(ANSWER_MS, () => socket.destroy());
  try {
    return await text(socket);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== "ECONNREFUSED" && code !== "ENOENT") return "";
    await unlink(path).catch(() => {});
    return undefined;
  }
}

/** The pid in `redis.pid`, if that process runs in `dir`; never known without /proc. */
export async function serverIn(dir: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(join(dir, "redis.pid"), "utf8").catch(() => ""), 10);
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return cwd === dir && !isGone(pid) ? pid : undefined;
}

/** Says whether the process has ended; a zombie has. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ESRCH";
  }
  const stat = unlessThrown(() => readFileSync(`/proc/${pid}/stat`, "utf8")) ?? "";
  return / [ZX] /.test(stat.replace(/^.*\)/s, ""));
}
