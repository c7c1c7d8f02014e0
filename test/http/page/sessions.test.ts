import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../../../src/alerting/audit.ts";
import type { HttpDeps } from "../../../src/http/deps.ts";
import { NOW } from "../../metrics/fleets.ts";
import { serve, sessionsInMemory } from "../serve.ts";
import { smallFleet } from "./fleet.ts";
import { elementOf } from "./read-page.ts";
import { formToken, signedIn, visit } from "./visitor.ts";

const fleet = async () => smallFleet;
const tokens = { adminToken: "admin-token-of-32-characters-long", readToken: "read-token-of-32-characters-long." };
const { adminToken, readToken } = tokens;

type Draft = Omit<AuditEntry, "at">;

/** A server with what it put into the audit log. */
async function audited(differing: Partial<HttpDeps> = {}) {
  const entries: Draft[] = [];
  const sessions: HttpDeps["sessions"] = {
    ...sessionsInMemory,
    async open(session, entry) {
      await sessionsInMemory.open(session, entry);
      entries.push(entry);
    },
    async end(ids, entry) {
      const ended = await sessionsInMemory.end(ids, entry);
      if (ended.length > 0) entries.push(entry);
      return ended;
    },
  };
  const audit = (entry: Draft) => void entries.push(entry);
  return { entries, ...(await serve({ ...tokens, fleet, sessions, audit, ...differing })) };
}

describe("a stolen cookie", () => {
  test("opens nothing after its owner signed out, at no replica", async () => {
    const { address, get, entries } = await audited();
    const other = await serve({ ...tokens, fleet });
    const { cookie, post } = await signedIn(address, adminToken);
    expect((await other.get("/", { cookie })).status).toBe(200);
    await post("/session/end", {});
    for (const path of ["/", "/recordings/till-3", "/silences/new", "/api/v1/recordings", "/events", "/metrics"]) {
      expect((await get(path, { cookie })).status, path).toBe(401);
      expect((await other.get(path, { cookie })).status, path).toBe(401);
    }
    const body = new URLSearchParams({ form: "x", matchers: "a=b" });
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    const sent = await fetch(`${address}/silences/new`, { method: "POST", headers, body });
    expect(sent.status).toBe(401);
    expect(entries.map(({ action, reason }) => reason ?? action).slice(0, 3)).toEqual([
      "sign_in",
      "sign_out",
      "session_ended",
    ]);
  });

  test("opens nothing after its session was revoked; others go on", async () => {
    const { address, get } = await audited();
    const [dana, eli] = [await signedIn(address, adminToken, "dana"), await signedIn(address, adminToken, "eli")];
    const stored = await sessionsInMemory.list(NOW);
    const ids = stored.filter(({ person }) => person === "dana").map(({ id }) => id);
    await sessionsInMemory.end(ids, {
      at: NOW,
      actor: { via: "token", name: "x" },
      action: "sign_out",
      outcome: "done",
    });
    expect((await get("/", { cookie: dana.cookie })).status).toBe(401);
    expect((await get("/", { cookie: eli.cookie })).status).toBe(200);
    expect(JSON.stringify(stored)).not.toContain(
      Buffer.from(dana.cookie.slice(10, 60), "base64url").toString().slice(-8),
    );
  });
});

describe("while Redis is unreachable", () => {
  const down: Partial<HttpDeps>[] = [
    { sessions: { ...sessionsInMemory, find: () => new Promise(() => {}), open: () => new Promise(() => {}) } },
    {
      sessions: {
        ...sessionsInMemory,
        find: () => Promise.reject(new Error("gone")),
        open: () => Promise.reject(new Error("gone")),
      },
    },
  ];
  test.each(down)("nobody is signed in by accident, and the page says why: %#", async (parts) => {
    const { address } = await serve({ ...tokens, fleet });
    const { cookie } = await signedIn(address, adminToken);
    const { get, address: broken } = await serve({ ...tokens, fleet, ...parts, limits: { readMs: 20 } });
    const page = await get("/", { cookie });
    expect(page.status).toBe(503);
    const html = await page.text();
    expect(elementOf(html, "h1")).toBe("The state cannot be read now");
    expect(html).toContain("Redis may be slow or unreachable: nobody is signed in or out");
    expect(html).not.toContain("dana");
    const signIn = await visit(broken).post("/session", { name: "eli", token: adminToken });
    expect([signIn.status, signIn.headers.get("set-cookie")]).toEqual([503, null]);
    expect((await get("/session", { cookie })).status).toBe(200);
    expect((await get("/healthz", { cookie })).status).toBe(200);
    expect((await get("/api/v1/recordings", { authorization: `Bearer ${readToken}` })).status).toBe(200);
  });

  test("a sign-out that could not be stored says so and keeps the cookie, to be tried again", async () => {
    const { address } = await serve({ ...tokens, fleet });
    const { cookie } = await signedIn(address, adminToken);
    const sessions = { ...sessionsInMemory, end: () => new Promise<never>(() => {}) };
    const broken = await serve({ ...tokens, fleet, sessions, limits: { readMs: 20 } });
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    const response = await fetch(`${broken.address}/session/end`, { method: "POST", headers, redirect: "manual" });
    expect([response.status, response.headers.get("set-cookie")]).toEqual([503, null]);
  });
});

describe("the audit log", () => {
  test("has who signed in and out, from where and with which token, and nothing of its cookie", async () => {
    const { address, entries } = await audited();
    const { cookie, post } = await signedIn(address, readToken, "rita");
    await post("/session/end", {});
    const actor = { via: "session", name: "read_token", person: "rita" };
    const [signIn, signOut] = entries;
    const id = signIn?.target;
    expect(signIn).toMatchObject({ actor, address: "127.0.0.1", action: "sign_in", outcome: "done" });
    expect(signOut).toMatchObject({ actor, address: "127.0.0.1", action: "sign_out", outcome: "done", target: id });
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(cookie + Buffer.from(cookie, "base64url").toString()).not.toContain(id);
  });

  test("has each refused attempt with its reason, and no secret", async () => {
    const { address, get, entries } = await audited();
    const reader = await signedIn(address, readToken, "rita");
    const admin = await signedIn(address, adminToken);
    const ours = { "sec-fetch-site": "same-origin" };
    const theirs = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    const ack = "/alerts/0011223344556677/ack";
    const send = (path: string, headers: Record<string, string>) => fetch(address + path, { method: "POST", headers });
    const attempts: [string, () => Promise<unknown>, Partial<Draft>][] = [
      ["wrong_token", () => get("/metrics", { authorization: "Bearer guess-1" }), { target: "GET /metrics" }],
      [
        "wrong_token",
        () => visit(address).post("/session", { name: "eve", token: "guess-2" }),
        { target: "POST /session" },
      ],
      [
        "missing_scope",
        () => send("/-/reload", { authorization: `Bearer ${readToken}` }),
        { target: "POST /-/reload", actor: { via: "token", name: "read_token" } },
      ],
      [
        "missing_scope",
        () => reader.post(ack, {}, { headers: ours }),
        { actor: { via: "session", name: "read_token", person: "rita" } },
      ],
      ["other_site", () => admin.post(ack, {}, { headers: theirs }), { target: "POST /alerts/:fingerprint/ack" }],
      [
        "other_site",
        () => admin.post(ack, { form: "another" }, { headers: ours }),
        { actor: { via: "session", name: "admin_token", person: "dana" } },
      ],
      ["other_site", () => admin.post("/session/end", {}, { headers: theirs }), { target: "POST /session/end" }],
      ["other_site", () => visit(address).post("/session", { name: "x", token: "y" }, { headers: theirs }), {}],
    ];
    for (const [reason, attempt, more] of attempts) {
      entries.length = 0;
      await attempt();
      expect(entries, reason).toEqual([
        expect.objectContaining({ ...more, action: "refused", outcome: "refused", reason }),
      ]);
      expect(JSON.stringify(entries)).not.toMatch(/guess|of-32/);
    }
    entries.length = 0;
    await get("/");
    await admin.get("/");
    expect(formToken((await admin.get('/silences/new?matchers=a="b"')).html)).not.toBe("");
    expect(entries).toEqual([]);
  });
});
