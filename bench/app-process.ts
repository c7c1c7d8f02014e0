/**
 * The daemon in a process that watches its own event loop and counts what it sends to Redis; otherwise as
 * `lenswatch run` starts it. Beside it a bare HTTP server that serves the same bytes as a scrape.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { constants, createGzip } from "node:zlib";
import { Redis } from "ioredis";
import { startApp } from "../src/app/app.ts";
import { parseConfig } from "../src/config/load.ts";
import { silentLogger } from "../src/lib/log.ts";
import { answerParent } from "./child.ts";

const stalls = monitorEventLoopDelay({ resolution: 1 });
const commands = new Map<string, number>();
let cpu = process.cpuUsage();
let copied = Buffer.alloc(0);

countCommands();
const copier = createServer(({ headers }, response) => {
  if (headers["accept-encoding"] !== "gzip") return response.end(copied);
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 128 * 1024 });
  response.setHeader("content-encoding", "gzip");
  gzip.pipe(response);
  return gzip.end(copied);
}).listen(0, "127.0.0.1");

answerParent({
  async start({ config: text }: { config: string }) {
    const parsed = parseConfig(text, { file: "bench.yaml", env: {} });
    if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
    const app = await startApp({ config: parsed.config, log: silentLogger });
    process.once("SIGTERM", () => void app.stop().finally(() => process.exit()));
    await app.working;
    return { address: app.address, copier: `http://127.0.0.1:${(copier.address() as AddressInfo).port}` };
  },
  /** From now on. */
  reset() {
    stalls.reset();
    stalls.enable();
    commands.clear();
    cpu = process.cpuUsage();
  },
  /** Since the last reset. */
  read() {
    const { user, system } = process.cpuUsage(cpu);
    return {
      cpuMs: (user + system) / 1000,
      longestStallMs: stalls.max / 1e6,
      p99StallMs: stalls.percentile(99) / 1e6,
      commands: Object.fromEntries(commands),
    };
  },
  async copyOf({ url }: { url: string }) {
    copied = Buffer.from(await (await fetch(url)).arrayBuffer());
    return copied.length;
  },
});

/** By the name of the connection: ours is `lenswatch`, all others are BullMQ's. */
function countCommands(): void {
  const { sendCommand } = Redis.prototype;
  Redis.prototype.sendCommand = function count(this: Redis, ...args) {
    const name = this.options.connectionName ?? "";
    commands.set(name, (commands.get(name) ?? 0) + 1);
    return sendCommand.apply(this, args);
  };
}
