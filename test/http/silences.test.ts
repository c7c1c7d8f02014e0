import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { NOW } from "../metrics/fleets.ts";
import { firingAlert, serve } from "./serve.ts";
import { holdsInMemory } from "./silences.ts";

const HOUR = 3_600_000;
const admin = { adminToken: "s3cret" };
const bearer = { authorization: "Bearer s3cret", "content-type": "application/json" };
const iso = (at: number) => new Date(at).toISOString();

const silence = (more: Record<string, unknown> = {}) => ({
  matchers: [{ name: "location", value: "Leeds", isRegex: false, isEqual: true }],
  startsAt: iso(NOW),
  endsAt: iso(NOW + 2 * HOUR),
  createdBy: "dana",
  comment: "rewiring",
  ...more,
});

async function open(clock = { now: () => NOW }) {
  const { deps, kept, acks } = holdsInMemory(clock, [firingAlert("RecordingOffline", { severity: "critical" })]);
  const { address, json } = await serve({ ...deps, ...admin, clock });
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = bearer) => {
    const init = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const response = await fetch(address + path, { method, headers, ...init });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  };
  const post = async (body: unknown) =>
    (await send("POST", "/api/v2/silences", body)) as { status: number; body: { silenceID: string } };
  return { address, json, send, post, kept, acks };
}

describe("POST /api/v2/silences", () => {
  test("makes a silence that can be looked at, in Alertmanager's shape", async () => {
    const { post, json } = await open();
    const { status, body } = await post(silence());
    expect([status, body]).toEqual([
      200,
      { silenceID: expect.stringMatching(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/) },
    ]);
    const whole = {
      id: body.silenceID,
      status: { state: "active" },
      updatedAt: iso(NOW),
      matchers: silence().matchers,
      startsAt: iso(NOW),
      endsAt: iso(NOW + 2 * HOUR),
      createdBy: "dana",
      comment: "rewiring",
      annotations: {},
      about: 'location="Leeds"',
    };
    expect(await json(`/api/v2/silence/${body.silenceID}`)).toEqual({ status: 200, body: whole });
    expect(await json("/api/v2/silences")).toEqual({ status: 200, body: [whole] });
  });

  test("takes every operator, an absent isEqual for true, null annotations, and a time that is not set for now", async () => {
    const { post, json } = await open();
    const matchers = [
      { name: "a", value: "b", isRegex: false },
      { name: "c", value: "d.*", isRegex: true, isEqual: true },
      { name: "e", value: "f", isRegex: false, isEqual: false },
      { name: "g", value: "h|i", isRegex: true, isEqual: false },
    ];
    const { body } = await post(silence({ matchers, startsAt: "0001-01-01T00:00:00.000Z", annotations: null, id: "" }));
    expect((await json(`/api/v2/silence/${body.silenceID}`)).body).toMatchObject({
      startsAt: iso(NOW),
      matchers: [{ isEqual: true }, { isRegex: true }, { isEqual: false }, { isRegex: true, isEqual: false }],
    });
  });

  test("changes one in place, or ends it and begins another", async () => {
    const { post, json } = await open();
    const { silenceID: id } = (await post(silence())).body;
    expect((await post(silence({ id, endsAt: iso(NOW + 3 * HOUR) }))).body.silenceID).toBe(id);
    const other = (await post(silence({ id, matchers: [{ name: "location", value: "York", isRegex: false }] }))).body
      .silenceID;
    expect(other).not.toBe(id);
    expect((await json(`/api/v2/silence/${id}`)).body).toMatchObject({ status: { state: "expired" } });
  });

  const refused: [string, unknown, number, RegExp][] = [
    ["no matchers", silence({ matchers: [] }), 400, /at least one matcher/],
    [
      "matchers that match everything",
      silence({ matchers: [{ name: "a", value: ".*", isRegex: true }] }),
      400,
      /empty string/,
    ],
    [
      "a pattern RE2 refuses",
      silence({ matchers: [{ name: "a", value: "(?=b)", isRegex: true }] }),
      400,
      /^matchers: .*RE2/,
    ],
    ["an end in the past", silence({ startsAt: iso(NOW - 2), endsAt: iso(NOW - 1) }), 400, /past/],
    ["an end before its start", silence({ startsAt: iso(NOW + 2), endsAt: iso(NOW + 1) }), 400, /before the end/],
    ["no end", silence({ endsAt: "0001-01-01T00:00:00.000Z" }), 400, /^endsAt: /],
    ["a time without a zone", silence({ endsAt: "2026-11-20T12:00:00" }), 400, /^endsAt: expected a time/],
    ["no author", silence({ createdBy: undefined }), 400, /^createdBy: /],
    ["an id nobody has", silence({ id: "5bd3a7a0-0000-4000-8000-000000000000" }), 404, /no silence/],
    ["no silence at all", "[]", 400, /expected object/],
    ["no JSON", "{", 400, /understood/],
  ];
  test.each(refused)("refuses %s as a JSON string", async (_, body, status, why) => {
    const { send, kept } = await open();
    const answer = await send("POST", "/api/v2/silences", body);
    expect(answer).toEqual({ status, body: expect.stringMatching(why) });
    expect(kept.size).toBe(0);
  });
});

describe("GET /api/v2/silences", () => {
  test("lists active by end, pending by start, then expired, and only what is asked for", async () => {
    let now = NOW;
    const { post, json } = await open({ now: () => now });
    const make = async (comment: string, from: number, to: number, value = "Leeds") =>
      await post(
        silence({
          comment,
          startsAt: iso(NOW + from),
          endsAt: iso(NOW + to),
          matchers: [{ name: "location", value, isRegex: false }],
        }),
      );
    await make("over", 0, 10);
    await make("over later", 0, 20);
    now = NOW + 100;
    await make("active long", 100, HOUR);
    await make("active", 100, HOUR / 2, "York");
    await make("pending late", 3 * HOUR, 4 * HOUR);
    await make("pending", 2 * HOUR, 4 * HOUR);
    const comments = async (query = "") =>
      ((await json(`/api/v2/silences${query}`)).body as { comment: string }[]).map(({ comment }) => comment);
    expect(await comments()).toEqual(["active", "active long", "pending", "pending late", "over later", "over"]);
    expect(await comments("?expired=false&pending=false")).toEqual(["active", "active long"]);
    expect(await comments("?active=false&expired=false")).toEqual(["pending", "pending late"]);
    expect(await comments('?filter=location%3D"York"')).toEqual(["active"]);
    expect(await comments('?filter=location%3D~"York"')).toEqual([]);
    expect((await json("/api/v2/silences?filter=%7B")).status).toBe(400);
  });
});

test("DELETE /api/v2/silence/{id} ends it, twice alike, and knows no other", async () => {
  const { post, send, json } = await open();
  const { silenceID: id } = (await post(silence())).body;
  expect(await send("DELETE", `/api/v2/silence/${id}`)).toEqual({ status: 200, body: undefined });
  expect((await json(`/api/v2/silence/${id}`)).body).toMatchObject({ status: { state: "expired" }, endsAt: iso(NOW) });
  expect((await send("DELETE", `/api/v2/silence/${id}`)).status).toBe(200);
  expect(await send("DELETE", "/api/v2/silence/nothing")).toEqual({
    status: 404,
    body: 'There is no silence "nothing".',
  });
  expect((await json("/api/v2/silence/nothing")).status).toBe(404);
});

describe("what changes state", () => {
  const changes = [
    ["POST", "/api/v2/silences"],
    ["DELETE", "/api/v2/silence/x"],
    ["POST", "/api/v1/alerts/0123456789abcdef/ack"],
  ] as const;

  test.each(changes)("%s %s is refused with the reason where there is no admin token", async (method, path) => {
    const { address } = await serve();
    for (const headers of [{}, { authorization: "Bearer " }, { authorization: "Bearer undefined" }]) {
      const response = await fetch(address + path, { method, headers });
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("no http.admin_token is configured");
    }
  });
});

describe("POST /api/v1/alerts/{fingerprint}/ack", () => {
  const print = fingerprint({ alertname: "RecordingOffline", severity: "critical" });

  test("acknowledges what fires with it, with who and why", async () => {
    const { send, acks } = await open();
    const body = { author: "dana", comment: "on my way" };
    expect(await send("POST", `/api/v1/alerts/${print}/ack`, body)).toEqual({
      status: 200,
      body: { fingerprint: print, alerts: 1, ...body, until: null, eta: null, replaced: null },
    });
    expect([...acks.values()]).toEqual([{ ...body, at: NOW, last: { at: NOW } }]);
    expect(await send("POST", `/api/v1/alerts/${print}/ack`)).toMatchObject({
      body: { author: "admin_token", comment: "" },
    });
  });

  test("knows nothing that does not fire, and no other field", async () => {
    const { send } = await open();
    expect(await send("POST", "/api/v1/alerts/0000000000000000/ack")).toMatchObject({
      status: 404,
      body: { error: { code: "not_found" } },
    });
    expect(await send("POST", `/api/v1/alerts/${print}/ack`, { by: "x" })).toMatchObject({
      status: 400,
      body: { error: { code: "bad_body" } },
    });
  });
});

test("GET /api/v2/alerts says who acknowledged, and that the alert is held", async () => {
  const alert = firingAlert("RecordingOffline");
  const acknowledgement = { author: "dana", comment: "", at: NOW };
  const { json } = await serve({ alerts: async () => [{ alert, receivers: ["ops"], acknowledgement }] });
  expect((await json("/api/v2/alerts")).body).toMatchObject([
    { status: { state: "suppressed", silencedBy: [], acknowledgement: { author: "dana", at: iso(NOW) } } },
  ]);
});
