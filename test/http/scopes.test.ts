import { expect, test } from "vitest";
import { type AccessToken, type Scope, scopes } from "../../src/http/principal.ts";
import { anAccess, serve } from "./serve.ts";

const tokenOf = (...given: Scope[]): AccessToken => ({ name: given.join(), token: `token-${given}`, scopes: given });
const bearer = ({ token }: AccessToken) => ({ authorization: `Bearer ${token}` });

const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
/** With what they answer to those who may. */
const requests: readonly (readonly [Scope, method: string, path: string, status: number])[] = [
  ["read", "GET", "/", 200],
  ["read", "GET", "/metrics", 200],
  ["read", "GET", "/api/v1/recordings", 200],
  ["read", "GET", "/api/v2/alerts", 200],
  ["read", "GET", "/api/v2/silences", 200],
  ["read", "HEAD", "/api/v2/status", 200],
  ["alerts", "POST", "/api/v2/alerts", 400],
  ["silence", "POST", "/api/v2/silences", 400],
  ["silence", "DELETE", `/api/v2/silence/${id}`, 404],
  ["silence", "POST", "/api/v1/alerts/0123456789abcdef/ack", 404],
  ["admin", "POST", "/-/reload", 500],
];

test.each(requests)("the scope %s, and no other but admin, permits %s %s", async (needed, method, path, status) => {
  const tokens = scopes.map((scope) => tokenOf(scope));
  const { address } = await serve({ access: anAccess({ tokens }) });
  const send = async (headers: Record<string, string>) => {
    const answer = await fetch(address + path, { method, headers });
    return { status: answer.status, challenge: answer.headers.get("www-authenticate") };
  };
  expect(await send({})).toEqual({ status: 401, challenge: `Bearer scope="${needed}"` });
  const lacking = { status: 403, challenge: `Bearer error="insufficient_scope", scope="${needed}"` };
  for (const token of tokens) {
    const may = token.name === needed || token.name === "admin";
    expect(await send(bearer(token)), token.name).toEqual(may ? { status, challenge: null } : lacking);
  }
});

test("a refusal names the token and the scope that it lacks, and not the token itself", async () => {
  const token = tokenOf("alerts", "silence");
  const { json } = await serve({ access: anAccess({ tokens: [token] }) });
  expect(await json("/api/v2/alerts", bearer(token))).toEqual({
    status: 403,
    body: "The token alerts,silence lacks the scope read.",
  });
});

test("a token that is not known is answered so, and a request without one is told what to send", async () => {
  const { json } = await serve({ access: anAccess({ tokens: [tokenOf("read")] }) });
  const send = "the header Authorization: Bearer with a token that has the scope read.";
  expect((await json("/api/v2/alerts", { authorization: "Bearer guess" })).body).toBe(
    `This token is not known; send ${send}`,
  );
  expect((await json("/api/v2/alerts", {})).body).toBe(`Send ${send}`);
});

test("a token is replaced without a gap, as both are valid meanwhile", async () => {
  const [old, next] = [tokenOf("read"), { ...tokenOf("read"), name: "next", token: "another" }];
  let tokens = [old];
  const { get } = await serve({
    get access() {
      return anAccess({ tokens });
    },
  });
  const statuses = async () => [(await get("/", bearer(old))).status, (await get("/", bearer(next))).status];
  expect(await statuses()).toEqual([200, 401]);
  tokens = [old, next];
  expect(await statuses()).toEqual([200, 200]);
  tokens = [next];
  expect(await statuses()).toEqual([401, 200]);
});

test("where reading is open a token needs no scope for it", async () => {
  const token = tokenOf("silence");
  const { get } = await serve({ access: anAccess({ tokens: [token], isReadingOpen: true }) });
  expect((await get("/api/v1/recordings", bearer(token))).status).toBe(200);
});
