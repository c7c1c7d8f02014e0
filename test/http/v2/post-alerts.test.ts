import { describe, expect, test } from "vitest";
import type { SentAlert } from "../../../src/alerting/external-alerts.ts";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import { NOW } from "../../metrics/fleets.ts";
import { serve } from "../serve.ts";

const MINUTE = 60_000;
const iso = (at: number) => new Date(at).toISOString();
const labels = { alertname: "DiskFull" };
const admin = { authorization: "Bearer s3cret" };

async function open(differing: Parameters<typeof serve>[0] = {}) {
  const taken: SentAlert[] = [];
  const prints: string[] = [];
  const { address } = await serve({
    adminToken: "s3cret",
    async acceptAlerts(sent) {
      taken.push(...sent.map(([, alert]) => alert));
      prints.push(...sent.map(([print]) => print));
      return { outcome: "taken", refused: 0, most: 2_000 };
    },
    ...differing,
  });
  async function post(body: unknown, headers: Record<string, string> = admin) {
    const response = await fetch(`${address}/api/v2/alerts`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  }
  return { post, taken, prints };
}

describe("POST /api/v2/alerts takes", () => {
  const rows: [string, object, Partial<SentAlert>][] = [
    [
      "labels alone: from now on, for resolve_timeout",
      { labels },
      { startsAt: NOW, endsAt: NOW + 5 * MINUTE, isTimeout: true, annotations: {} },
    ],
    [
      "a start alone",
      { labels, startsAt: iso(NOW - MINUTE) },
      { startsAt: NOW - MINUTE, endsAt: NOW + 5 * MINUTE, isTimeout: true },
    ],
    [
      "an end alone: it began then",
      { labels, endsAt: iso(NOW - MINUTE) },
      { startsAt: NOW - MINUTE, endsAt: NOW - MINUTE, isTimeout: false },
    ],
    [
      "both, with Go's nanoseconds and a zone",
      { labels, startsAt: "2026-01-31T11:00:00.123456789Z", endsAt: "2026-01-31T14:00:00+01:00" },
      { startsAt: Date.UTC(2026, 0, 31, 11, 0, 0, 123), endsAt: Date.UTC(2026, 0, 31, 13) },
    ],
    [
      "year 1, which is how Go writes what is not set",
      { labels, startsAt: "0001-01-01T00:00:00.000Z", endsAt: "0001-01-01T00:00:00Z", generatorURL: "" },
      { startsAt: NOW, endsAt: NOW + 5 * MINUTE, isTimeout: true, generatorUrl: undefined },
    ],
    [
      "null for what is not set",
      { labels, annotations: null, startsAt: null, endsAt: null, generatorURL: null },
      { annotations: {}, startsAt: NOW },
    ],
    [
      "labels without those that are empty",
      { labels: { ...labels, a: "", b: "c" } },
      { labels: { ...labels, b: "c" } },
    ],
    [
      "annotations without those that are empty",
      { labels, annotations: { a: "", b: "c" } },
      { annotations: { b: "c" } },
    ],
    [
      "names that are none of Prometheus' old ones",
      { labels: { "site/name é": "x", constructor: "y" } },
      { labels: { "site/name é": "x", constructor: "y" } },
    ],
    ["broken text, made whole", { labels: { a: "x\ud800" } }, { labels: { a: "x\ufffd" } }],
    [
      "its source",
      { labels, generatorURL: "http://p:9090/graph?g0.expr=a" },
      { generatorUrl: "http://p:9090/graph?g0.expr=a" },
    ],
    [
      "no source that is no link for people",
      { labels, generatorURL: "javascript:alert(1)" },
      { generatorUrl: undefined },
    ],
    ["what it does not know, passed over", { labels, receiver: "x", status: "firing" }, { labels }],
  ];
  test.each(rows)("%s", async (_, sent, expected) => {
    const { post, taken, prints } = await open();
    expect(await post([sent])).toEqual({ status: 200, body: undefined });
    expect(taken).toMatchObject([expected]);
    expect(prints).toEqual([fingerprint(taken[0]?.labels ?? {})]);
  });

  test("and counts what came", async () => {
    const counts: unknown[] = [];
    const { post } = await open({ alertsReceived: (counted) => void counts.push(counted) });
    await post([{ labels }, { labels, endsAt: iso(NOW) }, { labels, endsAt: iso(NOW + 1) }, {}]);
    expect(counts).toEqual([{ firing: 2, resolved: 1, invalid: 1 }]);
  });

  test("an empty list", async () => {
    expect(await (await open()).post([])).toEqual({ status: 200, body: undefined });
  });

  test("2,000 at once, in their order", async () => {
    const { post, taken } = await open();
    const many = Array.from({ length: 2_000 }, (_, i) => ({
      labels: { ...labels, i: String(i) },
      annotations: { a: "x".repeat(500) },
    }));
    expect((await post(many)).status).toBe(200);
    expect(taken.map((alert) => alert.labels.i)).toEqual(many.map((alert) => alert.labels.i));
  });
});

describe("POST /api/v2/alerts refuses, as a JSON string that says where and why,", () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, "x"]));
  const rows: [string, unknown, RegExp][] = [
    ["no labels", { annotations: {} }, /^0\.labels: expected labels/],
    ["labels that are all empty", { labels: { a: "" } }, /^0\.labels: expected at least one label/],
    ["a label that is no text", { labels: { a: 1 } }, /^0\.labels\.a: expected a text/],
    ["a label without a name", { labels: { "": "x" } }, /^0\.labels: expected names of 1 to 200/],
    ["a name too long", { labels: { ["x".repeat(201)]: "x" } }, /^0\.labels: expected names of 1 to 200/],
    ["a value too long", { labels: { a: "x".repeat(1_025) } }, /^0\.labels: expected values of at most 1024/],
    ["too many labels", { labels: many(65) }, /^0\.labels: expected at most 64 labels/],
    ["too many annotations", { labels, annotations: many(65) }, /^0\.annotations: expected at most 64 annotations/],
    ["too much text", { labels, annotations: { a: "x".repeat(16_400) } }, /^0\.expected at most 16384|^0\..*16384/],
    ["annotations that are a list", { labels, annotations: ["a"] }, /^0\.annotations: expected annotations/],
    ["a time that is none", { labels, startsAt: "yesterday" }, /^0\.startsAt: expected a time/],
    ["a time without a zone", { labels, endsAt: "2026-01-31T12:00:00" }, /^0\.endsAt: expected a time/],
    [
      "an end before its start",
      { labels, startsAt: iso(NOW), endsAt: iso(NOW - 1) },
      /^0\.startsAt: expected a time before endsAt/,
    ],
    ["what is no alert", "x", /^0\..*object/],
    ["null", null, /^0\..*object/],
  ];
  test.each(rows)("%s, and accepts the others", async (_, wrong, why) => {
    const { post, taken } = await open();
    const answer = await post([wrong, { labels }]);
    expect(answer).toEqual({ status: 400, body: expect.stringMatching(why) });
    expect(answer.body).toMatch(/All others were accepted\.$/);
    expect(taken).toMatchObject([{ labels }]);
  });

  test("the first five that are wrong by name, the others by number", async () => {
    const { post } = await open();
    const { body } = await post([...Array.from({ length: 9 }, () => ({})), { labels }]);
    expect(body).toMatch(/^0\.labels: .* 4\.labels: .*\. And 4 more alerts are wrong\. All others were accepted\.$/);
    expect(body).not.toContain("5.labels");
  });

  test.each([
    ["an object", {}, 400, /list of alerts/],
    ["nothing", "", 400, /list of alerts/],
    ["no JSON", "[{", 400, /understood/],
    ["an attack on objects", '[{"labels":{"__proto__":{"a":"b"},"a":"b"}}]', 400, /understood/],
    [
      "more than 2,000",
      Array.from({ length: 2_001 }, () => ({ labels })),
      413,
      /at most 2000 alerts at once, found 2001/,
    ],
    ["more than 4 MiB", [{ labels, annotations: { a: "x".repeat(4 * 1024 * 1024) } }], 413, /The body is too large/],
  ])("%s whole", async (_, body, status, why) => {
    const { post, taken } = await open();
    expect(await post(body)).toEqual({ status, body: expect.stringMatching(why) });
    expect(taken).toEqual([]);
  });

  test("what there is no room for", async () => {
    const full = async () => ({ outcome: "taken", refused: 2, most: 2_000 }) as const;
    const { post } = await open({ acceptAlerts: full });
    expect(await post([{ labels }])).toEqual({
      status: 400,
      body: "There is room for 2000 external alerts, of 4,000,000 characters together: 2 were refused.",
    });
    expect((await post([{ labels }, {}])).body).toMatch(/^1\.labels: .* characters together: 2 were refused\.$/);
  });

  test.each([
    ["nobody answers in time", () => new Promise<never>(() => {})],
    ["too many send at once", async () => ({ outcome: "busy" }) as const],
    ["Redis is away", () => Promise.reject(new Error("no connection to secret-host"))],
  ])("with 503 where %s, so that it is sent again", async (_, acceptAlerts) => {
    const { post } = await open({ acceptAlerts, limits: { acceptMs: 20 } });
    const answer = await post([{ labels }]);
    expect(answer).toEqual({ status: 503, body: expect.stringMatching(/send them again\.$/) });
  });

  test.each([
    ["no token", {}, 401],
    ["the read token", { authorization: "Bearer read" }, 403],
    ["another token", { authorization: "Bearer wrong" }, 401],
  ])("whoever has %s", async (_, headers: Record<string, string>, status) => {
    const { post, taken } = await open({ readToken: "read" });
    expect(await post([{ labels }], headers)).toEqual({ status, body: expect.stringContaining("the scope alerts") });
    expect(taken).toEqual([]);
  });

  test("everybody where there is no admin token", async () => {
    const { post, taken } = await open({ adminToken: undefined });
    expect(await post([{ labels }])).toEqual({ status: 403, body: expect.stringContaining("http.admin_token") });
    expect(taken).toEqual([]);
  });
});
