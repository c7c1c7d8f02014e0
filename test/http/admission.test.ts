/** One client, or many, that ask for more than the process can do: probes, changes and scrapes are answered all the same. */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, onTestFinished, test } from "vitest";
import type { FleetSnapshot } from "../../src/health/shard-state.ts";
import { largeFleet, NOW } from "../metrics/fleets.ts";
import { overviewOfFleet } from "../support/overviews.ts";
import { type Served, serve } from "./serve.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const tokens = { adminToken: "boss-token" };
const admin = { authorization: "Bearer boss-token" };
const isLinux = process.platform === "linux";

/** A fleet as the daemon has it, all of it in the last answer. */
function fleetInRows(size: number): FleetSnapshot {
  const fleet = largeFleet(size);
  return { ...fleet, shards: fleet.shards.map((shard) => ({ ...shard, sweptAt: NOW - 10_000 })) };
}

/** A connection that sends this and reads nothing until asked to. */
function send({ address }: Served, text: string, localAddress = "127.0.0.1"): Socket {
  const socket = connect({ port: Number(new URL(address).port), host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(text);
  return socket;
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

/** The status line and headers of the next answer; empty where the connection ends before. */
async function headOf(socket: Socket): Promise<string> {
  const ended = once(socket, "close").then(() => [""]);
  const [data] = await Promise.race([once(socket.resume(), "data").catch(() => [""]), ended]);
  return String(data).split("\r\n\r\n")[0] ?? "";
}

/** The status of an answer to a connection of its own, and the CPU time of this thread until then, ms. */
async function timed({ address }: Served, path: string, more: RequestOptions = {}) {
  const from = process.threadCpuUsage();
  const sent = httpRequest(address + path, { agent: false, ...more }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "close");
  const { user, system } = process.threadCpuUsage(from);
  return { status: answer.statusCode, ms: (user + system) / 1000 };
}

/** What is used once nothing is held that was used before. */
function used(): number {
  collect();
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
}

/** Within a second on a machine that does nothing else; a busy one takes more CPU time for the same. */
const soon = { status: 200, ms: expect.toSatisfy((ms: number) => ms < 2_500) };

test("a probe is answered while five connections send thousands of them at once, in bounded memory", async () => {
  let asked = 0;
  const ready = async () => {
    asked += 1;
    await sleep(20);
    return { ready: true, reasons: [], notes: [] };
  };
  const served = await serve({ ready });
  const text = request("/readyz").repeat(8_000);
  const before = used();
  const held = Array.from({ length: 5 }, () => send(served, text));
  await Promise.all(held.map((socket) => once(socket, "connect")));
  expect(await timed(served, "/healthz")).toEqual(soon);
  expect(await timed(served, "/readyz")).toEqual(soon);
  await turn();
  expect(used() - before).toBeLessThan(20e6);
  expect(asked).toBeLessThan(20);
});

test("probes of a moment share one answer, which the next moment does not have", async () => {
  let asked = 0;
  const ready = async () => ({ ready: ++asked < 2, reasons: [], notes: [] });
  const { get } = await serve({ ready });
  const together = await Promise.all(["/readyz", "/-/ready", "/readyz"].map((path) => get(path)));
  expect([asked, ...together.map(({ status }) => status)]).toEqual([1, 200, 200, 200]);
  await sleep(260);
  expect([(await get("/readyz")).status, asked]).toEqual([503, 2]);
});

test("a connection that asks on without waiting for answers is ended; one that waits is not", async () => {
  const served = await serve();
  const many = send(served, request("/healthz").repeat(100));
  await once(many.resume(), "close");
  const few = send(served, request("/healthz").repeat(4));
  for (let i = 0; i < 20; i++) {
    expect(await headOf(few)).toContain("200");
    few.write(request("/healthz"));
  }
});

test.skipIf(!isLinux)("while a few hundred connections search a large fleet others are answered", async () => {
  const fleet = fleetInRows(4_000);
  const ended: string[] = [];
  const endSilence = async (id: string) => ended.push(id) > 0;
  const overview = overviewOfFleet(fleet);
  const served = await serve({ ...tokens, overview: async () => overview, endSilence });
  await (await served.get("/?q=a")).text();
  const held = Array.from({ length: 250 }, () => send(served, request("/?q=a")));
  await Promise.all(held.map((socket) => once(socket, "connect")));
  const heads = Promise.all(held.map(headOf));
  const silence = "/api/v2/silence/5bd3a7a0-0000-4000-8000-000000000000";
  for (const path of ["/healthz", "/readyz", "/metrics"]) expect(await timed(served, path), path).toEqual(soon);
  expect(await timed(served, silence, { method: "DELETE", headers: admin })).toEqual(soon);
  for (const more of [{ localAddress: "127.0.0.2" }, { headers: admin }])
    expect((await timed(served, "/?q=a", more)).status).toBe(200);
  // A few of the searches as well, on a busy machine none; the others may try again.
  const { 200: found = [], ...all } = Object.groupBy(await heads, (head) => head.slice(9, 12));
  expect(Object.keys(all)).toEqual(["503"]);
  expect(found.length).toBeLessThanOrEqual(32);
  for (const head of all["503"] ?? []) expect(head).toMatch(/^retry-after: \d+$/im);
});

test.each(["/api/v1/recordings?limit=1000", "/?show=locations"])(
  "clients that never read %s are given no more than a few answers to hold",
  async (path) => {
    const fleet = fleetInRows(2_500);
    const served = await serve({ fleet: async () => fleet });
    await served.get(path);
    const before = used();
    const held = Array.from({ length: 70 }, () => send(served, request(path).repeat(4)));
    await Promise.all(held.map((socket) => once(socket, "connect")));
    for (let i = 0; i < 15; i++) {
      await sleep(25);
      if ((await timed(served, "/healthz")).status !== 200) break;
    }
    expect(used() - before).toBeLessThan(40e6);
  },
);

describe("work for a page", () => {
  /** Counts the recordings that are looked at, all of them so many times. */
  function watched(times = 1) {
    const fleet = fleetInRows(20_000);
    const seen = { count: 0, some: Promise.withResolvers<void>() };
    const { inventory, ...overview } = overviewOfFleet(fleet);
    function* recordings() {
      for (let time = 0; time < times; time++)
        for (const one of inventory.recordings()) {
          if (++seen.count === 500) seen.some.resolve();
          yield one;
        }
    }
    return { seen, overview: async () => ({ ...overview, inventory: { ...inventory, recordings } }) };
  }

  /** Whether nothing more is looked at. */
  async function isAtRest({ count: before }: { count: number }, seen: { count: number }) {
    await sleep(50);
    return seen.count === before;
  }

  test("ends once its client has left", async () => {
    const { seen, overview } = watched();
    const served = await serve({ overview });
    const socket = send(served, request("/?q=camera"));
    await seen.some.promise;
    socket.destroy();
    await sleep(20);
    expect(await isAtRest({ ...seen }, seen)).toBe(true);
    expect(seen.count).toBeLessThan(20_000);
    expect((await served.get("/?q=camera")).status).toBe(200);
  });

  test("ends once it is answered 503, as its time is over", async () => {
    const { seen, overview } = watched(500);
    const served = await serve({ overview, limits: { answerMs: 1_000 } });
    expect((await served.get("/?q=nowhere")).status).toBe(503);
    await seen.some.promise;
    expect(await isAtRest({ ...seen }, seen)).toBe(true);
  });
});

test("one client has sixteen streams of events at most", async () => {
  const served = await serve();
  const held = Array.from({ length: 17 }, () => send(served, request("/events")));
  const heads = await Promise.all(held.map(headOf));
  expect(heads.filter((head) => head.startsWith("HTTP/1.1 200"))).toHaveLength(16);
  expect(heads.find((head) => head.startsWith("HTTP/1.1 503"))).toMatch(/^retry-after: \d+$/im);
});
