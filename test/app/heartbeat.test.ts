import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const SECRET = "ping/2f1c8e6a-secret";

/** A dead man's switch: counts calls and gives the set answer. */
async function startSwitch() {
  let status = 200;
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.writeHead(status, { location: "/elsewhere" }).end("OK");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${SECRET}`;
  const quietMs = 2_500;
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
    calls,
    heartbeat: `heartbeat: { url: "${url}", interval: 1s }`,
    answer: (next: number) => {
      status = next;
    },
    more: (count = 1) => {
      const before = calls.length;
      return until(`${count} more calls`, () => calls.length >= before + count);
    },
    /** Waits until there is no call for two intervals; fails where calls go on. */
    async quiet() {
      let seen = calls.length;
      let since = performance.now();
      await until("no more calls", () => {
        if (calls.length !== seen) [seen, since] = [calls.length, performance.now()];
        return performance.now() - since > quietMs;
      });
    },
  };
}

const outcome = async (address: string, name: string): Promise<number> => {
  const text = await (await fetch(`${address}/metrics`)).text();
  return Number(new RegExp(`^lenswatch_heartbeat_total\\{outcome="${name}"\\} (\\d+)$`, "m").exec(text)?.[1]);
};

describeWithRedis("the heartbeat", () => {
  it("is called while all works, and not while the service, Redis or deliveries do not; a refusal is logged once", async () => {
    await using deadMan = await startSwitch();
    let logged = "";
    const destination = new Writable({
      write(chunk, _, done) {
        logged += String(chunk);
        done();
      },
    });
    const log = createLogger({ level: "trace", destination });
    await using watch = await startWatch({ more: deadMan.heartbeat, log });
    const { address } = watch.app;
    await deadMan.more(2);
    expect(new Set(deadMan.calls)).toEqual(new Set([`GET /${SECRET}`]));

    deadMan.answer(302);
    await deadMan.more(3);
    await until("counted", async () => (await outcome(address, "failed")) >= 2);
    expect(logged.match(/heartbeat not accepted/g)).toHaveLength(1);
    expect(logged).toContain("it answered 302, and redirects are not followed");
    deadMan.answer(200);
    await until("said to be back", () => logged.includes("heartbeat accepted again"));

    watch.simulator.faults.set("error_payload", { endpoint: "status/uptime" });
    await deadMan.quiet();
    expect(await outcome(address, "skipped")).toBeGreaterThan(0);
    watch.simulator.faults.clearAll();
    await deadMan.more();

    const connection = new Redis(watch.redis.url, { maxRetriesPerRequest: null });
    const deliveries = new Queue("deliver", { connection, prefix: "{lenswatch}" });
    await deliveries.pause();
    await deadMan.quiet();
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    await deliveries.resume();
    await deadMan.more();
    await deliveries.close();
    connection.disconnect();

    await watch.redis.kill();
    await deadMan.quiet();
    await watch.redis.restart();
    await deadMan.more();
    expect(deadMan.calls).not.toContain("GET /elsewhere");
    expect(logged + (await (await fetch(`${address}/metrics`)).text())).not.toContain("2f1c8e6a");
  });
});
