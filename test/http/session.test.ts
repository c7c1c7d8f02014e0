import { describe, expect, test } from "vitest";
import { formTokenOf, isFormOf, openSession, readSession, SESSION_MS } from "../../src/http/session.ts";
import { NOW } from "../metrics/fleets.ts";

const tokens = { adminToken: "boss-token", readToken: "read-token" };

function opened(token: string, at = NOW, using = tokens) {
  const found = openSession({ token, name: "dana" }, using, at);
  if (!found) throw new Error("not opened");
  return found;
}

describe("a session", () => {
  test.each([
    ["boss-token", "admin"],
    ["read-token", "read"],
  ] as const)("made from %s may do what the token may", (token, scope) => {
    const { cookie } = opened(token);
    const session = readSession(cookie, tokens, NOW + 1);
    expect(session).toMatchObject({ scope, name: "dana", expiresAt: NOW + SESSION_MS });
  });

  test.each(["", "boss", "boss-token ", "Boss-token", "read-token\0"])("is not made from %j", (token) => {
    expect(openSession({ token, name: "dana" }, tokens, NOW)).toBeUndefined();
  });

  test("is made from nothing where no token is configured", () => {
    expect(openSession({ token: "", name: "dana" }, {}, NOW)).toBeUndefined();
    expect(openSession({ token: "", name: "dana" }, { adminToken: "", readToken: "" }, NOW)).toBeUndefined();
  });

  test("of two tokens that are the same may do what the admin's may", () => {
    const same = { adminToken: "same", readToken: "same" };
    expect(readSession(opened("same", NOW, same).cookie, same, NOW)?.scope).toBe("admin");
  });

  test("is over after a week", () => {
    const { cookie } = opened("boss-token");
    expect(readSession(cookie, tokens, NOW + SESSION_MS - 1)).toBeDefined();
    expect(readSession(cookie, tokens, NOW + SESSION_MS)).toBeUndefined();
  });

  test("ends with the token it was made from, and with no other", () => {
    const { cookie } = opened("boss-token");
    expect(readSession(cookie, { ...tokens, adminToken: "another" }, NOW)).toBeUndefined();
    expect(readSession(cookie, { readToken: "boss-token" }, NOW)).toBeUndefined();
    expect(readSession(cookie, { ...tokens, readToken: "another" }, NOW)).toBeDefined();
  });

  test("cannot be forged, changed or made to last", () => {
    const { cookie } = opened("read-token");
    const [payload = "", signature = ""] = cookie.split(".");
    const later = JSON.stringify([1, "eve", NOW + 10 * SESSION_MS, "x"]);
    const forged = Buffer.from(later).toString("base64url");
    const changed = payload.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    for (const bad of [
      `${forged}.${signature}`,
      `${changed}.${signature}`,
      `${forged}.`,
      forged,
      payload,
      `.${signature}`,
      "",
      "x".repeat(5_000),
      `${payload}.${signature.slice(0, -1)}`,
    ]) {
      expect(readSession(bad, tokens, NOW), bad.slice(0, 60)).toBeUndefined();
    }
    expect(readSession(undefined, tokens, NOW)).toBeUndefined();
  });

  test("tells nothing of the token", () => {
    const { cookie, session } = opened("boss-token");
    const told = cookie + Buffer.from(cookie, "base64url").toString() + formTokenOf(session, tokens);
    expect(told).not.toContain("boss-token");
    expect(opened("boss-token").cookie).not.toBe(cookie);
  });
});

describe("a form's token", () => {
  test("is that of its own session alone", () => {
    const { session } = opened("boss-token");
    const other = opened("boss-token").session;
    const token = formTokenOf(session, tokens);
    expect(isFormOf(session, token, tokens)).toBe(true);
    expect(isFormOf(other, token, tokens)).toBe(false);
    expect(isFormOf(session, token, { ...tokens, adminToken: "another" })).toBe(false);
    for (const bad of ["", token.slice(1), `${token}x`, "é".repeat(token.length)]) {
      expect(isFormOf(session, bad, tokens)).toBe(false);
    }
  });
});
