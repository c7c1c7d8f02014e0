import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { type EmbeddedRedis, startEmbeddedRedis } from "../../src/redis-embedded/embedded.ts";
import { isGone } from "../../src/redis-embedded/files.ts";
import { findRedisServer, requireRedisServer } from "../../src/redis-embedded/launch.ts";
import { createClient } from "../../src/store/redis-client.ts";
import { lastingPort } from "../support/lasting-port.ts";
import { describeWithRedis, startTestRedis } from "../support/redis.ts";

let dir: string;
let running: EmbeddedRedis[];

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "lenswatch embedded ")));
  running = [];
});

afterEach(async () => {
  for (const server of running) await server.stop();
  expect(running.every((server) => isGone(server.pid))).toBe(true);
  await rm(dir, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedRedis> {
  const server = await startEmbeddedRedis({ dir, log: silentLogger });
  running.push(server);
  return server;
}

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = createClient({ url }, "test");
  redis.on("error", () => {}); // of a server that is coming up
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

const isLinux = process.platform === "linux";
const mode = async (name: string) => (await stat(join(dir, name))).mode;

/** Another lenswatch: a process of its own that starts the server of `dir`. */
async function otherLenswatch(cwd = process.cwd()) {
  const child = fork(join(import.meta.dirname, "../support/embedded-holder.ts"), [dir], { cwd });
  const [pid] = (await once(child, "message")) as [number];
  const end = async (how: "SIGKILL" | "SIGTERM") => {
    child.kill(how);
    await once(child, "exit");
  };
  return { pid, owner: child.pid, end };
}

describeWithRedis("the embedded Redis", () => {
  test("starts with append-only data, no eviction and no port", async () => {
    const server = await start();
    const settings = await ask(server.url, (redis) =>
      redis.config("GET", "append*", "maxmemory-policy", "port", "save"),
    );
    expect(settings).toEqual(expect.arrayContaining(["appendonly", "yes", "everysec", "noeviction"]));
    expect(settings).toEqual(expect.arrayContaining(["port", "0"]));
  });

  test("leaves nothing that another user may read or connect to", async () => {
    await start();
    const modes = await Promise.all([".", ...(await readdir(dir, { recursive: true }))].map((name) => mode(name)));
    expect(modes.length).toBeGreaterThan(5);
    expect(modes.filter((one) => (one & 0o077) !== 0)).toEqual([]);
  });

  test.skipIf(!isLinux)("passes on nothing of the environment (skipped without /proc)", async () => {
    const server = await start();
    const environment = await readFile(`/proc/${server.pid}/environ`, "utf8");
    expect(environment.split("\0").filter((one) => !/^(PWD|OLDPWD|SHLVL|_)?(=|$)/.test(one))).toEqual([]); // the shell's
  });

  test("keeps its data and its address over a graceful stop", async () => {
    const first = await start();
    await ask(first.url, (redis) => redis.set("camera", "dark"));
    await first.stop();
    expect(isGone(first.pid)).toBe(true);
    expect(await readFile(join(dir, "redis.log"), "utf8")).toMatch(/ready to exit, bye bye\.{3}\s*$/);
    expect((await readdir(dir)).filter((name) => /pid|sock/.test(name))).toEqual([]);
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, (redis) => redis.get("camera"))).toBe("dark");
  });

  test("has what a URL of its socket asks for: database and password", async () => {
    const server = await start();
    await ask(server.url, (redis) => redis.config("SET", "requirepass", "p w"));
    const where = await ask(`${server.url}?db=3&password=p%20w`, (redis) => redis.client("INFO"));
    expect(where).toMatch(/ db=3 /);
  });

  test("ends with a lenswatch that is killed, and keeps its data for the next one", async () => {
    const killed = await otherLenswatch();
    await ask(`unix:${join(dir, "redis.sock")}`.replaceAll(" ", "%20"), (redis) => redis.set("camera", "dark"));
    await killed.end("SIGKILL");
    const server = await start();
    expect(isGone(killed.pid)).toBe(true);
    expect(await ask(server.url, (redis) => redis.get("camera"))).toBe("dark");
  });

  test("has one owner, whom a second lenswatch names in its refusal", async () => {
    const owner = await otherLenswatch();
    await expect(start()).rejects.toMatchObject({
      code: "unavailable",
      message:
        `Another lenswatch (pid ${owner.owner}) uses ${dir}: stop it, start this one in another directory, ` +
        "or set redis.url for both.",
    });
    await owner.end("SIGTERM");
    expect(isGone(owner.pid)).toBe(true);
    await start();
  });

  test("has one owner when several lenswatch start at the same moment", async () => {
    const all = await Promise.allSettled([start(), start(), start(), start()]);
    expect(all.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
  });

  test("is started again on the same address when it dies by itself", async () => {
    const server = await start();
    const before = server.pid;
    process.kill(before, "SIGKILL");
    expect(await ask(server.url, (redis) => redis.ping())).toBe("PONG");
    expect(server.pid).not.toBe(before);
  });

  test("is never started on data that a running server uses, whatever file is gone", async () => {
    const other = await otherLenswatch();
    const again = () => startEmbeddedRedis({ dir, log: silentLogger, leavingMs: 50 });
    const [lock = ""] = (await readdir(dir)).filter((name) => name.startsWith("lock-"));
    await rename(join(dir, lock), join(dir, "away"));
    await expect(again()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(`pid ${other.pid}`),
    });
    await rename(join(dir, "away"), join(dir, lock));
    await rm(join(dir, "redis.pid"));
    await expect(again()).rejects.toMatchObject({ message: expect.stringContaining(`pid ${other.owner}`) });
    await other.end("SIGTERM");
  });

  test("is reached in a directory whose path is too long for a socket from a working directory near it", async () => {
    dir = join(dir, "d".repeat(120));
    await expect(startEmbeddedRedis({ dir, log: silentLogger })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("too long a path"),
    });
    const near = await otherLenswatch(dir);
    await near.end("SIGTERM");
    expect(isGone(near.pid)).toBe(true);
  });

  test("gives the reason when the server cannot start", async () => {
    await writeFile(join(dir, "appendonlydir"), "a file where Redis wants a directory");
    await expect(startEmbeddedRedis({ dir, log: silentLogger })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("redis.log"),
    });
  });
});

describeWithRedis("a server that another program runs in the directory", () => {
  test("is left alone", async () => {
    const binary = await requireRedisServer(process.env);
    const child = spawn(binary, ["-"], { cwd: dir, stdio: ["pipe", "ignore", "ignore"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const port = await lastingPort();
    child.stdin?.end(`bind 127.0.0.1\nport ${port}\npidfile redis.pid\nsave ""\nappendonly yes\n`);
    await ask(`redis://127.0.0.1:${port}/0`, (redis) => redis.set("camera", "dark"));
    await expect(startEmbeddedRedis({ dir, log: silentLogger, leavingMs: 50 })).rejects.toThrow(`pid ${child.pid}`);
    expect(await ask(`redis://127.0.0.1:${port}/0`, (redis) => redis.get("camera"))).toBe("dark");
  });
});

describeWithRedis("a directory that other users could write to", () => {
  /** Another process of ours, which ends by itself without input. */
  function bystander(): ChildProcess {
    const child = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
    onTestFinished(() => void child.kill());
    return child;
  }

  test("is closed to them", async () => {
    await chmod(dir, 0o777);
    await start();
    expect((await mode(".")) & 0o777).toBe(0o700);
  });

  test("a planted pid file kills nobody", async () => {
    const { pid } = bystander();
    const server = await start();
    await writeFile(join(dir, "redis.pid"), `${pid}`);
    await server.stop();
    expect(isGone(pid ?? 0)).toBe(false);
    await writeFile(join(dir, "redis.pid"), `${pid}`);
    await (await start()).stop();
    expect(isGone(pid ?? 0)).toBe(false);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "anything of theirs in it is refused, as is a directory of theirs (skipped unless root)",
    async () => {
      const another = 12_345;
      const refused = (name: string) =>
        expect(startEmbeddedRedis({ dir, log: silentLogger })).rejects.toMatchObject({
          code: "unavailable",
          message: expect.stringContaining(`${join(dir, name)} belongs to another user`),
        });
      const plant: Record<string, (path: string) => Promise<unknown>> = {
        "redis.sock": (path) => once(createServer().unref().listen(path), "listening"),
        "redis.log": (path) => symlink("/etc/passwd", path),
        "redis.pid": (path) => writeFile(path, "1"),
        appendonlydir: (path) => mkdir(path),
      };
      for (const [name, make] of Object.entries(plant)) {
        await make(join(dir, name));
        await lchown(join(dir, name), another, another);
        await refused(name);
        await rm(join(dir, name), { recursive: true });
      }
      await chown(dir, another, another);
      await refused("");
      const theirs = dir;
      dir = join(theirs, "link");
      await symlink(theirs, dir);
      await expect(startEmbeddedRedis({ dir, log: silentLogger })).rejects.toThrow(`${theirs} belongs to another user`);
      dir = theirs;
    },
  );
});

describeWithRedis("a test's Redis", () => {
  test("comes back with its data after a kill when it is append-only", async () => {
    const redis = await startTestRedis({ appendonly: true });
    await ask(redis.url, (client) => client.set("a", "1"));
    await ask(redis.url, (client) =>
      client.call("WAITAOF", "1", "0", "0").catch(() => client.config("SET", "appendfsync", "always")),
    );
    await redis.kill();
    expect(isGone(redis.pid)).toBe(true);
    await redis.restart();
    expect(await ask(redis.url, (client) => client.get("a"))).toBe("1");
    await redis.stop();
  });
});

describe("finding redis-server", () => {
  test("finds nothing where PATH has no server", async () => {
    expect(await findRedisServer({ PATH: dir })).toBeUndefined();
  });

  test("finds valkey-server where that is what there is", async () => {
    await writeFile(join(dir, "valkey-server"), "#!/bin/sh\n", { mode: 0o755 });
    expect(await findRedisServer({ PATH: dir })).toBe(join(dir, "valkey-server"));
  });

  test("names the package to install and installs nothing", async () => {
    await writeFile(join(dir, "apt-get"), `#!/bin/sh\necho > '${dir}/installed'\n`, { mode: 0o755 });
    await expect(requireRedisServer({ PATH: dir })).rejects.toMatchObject({
      code: "no_server",
      message: expect.stringContaining("apt-get install redis-server"),
    });
    expect(await readdir(dir)).toEqual(["apt-get"]);
  });
});

describe("what the demo and the tests install redis-server with", () => {
  /** Runs .ci/install-redis where `brew` is the only package manager; gives what it said. */
  async function install(brew: string): Promise<string> {
    for (const tool of ["id", "sh", "tail", "chmod"]) await symlink((await findTool(tool)) ?? "", join(dir, tool));
    await writeFile(join(dir, "brew"), `#!/bin/sh\n${brew}`, { mode: 0o755 });
    const script = new URL("../../.ci/install-redis", import.meta.url).pathname;
    const child = spawn("/bin/sh", [script], { env: { PATH: dir }, stdio: ["ignore", "ignore", "pipe"] });
    return text(child.stderr);
  }

  test("is the package manager at hand, once", async () => {
    await install(`printf '#!/bin/sh\n' >'${dir}/redis-server'; chmod 755 '${dir}/redis-server'`);
    expect(await findRedisServer({ PATH: dir })).toBe(join(dir, "redis-server"));
  });

  test("passes on the package manager's last line when it fails", async () => {
    expect(await install("echo no bottle today >&2; exit 1")).toMatch(/could not be installed \(no bottle today\)/);
  });
});

async function findTool(name: string): Promise<string | undefined> {
  const places = ["/bin", "/usr/bin"].map((folder) => join(folder, name));
  const there = await Promise.all(
    places.map((place) =>
      stat(place).then(
        () => place,
        () => undefined,
      ),
    ),
  );
  return there.find((place) => place !== undefined);
}
