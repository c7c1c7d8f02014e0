import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { createHangDetector, createServiceManager } from "../../src/app/systemd.ts";
import { createLogger, silentLogger } from "../../src/lib/log.ts";
import { prepareWatch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const dir = mkdtempSync(join(tmpdir(), "lenswatch-systemd-"));
const file = join(dir, "received");
const received = () => readFileSync(file, "utf8").split("\n").slice(0, -1);
/** In place of systemd-notify: a line per message, and how it was called. */
const stub = `#!/bin/sh\nprintf '%s|' "$@" >>'${file}'\necho >>'${file}'\n`;
const env = { NOTIFY_SOCKET: "/run/none", PATH: `${dir}:${process.env.PATH}`, SECRET: "hunter2" };
writeFileSync(join(dir, "systemd-notify"), stub, { mode: 0o755 });
writeFileSync(file, "");
afterEach(() => writeFileSync(file, ""));
process.once("exit", () => rmSync(dir, { recursive: true }));

const ready = async () => ({ status: "Ready.", hung: false });

describe("what systemd is told", () => {
  test("arrives in order, also when told at once", async () => {
    const manager = createServiceManager(env, silentLogger);
    void manager.notify("RELOADING=1");
    void manager.notify("READY=1", "STATUS=Ready.");
    await manager.notify("STOPPING=1");
    expect(received()).toEqual(["RELOADING=1|", "READY=1|STATUS=Ready.|", "STOPPING=1|"]);
  });

  test("is nothing where systemd did not start the process", async () => {
    const manager = createServiceManager({ PATH: env.PATH, WATCHDOG_USEC: "30000" }, silentLogger);
    await manager.notify("READY=1");
    expect(received()).toEqual([]);
  });

  test("is bounded while nobody takes it, and a failure is logged once", async () => {
    const destination = new PassThrough();
    const log = createLogger({ level: "warn", destination });
    const manager = createServiceManager({ ...env, PATH: "/nowhere" }, log);
    await Promise.all(Array.from({ length: 100 }, () => manager.notify("READY=1")));
    const logged = String(destination.read());
    expect(logged.match(/systemd could not be notified/g)).toHaveLength(1);
    expect(logged).not.toContain(env.SECRET);
  });
});

describe("the watchdog", () => {
  const WATCHDOG_USEC = "60000"; // a look every 20 ms

  test("is fed while the daemon works, and not while its event loop is blocked", async () => {
    const stop = createServiceManager({ ...env, WATCHDOG_USEC }, silentLogger).watch(ready);
    onTestFinished(stop);
    await until("it is fed", () => received().length >= 2);
    expect(received()[0]).toBe("WATCHDOG=1|STATUS=Ready.|");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100); // what was under way is over
    const before = received().length;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    expect(received()).toHaveLength(before);
    await until("it is fed again", () => received().length > before);
  });

  test.each([
    ["hangs", async () => ({ status: "", hung: true })],
    ["does not answer", () => new Promise<never>(() => {})],
    ["fails", () => Promise.reject(new Error("no"))],
  ])("is not fed by a daemon that %s", async (_, health) => {
    const looked = Promise.withResolvers<void>();
    let looks = 0;
    const stop = createServiceManager({ ...env, WATCHDOG_USEC }, silentLogger).watch(() => {
      looks += 1;
      if (looks === 4) looked.resolve();
      return health();
    });
    onTestFinished(stop);
    await looked.promise;
    // What another test had under way may arrive here.
    expect(received().filter((text) => !text.includes("Ready."))).toEqual([]);
  });

  test("is another process' where WATCHDOG_PID says so", async () => {
    const manager = createServiceManager({ ...env, WATCHDOG_USEC, WATCHDOG_PID: "1" }, silentLogger);
    manager.watch(() => Promise.reject(new Error("was asked")))();
    await manager.notify("READY=1");
    expect(received()).toEqual(["READY=1|"]);
  });
});

describe("a daemon hangs", () => {
  const MIN = 60_000;
  const facts = { configLoaded: true, endpointsDown: [] };
  const sweeps = (lastAttemptAt?: number) => ({ lastAttemptAt, statusIntervalMs: 10_000 });

  test("when Redis answers and no sweep was attempted for more than five minutes, or ever", () => {
    const isHung = createHangDetector(0);
    expect(isHung({ ...facts, redisReachable: true, sweeps: sweeps() }, 5 * MIN)).toBe(false);
    expect(isHung({ ...facts, redisReachable: true, sweeps: sweeps() }, 5 * MIN + 1)).toBe(true);
    expect(isHung({ ...facts, redisReachable: true, sweeps: sweeps(MIN) }, 6 * MIN)).toBe(false);
    expect(isHung({ ...facts, redisReachable: true, sweeps: sweeps(MIN) }, 6 * MIN + 1)).toBe(true);
  });

  test("not while Redis is away, nor right after, nor where it does not poll", () => {
    const isHung = createHangDetector(0);
    expect(isHung({ ...facts, redisReachable: false, sweeps: sweeps(MIN) }, 60 * MIN)).toBe(false);
    expect(isHung({ ...facts, redisReachable: true, sweeps: sweeps(MIN) }, 64 * MIN)).toBe(false);
    expect(isHung({ ...facts, redisReachable: true, sweeps: undefined }, 90 * MIN)).toBe(false);
  });

  test("after ten intervals where those are longer", () => {
    const isHung = createHangDetector(0);
    const slow = { lastAttemptAt: 0, statusIntervalMs: 10 * MIN };
    expect(isHung({ ...facts, redisReachable: true, sweeps: slow }, 99 * MIN)).toBe(false);
    expect(isHung({ ...facts, redisReachable: true, sweeps: slow }, 101 * MIN)).toBe(true);
  });
});

/** A socket as systemd's; prints each datagram as a line. */
const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True: print(s.recv(4096).decode().replace("\\n", "|"), flush=True)
`;
const runs = async (command: string, ...args: string[]) =>
  once(spawn(command, args, { stdio: "ignore" }), "close").then(
    ([code]) => code === 0,
    () => false,
  );
const hasReceiver = (await runs("python3", "-c", "1")) && (await runs("systemd-notify", "--version"));

test.skipIf(!(await runs("systemd-analyze", "--version")))(
  "the unit has an exposure below 2.0 (skipped without systemd)",
  async () => {
    const unit = new URL("../../config/lenswatch.service", import.meta.url).pathname;
    expect(await runs("systemd-analyze", "security", "--offline=true", "--threshold=20", unit)).toBe(true);
  },
);

describeWithRedis("a daemon that systemd started", () => {
  test.skipIf(!hasReceiver)(
    "says on a real socket when it is ready, reloads, works and stops (skipped without systemd)",
    async () => {
      const socket = join(dir, "notify");
      const receiver = spawn("python3", ["-c", RECEIVER, socket], { stdio: ["ignore", "pipe", "inherit"] });
      onTestFinished(() => void receiver.kill());
      const heard: string[] = [];
      createInterface({ input: receiver.stdout }).on("line", (line) => heard.push(line));
      await until("the socket is there", () => heard.includes("bound"));
      await using stage = await prepareWatch();
      const daemon = await startDaemon(stage.config, { env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "300000" } });
      await until("it is ready", () => heard.includes("READY=1|STATUS=Ready."));
      await until("it works", () => heard.includes("WATCHDOG=1|STATUS=Ready."));
      daemon.signal("SIGHUP");
      await until(
        "it has reloaded",
        () => heard.includes("RELOADING=1") && heard.lastIndexOf("READY=1") > heard.indexOf("RELOADING=1"),
      );
      expect(await daemon.end("SIGTERM")).toBe(0);
      await until("it stops", () => heard.includes("STOPPING=1|STATUS=Stopping."));
    },
  );
});
