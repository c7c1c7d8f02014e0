import { describe, expect, test } from "vitest";
import { type Access, type AccessToken, findToken, type Principal, scopeSet } from "../../src/http/principal.ts";
import { formTokenOf, isFormOf, openSession, readSession, SESSION_MS, type Session } from "../../src/http/session.ts";
import { NOW } from "../metrics/fleets.ts";
import { anAccess } from "./serve.ts";

const boss: AccessToken = { name: "boss", token: "boss-token", scopes: ["admin"] };
const reader: AccessToken = { name: "reader", token: "read-token", scopes: ["read"] };
const access = (...tokens: AccessToken[]): Access => anAccess({ tokens });
const both = access(boss, reader);

const opened = (token: AccessToken, at = NOW) => openSession(token, "dana", at);

describe("a token", () => {
  test.each(["", "boss", "boss-token ", "Boss-token", "read-token\0"])("is not known as %j", (token) => {
    expect(findToken(token, both)).toBeUndefined();
  });

  test("that is empty is nobody's", () => {
    expect(findToken("", access())).toBeUndefined();
    expect(findToken("", access({ ...boss, token: "" }))).toBeUndefined();
  });
});

describe("a session", () => {
  test.each([boss, reader])("is of the token $name that it was opened with", (token) => {
    const session = readSession(opened(token).cookie, both, NOW + 1);
    expect(session).toMatchObject({ token, name: "dana", expiresAt: NOW + SESSION_MS });
  });

  test("is over after twelve hours", () => {
    const { cookie } = opened(boss);
    expect(readSession(cookie, both, NOW + SESSION_MS - 1)).toBeDefined();
    expect(readSession(cookie, both, NOW + SESSION_MS)).toBeUndefined();
  });

  test("ends with the token it was made from, and with no other", () => {
    const { cookie } = opened(boss);
    expect(readSession(cookie, access({ ...boss, token: "another" }, reader), NOW)).toBeUndefined();
    expect(readSession(cookie, access({ ...reader, token: "boss-token" }), NOW)).toBeUndefined();
    expect(readSession(cookie, access({ ...reader, token: "another" }, boss), NOW)).toBeDefined();
  });

  test("cannot be forged, changed or made to last", () => {
    const { cookie } = opened(reader);
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
      expect(readSession(bad, both, NOW), bad.slice(0, 60)).toBeUndefined();
    }
    expect(readSession(undefined, both, NOW)).toBeUndefined();
  });

  test("tells nothing of the token", () => {
    const { cookie } = opened(boss);
    const told = cookie + Buffer.from(cookie, "base64url").toString();
    expect(told).not.toContain("boss-token");
    expect(opened(boss).cookie).not.toBe(cookie);
  });
});

describe("a form's token", () => {
  test("is that of its own session or user alone", () => {
    const sender = (via: Principal["via"], name: string, session?: Session) =>
      ({ session, principal: { via, name, scopes: scopeSet(["admin"]) } }) as const;
    const all = [
      sender("session", "boss", opened(boss).session),
      sender("session", "boss", opened(boss).session),
      sender("proxy", "dana"),
      sender("proxy", "rita"),
    ];
    for (const one of all) {
      const token = formTokenOf(one, both);
      expect(all.filter((other) => isFormOf(other, token, both))).toEqual([one]);
      expect(isFormOf(one, token, anAccess({ formKey: "another" }))).toBe(false);
      for (const bad of ["", token.slice(1), `${token}x`, "é".repeat(token.length)])
        expect(isFormOf(one, bad, both)).toBe(false);
    }
  });
});
