/** The directory of the embedded Redis: private to its owner, with the socket, the pid file and the lock. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, readlink, realpath, stat, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { unlessThrown } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { StoreError } from "../store/errors.ts";

/** What fits into `sun_path`: 108 bytes on Linux, 104 on macOS, with a closing zero. */
const SOCKET_PATH_BYTES = 103;
const LOCK = "lock-";

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
 * The lock of the directory, or undefined while another process has it. It is a listening socket: the system frees it
 * with the last process that has it open, and redis-server inherits it. A name is random and used once, so a stale
 * one may be removed at any time; of two that lock at once each sees the other, as a name is there before it looks.
 */
export async function takeLock(base: string): Promise<Server | undefined> {
  const own = `${LOCK}${crypto.randomUUID().slice(0, 8)}`;
  const lock = createServer((socket) => socket.destroy()).unref();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  privately(() => lock.once("error", reject).listen(join(base, own), resolve));
  await promise;
  const names = (await readdir(base)).filter((name) => name.startsWith(LOCK));
  const others = names.filter((name) => name !== own).map((name) => isListening(join(base, name)));
  if (names.includes(own) && !(await Promise.all(others)).includes(true)) return lock;
  lock.close();
  return undefined;
}

/** Removes the socket where no process has it open. */
async function isListening(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path, () => resolve(true));
  socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED" && code !== "ENOENT"));
  const listens = await promise;
  socket.destroy();
  if (!listens) await unlink(path).catch(() => {});
  return listens;
}

/** The pid in `redis.pid`, if that process is ours and runs in `dir`; the only pid but a child's that may be killed. */
export async function liveServerIn(dir: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(join(dir, "redis.pid"), "utf8").catch(() => ""), 10);
  if (!(pid > 1) || isGone(pid)) return undefined;
  const { uid, cwd } = await ownerOf(pid).catch(() => ({ uid: undefined, cwd: undefined }));
  return uid === process.getuid?.() && cwd === dir ? pid : undefined;
}

async function ownerOf(pid: number) {
  if (process.platform === "linux") {
    return { uid: (await stat(`/proc/${pid}`)).uid, cwd: await readlink(`/proc/${pid}/cwd`) };
  }
  const { stdout } = await promisify(execFile)("/usr/sbin/lsof", ["-a", "-p", `${pid}`, "-d", "cwd", "-F", "un"]);
  return { uid: Number(/^u(\d+)$/m.exec(stdout)?.[1]), cwd: /^n(.+)$/m.exec(stdout)?.[1] };
}

/** Whether the process has ended; a zombie has. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ESRCH";
  }
  const stat = unlessThrown(() => readFileSync(`/proc/${pid}/stat`, "utf8")) ?? "";
  return / [ZX] /.test(stat.replace(/^.*\)/s, ""));
}
