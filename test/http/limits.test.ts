import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { StoreError } from "../../src/store/errors.ts";
import { type Served, serve } from "./serve.ts";

const bearer = { authorization: "Bearer boss-token" };
const tokens = { readToken: "read-me", adminToken: "boss-token" };
const form = { "content-type": "application/x-www-form-urlencoded" };
const json = { ...bearer, "content-type": "application/json" };

function dial({ address }: Served, localAddress = "127.0.0.1"): Socket {
  const socket = connect({ port: Number(new URL(address).port), host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** What comes back, headers and all, until the server ends the connection. */
async function sayRaw(served: Served, request: string): Promise<string> {
  const socket = dial(served);
  socket.write(request);
  return text(socket);
}

const safe = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": expect.stringMatching(/^default-src 'none'.*frame-ancestors 'none'/),
  "referrer-policy": expect.stringMatching(/^(no-referrer|same-origin)$/),
  "cache-control": expect.stringMatching(/^(no-store|public, max-age=31536000, immutable)/),
};

/** The status and the headers of an answer as it came. */
function parse(raw: string): { status: number; headers: Record<string, string> } {
  const [first = "", ...lines] = (raw.split("\r\n\r\n")[0] ?? "").split("\r\n");
  const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]);
  return {
    status: Number(first.split(" ")[1]),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  };
}

describe("every kind of answer carries the headers that keep a browser from harm", () => {
  const away = () => Promise.reject(new StoreError("unavailable", "away"));
  const broken = () => Promise.reject(new Error("broken"));
  const posted = (body: string, headers: Record<string, string>) => ({ method: "POST", body, headers });
  const page = (address: string) => fetch(address, { headers: bearer }).then((answer) => answer.text());

  test.each<[status: number, path: string, init?: RequestInit, deps?: Parameters<typeof serve>[0]]>([
    [200, "/", { headers: bearer }],
    [200, "/api/v2/status", { headers: bearer }],
    [200, "/healthz", { method: "HEAD" }],
    [400, "/api/v1/recordings?limit=x", { headers: bearer }],
    [400, "/%ff"],
    [400, "/api/v1/%ff"],
    [400, "/api/v2/silences", posted("{", json)],
    [401, "/"],
    [401, "/metrics"],
    [401, "/api/v2/alerts"],
    [401, "/session", posted("name=a&token=b", form)],
    [403, "/session", posted("name=a&token=b", { ...form, "sec-fetch-site": "cross-site" })],
    [404, "/nowhere"],
    [404, "/", { method: "OPTIONS" }],
    [414, `/recordings/${"x".repeat(300)}`, { headers: bearer }],
    [413, "/api/v1/alerts/00/ack", posted("x".repeat(65_537), json)],
    [415, "/api/v2/silences", posted("<a/>", { ...bearer, "content-type": "text/xml" })],
    [500, "/", { headers: bearer }, { fleet: broken }],
    [500, "/api/v1/recordings", { headers: bearer }, { fleet: broken }],
    [503, "/api/v1/recordings", { headers: bearer }, { fleet: away }],
    [503, "/readyz", {}, { ready: away }],
  ])("%i at %.60s", async (status, path, init, deps) => {
    const { address } = await serve({ ...tokens, ...deps });
    const answer = await fetch(address + path, { ...init, redirect: "manual" });
    expect([answer.status, Object.fromEntries(answer.headers)]).toEqual([status, expect.objectContaining(safe)]);
  });

  test("303 after signing in and out, 429, the page's script, and the stream that pages listen to", async () => {
    const { address, get } = await serve(tokens);
    const signIn = (token: string) =>
      fetch(`${address}/session`, { ...posted(`name=a&token=${token}`, form), redirect: "manual" });
    const script = /src="([^"]+)"/.exec(await page(address))?.[1] ?? "";
    const answers = [
      await signIn("boss-token"),
      await fetch(`${address}/session/end`, { ...posted("", form), redirect: "manual" }),
      await get(`/${script}`),
      await get("/events", bearer),
    ];
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 200, 200]);
    for (let i = 0; i < 10; i++) await signIn(`wrong-${i}`);
    for (let i = 0; i < 10; i++) await get("/metrics", { authorization: `Bearer wrong-${i}` });
    answers.push(await signIn("wrong"), await get("/metrics", { authorization: "Bearer wrong" }));
    expect(answers.map(({ status }) => status).slice(4)).toEqual([429, 429]);
    for (const { headers } of answers) expect(Object.fromEntries(headers)).toMatchObject(safe);
    await answers[3]?.body?.cancel();
  });

  test.each([
    [400, "GARBAGE\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"],
    [431, `GET /?q=${"x".repeat(16_384)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    [431, `GET / HTTP/1.1\r\nHost: a\r\nCookie: ${"x".repeat(16_384)}\r\n\r\n`],
  ])("%i to what is no request: %.20s…", async (status, request) => {
    const served = await serve();
    const raw = await sayRaw(served, request);
    expect(parse(raw)).toEqual({ status, headers: expect.objectContaining({ ...safe, connection: "close" }) });
    expect(raw).not.toContain("xxx");
    expect((await served.get("/healthz")).status).toBe(200);
  });
});

describe("what a request may cost", () => {
  test("a body of 64 KiB is read, a longer one is not, whether it says so or not", async () => {
    const { address } = await serve(tokens);
    const ack = (body: string | ReadableStream) =>
      fetch(`${address}/api/v1/alerts/0123456789abcdef/ack`, {
        method: "POST",
        body,
        headers: json,
        ...(typeof body === "string" ? {} : { duplex: "half" }),
      } as RequestInit);
    const bodyOf = (bytes: number) => `{"comment":"${"x".repeat(bytes - 14)}"}`;
    expect((await ack(bodyOf(65_536))).status).not.toBe(413);
    expect((await ack(bodyOf(65_537))).status).toBe(413);
    const chunked = (bytes: number) => new Blob([bodyOf(bytes)]).stream();
    expect((await ack(chunked(65_536))).status).not.toBe(413);
    expect((await ack(chunked(65_537))).status).toBe(413);
  });

  test.each([
    ["headers", "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: "],
    [
      "a body",
      `POST /api/v2/silences HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer boss-token\r\nContent-Type: application/json\r\nContent-Length: 20000\r\n\r\n{`,
    ],
  ])("%s that do not come to an end are answered 408 and cut", async (_, begun) => {
    const served = await serve({ ...tokens, limits: { requestMs: 200, checkMs: 20 } });
    const socket = dial(served);
    socket.write(begun);
    // A byte now and then keeps nobody alive.
    const drip = setInterval(() => socket.write("x"), 20);
    socket.once("close", () => clearInterval(drip));
    const raw = await text(socket);
    expect(parse(raw)).toEqual({ status: 408, headers: expect.objectContaining(safe) });
    expect((await served.get("/healthz")).status).toBe(200);
  });
});

describe("connections", () => {
  /** The status of the next answer, undefined where the connection ends before. */
  async function statusOf(socket: Socket, path = "/api/v1/recordings"): Promise<number | undefined> {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const ended = once(socket, "close").then(() => [""]);
    const [answer] = await Promise.race([once(socket, "data").catch(() => [""]), ended]);
    return parse(String(answer)).status || undefined;
  }

  const isLinux = process.platform === "linux";
  test.skipIf(!isLinux)(
    "one address cannot take them all: a new one ends its oldest, and those of no other",
    async () => {
      const served = await serve({ limits: { mostFromOneAddress: 3 } });
      const held = [dial(served), dial(served), dial(served)];
      for (const socket of held) expect(await statusOf(socket)).toBe(200);
      const other = dial(served, "127.0.0.2");
      expect(await statusOf(other)).toBe(200);
      for (const oldest of held) {
        const isOver = once(oldest, "close");
        expect(await statusOf(dial(served))).toBe(200);
        await isOver;
      }
      expect(await statusOf(other)).toBe(200);
    },
  );

  test("where there are too many in all, further ones are refused, and those that are open go on", async () => {
    const served = await serve({ ...tokens, limits: { mostConnections: 3 } });
    const held = [dial(served), dial(served), dial(served)];
    for (const socket of held) expect(await statusOf(socket, "/healthz")).toBe(200);
    expect(await statusOf(dial(served), "/healthz")).toBeUndefined();
    for (const socket of held) expect(await statusOf(socket, "/healthz")).toBe(200);
  });

  test("however many are held, a probe is answered; the oldest end", async () => {
    const served = await serve({ limits: { mostConnections: 200, mostFromOneAddress: 100 } });
    const held = Array.from({ length: 400 }, () => dial(served));
    const ended = held.slice(0, 300).map((socket) => once(socket.resume(), "close"));
    expect(await statusOf(dial(served), "/healthz")).toBe(200);
    expect(await statusOf(dial(served), "/readyz")).toBe(200);
    await Promise.all(ended);
    expect(held.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(100);
  });
});
