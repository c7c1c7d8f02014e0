import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import {
  type EmbeddedRedis,
  ensureRedisServer,
  findRedisServer,
  startEmbeddedRedis,
} from "../../src/redis-embedded/embedded.ts";
import { isGone } from "../../src/redis-embedded/files.ts";
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

async function start(options: { onRestart?: (pid: number) => void } = {}): Promise<EmbeddedRedis> {
  const server = await startEmbeddedRedis({ dir, log: silentLogger, ...options });
  running.push(server);
  return server;
}

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  redis.on("error", () => {}); // what a command rejects with is what the test looks at
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

/** Another lenswatch: a process of its own that starts or adopts the server of `dir`. */
async function otherLenswatch() {
  const child = fork(join(import.meta.dirname, "../support/embedded-holder.ts"), [dir]);
  const [hello] = (await once(child, "message")) as [{ pid: number; adopted: boolean }];
  const end = async (how: "SIGKILL" | "SIGTERM") => {
    child.kill(how);
    await once(child, "exit");
  };
  return { ...hello, end };
}

describeWithRedis("the embedded Redis", () => {
  test("starts with append-only data, no eviction and a password that only its owner can read", async () => {
    const server = await start();
    const settings = await ask(server.url, (redis) =>
      redis.config("GET", "append*", "maxmemory-policy", "bind", "save"),
    );
    expect(settings).toEqual(expect.arrayContaining(["appendonly", "yes", "everysec", "noeviction", "127.0.0.1"]));
    expect((await stat(join(dir, "redis.json"))).mode & 0o777).toBe(0o600);
    expect(server.adopted).toBe(false);
  });

  test("refuses a client without the password", async () => {
    const server = await start();
    const stranger = new URL(server.url);
    stranger.password = "";
    await expect(ask(stranger.href, (redis) => redis.get("x"))).rejects.toThrow(/NOAUTH/);
  });

  test("never shows the password on a command line", async () => {
    const server = await start();
    const { stdout } = await promisify(execFile)("ps", ["-o", "args=", "-p", String(server.pid)]);
    expect(stdout).toContain("redis");
    expect(stdout).not.toContain(new URL(server.url).password);
  });

  test("keeps its data and its address over a graceful stop", async () => {
    const first = await start();
    await ask(first.url, (redis) => redis.set("camera", "dark"));
    await first.stop();
    expect(isGone(first.pid)).toBe(true);
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, (redis) => redis.get("camera"))).toBe("dark");
  });

  test("is adopted when the lenswatch that started it was killed", async () => {
    const killed = await otherLenswatch();
    await killed.end("SIGKILL");
    const server = await start();
    expect(server).toMatchObject({ adopted: true, pid: killed.pid });
    await server.stop();
    expect(isGone(killed.pid)).toBe(true);
  });

  test("is shared by two lenswatch and stopped by the last of them", async () => {
    const first = await start();
    const other = await otherLenswatch();
    expect(other).toMatchObject({ adopted: true, pid: first.pid });
    await first.stop();
    expect(isGone(first.pid)).toBe(false);
    await other.end("SIGTERM");
    expect(isGone(first.pid)).toBe(true);
  });

  test("is one server when several lenswatch start at the same moment", async () => {
    const all = await Promise.all([start(), start(), start(), start()]);
    expect(new Set(all.map((server) => server.pid)).size).toBe(1);
    expect(new Set(all.map((server) => server.url)).size).toBe(1);
  });

  test("stops once even when its last two users leave at the same moment", async () => {
    const [a, b] = await Promise.all([start(), start()]);
    await Promise.all([a.stop(), b.stop()]);
    expect(isGone(a.pid)).toBe(true);
  });

  test("is started again on the same address when it dies by itself", async () => {
    const revived = Promise.withResolvers<number>();
    const server = await start({ onRestart: revived.resolve });
    const before = server.pid;
    process.kill(before, "SIGKILL");
    expect(await revived.promise).not.toBe(before);
    expect(await ask(server.url, (redis) => redis.ping())).toBe("PONG");
  });

  test("picks another port when a stranger took the one it had", async () => {
    const first = await start();
    await first.stop();
    const stranger = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    stranger.listen(Number(new URL(first.url).port), "127.0.0.1");
    await once(stranger, "listening");
    try {
      const second = await start();
      expect(new URL(second.url).port).not.toBe(new URL(first.url).port);
    } finally {
      stranger.close();
    }
  });

  test("replaces an invalid redis.json", async () => {
    await writeFile(join(dir, "redis.json"), "{ half a f");
    const server = await start();
    expect(JSON.parse(await readFile(join(dir, "redis.json"), "utf8")).port).toBe(Number(new URL(server.url).port));
  });

  test("never starts a second server on data that a running one uses", async () => {
    const first = await start();
    await rm(join(dir, "redis.json"));
    await expect(startEmbeddedRedis({ dir, log: silentLogger })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(`pid ${first.pid}`),
    });
  });

  test("gives the reason when the server cannot start", async () => {
    await writeFile(join(dir, "appendonlydir"), "a file where Redis wants a directory");
    await expect(startEmbeddedRedis({ dir, log: silentLogger })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("redis.log"),
    });
  });
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

  test("names the package to install when it may not install it", async () => {
    await expect(ensureRedisServer({ install: false, log: silentLogger, env: { PATH: dir } })).rejects.toMatchObject({
      code: "no_server",
      message: expect.stringContaining("apt-get install redis-server"),
    });
  });

  test("installs with the package manager at hand", async () => {
    const script = `#!/bin/sh\nprintf '#!/bin/sh\\n' > '${dir}/redis-server'; /bin/chmod 755 '${dir}/redis-server'\n`;
    await writeFile(join(dir, "brew"), script, { mode: 0o755 });
    const env = { PATH: dir };
    expect(await ensureRedisServer({ install: true, log: silentLogger, env })).toBe(join(dir, "redis-server"));
  });

  test("passes on the package manager's last word when it fails", async () => {
    await writeFile(join(dir, "brew"), "#!/bin/sh\necho no bottle today >&2\nexit 1\n", { mode: 0o755 });
    const env = { PATH: dir };
    await expect(ensureRedisServer({ install: true, log: silentLogger, env })).rejects.toThrow(/no bottle today/);
  });
});
