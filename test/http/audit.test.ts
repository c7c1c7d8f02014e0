import { expect, test } from "vitest";
import type { AuditEntry } from "../../src/alerting/audit.ts";
import { fleetOf } from "../metrics/fleets.ts";
import { formToken, signedIn, visit } from "./page/visitor.ts";
import { serve } from "./serve.ts";

const tokens = { adminToken: "admin-token-of-32-characters-long", readToken: "read-token-of-32-characters-long." };
const { adminToken, readToken } = tokens;
const fleet = async () => fleetOf({});

async function audited() {
  const entries: AuditEntry[] = [];
  return { entries, ...(await serve({ ...tokens, fleet, audit: (entry) => void entries.push(entry) })) };
}

test("signing in and out is audited: who, from where and with which token", async () => {
  const { address, entries } = await audited();
  const { post } = await signedIn(address, readToken, "rita");
  await post("/session/end", {});
  const by = { actor: { via: "session", name: "read_token", person: "rita" }, address: "127.0.0.1", outcome: "done" };
  expect(entries).toEqual([
    { ...by, action: "sign_in" },
    { ...by, action: "sign_out" },
  ]);
});

test("each refused attempt is audited with its reason, and without a secret", async () => {
  const { address, get, entries } = await audited();
  const reader = await signedIn(address, readToken, "rita");
  const admin = await signedIn(address, adminToken);
  const ours = { "sec-fetch-site": "same-origin" };
  const theirs = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
  const ack = "/alerts/0011223344556677/ack";
  const send = (path: string, headers: Record<string, string>) => fetch(address + path, { method: "POST", headers });
  const signIn = (token: string, headers = {}) => visit(address).post("/session", { name: "eve", token }, { headers });
  const sessionOf = (name: string, person: string) => ({ actor: { via: "session", name, person } });
  const attempts: [string, () => Promise<unknown>, object][] = [
    ["wrong_token", () => get("/metrics", { authorization: "Bearer guess-1" }), { target: "GET /metrics" }],
    ["wrong_token", () => signIn("guess-2"), { target: "POST /session" }],
    [
      "missing_scope",
      () => send("/-/reload", { authorization: `Bearer ${readToken}` }),
      { target: "POST /-/reload", actor: { via: "token", name: "read_token" } },
    ],
    ["missing_scope", () => reader.post(ack, {}, { headers: ours }), sessionOf("read_token", "rita")],
    ["other_site", () => admin.post(ack, {}, { headers: theirs }), { target: "POST /alerts/:fingerprint/ack" }],
    ["other_site", () => admin.post(ack, { form: "another" }, { headers: ours }), sessionOf("admin_token", "dana")],
    ["other_site", () => admin.post("/session/end", {}, { headers: theirs }), { target: "POST /session/end" }],
    ["other_site", () => signIn("y", theirs), {}],
  ];
  for (const [reason, attempt, more] of attempts) {
    entries.length = 0;
    await attempt();
    const refused = { ...more, action: "refused", outcome: "refused", reason };
    expect(entries, reason).toEqual([expect.objectContaining(refused)]);
    expect(JSON.stringify(entries)).not.toMatch(/guess|of-32/);
  }
  entries.length = 0;
  await get("/");
  expect(formToken((await admin.get('/silences/new?matchers=a="b"')).html)).not.toBe("");
  expect(entries).toEqual([]);
});
