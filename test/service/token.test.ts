import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/lib/redact.ts";
import type { ServiceError } from "../../src/service/errors.ts";
import type { SendRequest, ServiceReply } from "../../src/service/http.ts";
import { createTokenSource } from "../../src/service/token.ts";

const { signal } = new AbortController();
const HOUR = 3_600_000;

interface Answer {
  status?: number;
  retryAfter?: string;
  body?: unknown;
}

/** An issuer that answers as told, in order; the last answer again and again. */
function setUp(...answers: Answer[]) {
  const clock = { at: 1_000_000_000_000, now: () => clock.at };
  const asked: unknown[] = [];
  const kinds: string[] = [];
  const renewals: string[] = [];
  const sendRequest: SendRequest = async (request) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? {};
    asked.push(request);
    await Promise.resolve();
    const reply: ServiceReply = {
      status: answer.status ?? 200,
      retryAfter: answer.retryAfter,
      text: async () => JSON.stringify(answer.body),
      excerpt: async () => JSON.stringify(answer.body) ?? "",
      discard: () => {},
    };
    return reply;
  };
  const tokens = createTokenSource({
    sendRequest,
    clock,
    random: () => 1,
    redactor: createRedactor([]),
    report: (kind) => kinds.push(kind),
    closing: new AbortController().signal,
    onRenewal: (result) => renewals.push("error" in result ? result.error.code : result.token.value),
    config: {
      authUrl: "https://issuer.example.com",
      clientId: "id",
      clientSecret: "secret",
      audience: "audience",
      requestTimeoutMs: 1_000,
    },
  });
  return { clock, asked, kinds, renewals, tokens };
}

const issued = (name: string, expires_in?: unknown): Answer => ({ body: { access_token: name, expires_in } });
const jwt = (claims: unknown) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

describe("a token source", () => {
  it("renews when less than a quarter of its lifetime is left, without delaying calls", async () => {
    const { tokens, clock, asked, renewals } = setUp(issued("one", 3600), issued("two", 3600));
    await tokens.get(signal);
    clock.at += 0.74 * HOUR;
    expect((await tokens.get(signal)).value).toBe("one");
    expect(asked).toHaveLength(1);
    clock.at += 0.02 * HOUR;
    const [a, b] = await Promise.all([tokens.get(signal), tokens.get(signal)]);
    expect([a.value, b.value]).toEqual(["one", "one"]);
    await tokens.get(signal, a);
    expect(renewals).toEqual(["one", "two"]);
    expect((await tokens.get(signal)).value).toBe("two");
    expect(asked).toHaveLength(2);
  });

  it("uses the old token while its renewal fails, and leaves the issuer alone between attempts", async () => {
    const { tokens, clock, asked } = setUp(issued("one", 3600), { status: 503 });
    await tokens.get(signal);
    clock.at += 0.8 * HOUR;
    for (let i = 0; i < 5; i += 1) expect((await tokens.get(signal)).value).toBe("one");
    await new Promise(setImmediate);
    await tokens.get(signal);
    expect(asked).toHaveLength(2);
    clock.at += 0.3 * HOUR;
    await expect(tokens.get(signal)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("keeps away as long as the issuer asks", async () => {
    const { tokens, clock, asked } = setUp({ status: 429, retryAfter: "60" }, issued("one", 3600));
    const limited = { code: "rate_limited", retryAfterMs: 60_000 };
    await expect(tokens.get(signal)).rejects.toMatchObject(limited);
    clock.at += 59_000;
    await expect(tokens.get(signal)).rejects.toMatchObject(limited);
    expect(asked).toHaveLength(1);
    clock.at += 2_000;
    expect((await tokens.get(signal)).value).toBe("one");
  });

  it("never returns a refused token again, and ignores refusals of older ones", async () => {
    const { tokens, asked } = setUp(issued("one", 3600), issued("two", 3600));
    const one = await tokens.get(signal);
    tokens.refuse(one);
    expect((await tokens.get(signal)).value).toBe("two");
    tokens.refuse(one);
    expect((await tokens.get(signal)).value).toBe("two");
    expect(asked).toHaveLength(2);
  });

  it.each([
    ["expires_in", issued("t", 600), 600],
    ["expires_in as text", issued("t", "600"), 600],
    ["exp where there is no expires_in", issued(jwt({ exp: 1_000_000_900 })), 900],
    ["exp where expires_in is nonsense", issued(jwt({ exp: 1_000_000_900 }), "soon"), 900],
    ["a year from now where it lies further away", issued("t", 1e12), 365 * 86_400],
    ["a year from now where it is beyond all numbers", issued("t", 1e308), 365 * 86_400],
    ["a year from now where exp is given in milliseconds", issued(jwt({ exp: 1_000_000_900_000 })), 365 * 86_400],
    ["nothing", issued("opaque"), undefined],
    ["nothing of a broken JWT", issued("a.%%%.c"), undefined],
    ["nothing of a JWT without exp", issued(jwt({ exp: "later" })), undefined],
  ])("takes the expiry from %s", async (_, answer, seconds) => {
    const { tokens, clock } = setUp(answer);
    const { expiresAt } = await tokens.get(signal);
    expect(expiresAt).toBe(seconds === undefined ? undefined : clock.at + seconds * 1000);
  });

  it("does not believe an expiry in the past", async () => {
    const { tokens, asked, kinds } = setUp(issued(jwt({ exp: 5 })));
    await tokens.get(signal);
    await tokens.get(signal);
    expect(asked).toHaveLength(1);
    expect(kinds).toEqual(["bad_token_expiry"]);
  });

  it.each([
    [{ status: 401 }, "auth", "service.client_secret"],
    [{ status: 403 }, "auth", "service.audience"],
    [{ status: 404 }, "auth", "service.auth_url"],
    [{ status: 500 }, "unavailable", "500"],
    [{ status: 302 }, "unavailable", "redirects"],
    [{ body: {} }, "bad_payload", "service.auth_url"],
    [{ body: { access_token: "line\nbreak" } }, "bad_payload", "access_token"],
    [{ body: { access_token: "" } }, "bad_payload", "access_token"],
  ])("answered %j fails with %s", async (answer, code, text) => {
    const failure = await setUp(answer)
      .tokens.get(signal)
      .then(
        () => undefined,
        (error: ServiceError) => error,
      );
    expect(failure?.code).toBe(code);
    expect(failure?.message).toContain(text);
  });
});
