/**
 * Whatever a client sends, with the admin's token, holds the event loop for 50 ms at most and takes 50 MB at most. CPU
 * time of this thread is measured, between two turns of the loop, so that a busy machine changes nothing.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { FastifyInstance } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { acceptAlerts, type ExternalAlertState, toAlert } from "../../src/alerting/external-alerts.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import { largeFleet, NOW } from "../metrics/fleets.ts";
import { rootRoute, serve } from "./serve.ts";
import { holdsInMemory } from "./silences.ts";

const MOST_MS = 50;
const MOST_BYTES = 50e6;
const TOKEN = "admin-token-of-the-test";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

interface Cost {
  readonly what: string;
  readonly ms: number;
  readonly bytes: number;
  readonly status: string;
}

/** Sends it from a bare socket, and measures every turn of the loop until it is answered. */
async function costOf(
  address: string,
  line: string,
  body: Buffer = Buffer.alloc(0),
  isCollected = false,
): Promise<Cost> {
  const { hostname, port } = new URL(address);
  const what = line.slice(0, 120);
  const type = /^POST \/(api|-)/.test(line) ? "application/json" : "application/x-www-form-urlencoded";
  const text = `${line} HTTP/1.1\r\ncontent-type: ${type}\r\nhost: ${hostname}\r\nauthorization: Bearer ${TOKEN}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  const request = Buffer.concat([Buffer.from(text), body]);
  const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
  await once(socket, "connect");
  let status = "";
  socket.on("data", (data) => {
    status ||= data.toString("latin1", 9, 12);
  });
  const used = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  if (isCollected) collect();
  const before = used();
  let [ms, bytes, isOver] = [0, 0, false];
  let at = process.threadCpuUsage();
  const turn = () => {
    const { user, system } = process.threadCpuUsage(at);
    ms = Math.max(ms, (user + system) / 1000);
    bytes = Math.max(bytes, used() - before);
    at = process.threadCpuUsage();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  socket.write(request);
  // A stream of events has no end.
  const ended = once(socket, "close").catch(() => {});
  await Promise.race([ended, once(socket, "data").then(() => (what === "GET /events" ? undefined : ended))]);
  isOver = true;
  socket.destroy();
  return { what, ms, bytes, status };
}

const label = (seed: number, length: number) =>
  Array.from({ length }, (_, i) => "ab"[(((i + seed) * 2_654_435_761) >>> 7) & 1]).join("");

/** As large as they may be; they differ in half of their labels. */
function posted(count: number) {
  return Array.from({ length: count }, (_, i) => ({
    labels: Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`l${n}`, label(n < 6 ? 0 : i * 1_024, 1_024)])),
    annotations: { summary: "x".repeat(1_000) },
  }));
}

const costly = ["(a|b)*a(a|b){70}", "a*".repeat(150), "(?:.*a){60}b", "[ab]*a[ab]{200}"];
const huge = ["(a?){1000}".repeat(360), "\\pL".repeat(1_300), `(?i)${"[a-\\x{1ffff}]".repeat(200)}`, "(".repeat(4_000)];
const quoted = (pattern: string) => `"${pattern.replaceAll("\\", "\\\\")}"`;
const matchers = [...costly, ...huge].map((pattern, i) => `l${i % 12}=~${quoted(pattern)}`);

const encoded = (name: string, values: readonly string[]) =>
  values.map((value) => `${name}=${encodeURIComponent(value)}`).join("&");
const long = "a".repeat(15_000);
const QUERIES: Readonly<Record<string, (name: string) => string>> = {
  "a long text": (name) => `${name}=${long}`,
  "one name thousands of times": (name) => `${name}=a&`.repeat(15_000 / (name.length + 3)),
  "thousands of names": () => Array.from({ length: 2_500 }, (_, i) => `p${i}`).join("&"),
  "nothing but escapes": (name) => `${name}=${"%c3%28".repeat(2_500)}`,
  "lists in lists": (name) => `${name}${"[a]".repeat(4_000)}=1`,
};

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const silence = (more: object) => ({
  matchers: [],
  startsAt: new Date(NOW).toISOString(),
  endsAt: new Date(NOW + 1e6).toISOString(),
  createdBy: "x",
  comment: "x",
  ...more,
});
const isRegex = true;
const shapes = (count: number) => `[${Array.from({ length: count }, (_, i) => `{"k${i}":${i}}`).join()}]`;
const BODIES: Readonly<Record<string, () => Buffer>> = {
  "lists in lists": () => Buffer.from("[".repeat(2e6)),
  "empty objects": () => Buffer.from(`[${"{},".repeat(660_000)}{}]`),
  "objects of different shapes": () => Buffer.from(shapes(120_000)),
  "just as many values as are read": () => Buffer.from(shapes(21_000)),
  "an alert of 20,000 labels": () =>
    Buffer.from(
      `[{"labels":${shapes(20_000)
        .replaceAll(/[{}[\]]/g, "")
        .replace(/.*/, "{$&}")}}]`,
    ),
  "2,000 alerts": () => json(Array.from({ length: 2_000 }, (_, i) => ({ labels: { a: `${i}`, b: "x".repeat(900) } }))),
  "alerts as large as they may be": () => json(posted(120)),
  "one long text": () => json("x".repeat(2e6)),
  "a silence of many matchers": () =>
    json(silence({ matchers: Array(100).fill({ name: "a", value: costly[0], isRegex }) })),
  "a silence of thousands of objects": () => json(silence({ matchers: Array(15_000).fill({}) })),
  "a silence of a pattern too large": () =>
    json(silence({ matchers: huge.map((value) => ({ name: "a", value, isRegex })) })),
  "a form of many fields": () => Buffer.from("matchers=a&".repeat(5_000)),
  "compressed zeros": () => Buffer.alloc(60_000, "\x1f\x8b\x08\x00"),
};

/** A server that is as full as clients can make it, and all of its routes: `GET /api/v1/recordings`. */
async function start() {
  const routes: string[] = [];
  const listen = (message: unknown) =>
    (message as { fastify: FastifyInstance }).fastify.addHook("onRoute", ({ method, url }) => {
      for (const one of [method].flat()) if (one !== "HEAD") routes.push(`${one} ${url.replace(/:\w+/g, "rec-1")}`);
    });
  subscribe("fastify.initialization", listen);
  onTestFinished(() => void unsubscribe("fastify.initialization", listen));
  let external: ExternalAlertState = new Map();
  const times = { startsAt: NOW, endsAt: NOW + 1, updatedAt: NOW, firedAt: NOW };
  const sent = { ...times, isTimeout: true, isResolved: false, generatorUrl: undefined };
  const firing = posted(30).map((alert, i) => toAlert(`${i}`, { ...alert, ...sent }, NOW));
  const { deps, kept } = holdsInMemory({ now: () => NOW }, firing);
  const { ofAll } = createSuppression({
    clock: { now: () => NOW },
    store: {
      firing: async () => firing,
      silences: { read: async () => [...kept.values()], write: async () => new Map() },
      acks: { read: async () => new Map(), change: async () => undefined },
    },
    route: rootRoute,
    inhibitRules: [],
  });
  const { address } = await serve({
    ...deps,
    adminToken: TOKEN,
    fleet: async () => largeFleet(300),
    alerts: async () => (await ofAll()).map(({ inhibitedBy: _, ...one }) => ({ ...one, receivers: ["ops"] })),
    acceptAlerts: async (alerts) => {
      const { next, refused } = acceptAlerts(external, alerts, { now: NOW, most: 2_000, characters: 4e6 });
      external = next;
      return { outcome: "taken", refused, most: 2_000 };
    },
  });
  for (let i = 0; i < 8; i++) {
    const matcher = { name: `l${11 - (i % 6)}`, value: costly[i % costly.length], isRegex };
    await costOf(address, "POST /api/v2/silences", json(silence({ matchers: [matcher] })));
  }
  return { address, routes };
}

/** The worst ones; a request that is beyond a limit is sent up to twice more, as our own code is compiled at first, without garbage. */
async function worstOf(address: string, requests: Iterable<readonly [line: string, body?: Buffer]>) {
  const costs: Cost[] = [];
  for (const [line, body] of requests) {
    let cost = await costOf(address, line, body);
    for (let again = 0; again < 2 && !isWithin(cost); again++) cost = await costOf(address, line, body, true);
    costs.push(cost);
  }
  return { beyond: costs.filter((cost) => !isWithin(cost)), statuses: new Set(costs.map(({ status }) => status)) };
}

const isWithin = ({ ms, bytes }: Cost) => ms <= MOST_MS && bytes <= MOST_BYTES;

test("no query of any page or API does", async () => {
  const { address, routes } = await start();
  const paths = routes.filter((route) => route.startsWith("GET ") && !route.endsWith("*"));
  expect(paths.length).toBeGreaterThan(20);
  const texts = Object.values(QUERIES);
  const anywhere = paths.flatMap((path, i) => [path, `${path}?${texts[i % texts.length]?.("q")}`]);
  const matching = paths.filter((path) => /v2|silences.new/.test(path));
  const many = Array<string>(400).fill('l1=~"(a|b)*a(a|b){9}"');
  const lists = [...matchers.map((one) => [one]), matchers.slice(0, 4), many];
  const queriesOf = (path: string) =>
    lists.map((list) => encoded(path.includes("v2") ? "filter" : "matchers", list).slice(0, 15_900));
  const receivers = costly.map((pattern) => encoded("receiver", [pattern]));
  const asked = matching.flatMap((path, i) =>
    [...queriesOf(path), ...receivers].flatMap((query, n) => (n % 2 === i % 2 ? `${path}?${query}` : [])),
  );
  const requests = [...anywhere, ...asked].map((line) => [line] as const);
  const { beyond, statuses } = await worstOf(address, requests);
  expect(beyond).toEqual([]);
  expect([...statuses]).toEqual(expect.arrayContaining(["200", "400"]));
});

test("nor does any body", async () => {
  const { address, routes } = await start();
  const paths = routes.filter((route) => !route.startsWith("GET "));
  expect(paths.length).toBeGreaterThan(5);
  const bodies = Object.values(BODIES).map((make) => make());
  const requests = paths.flatMap((path, i) =>
    bodies.filter((_, n) => path.includes("v2") || n % 4 === i % 4).map((body) => [path, body] as const),
  );
  const { beyond, statuses } = await worstOf(address, requests);
  expect(beyond).toEqual([]);
  expect([...statuses]).toEqual(expect.arrayContaining(["200", "400", "413"]));
});
