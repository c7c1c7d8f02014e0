/** Tokens, and stateless signed sessions; the key derives from the token (RFC 5869), so a changed token ends them. */
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import fastifyCookie from "@fastify/cookie";
import { z } from "zod";
import type { Instant } from "../lib/clock.ts";
import type { HttpDeps } from "./deps.ts";

/** A week on call. */
export const SESSION_MS = 7 * 86_400_000;

const LONGEST_COOKIE = 1_024;

type HttpTokens = Pick<HttpDeps, "readToken" | "adminToken">;

/** What a token permits; `admin` includes `read`. */
export type Scope = "read" | "admin";

export interface Session {
  readonly scope: Scope;
  /** As given at sign-in: the author of acknowledgements and silences. */
  readonly name: string;
  readonly expiresAt: Instant;
  /** Random; forms are bound to it. */
  readonly id: string;
}

const CookieContent = z.tuple([z.literal(1), z.string(), z.number(), z.string()]);

/** The token of an Authorization header; undefined where there is none. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).trim() : undefined;
}

/** What a token permits, undefined for an unknown one. The time it takes reveals nothing of the tokens. */
export function scopeOf(token: string, { readToken, adminToken }: HttpTokens): Scope | undefined {
  const [isAdmin, isRead] = [isSameText(token, adminToken), isSameText(token, readToken)];
  if (isAdmin) return "admin";
  return isRead ? "read" : undefined;
}

/** Compares in constant time; false where nothing is expected. */
function isSameText(given: string, expected = ""): boolean {
  return timingSafeEqual(sha256(given), sha256(expected)) && expected !== "";
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** A new session and its cookie value; undefined for an unknown token. */
export function openSession(
  given: { readonly token: string; readonly name: string },
  tokens: HttpTokens,
  now: Instant,
): { readonly session: Session; readonly cookie: string } | undefined {
  const scope = scopeOf(given.token, tokens);
  if (!scope) return undefined;
  const id = randomBytes(16).toString("base64url");
  const session = { scope, name: given.name, expiresAt: now + SESSION_MS, id };
  const content: z.infer<typeof CookieContent> = [1, session.name, session.expiresAt, id];
  const cookie = signerOf(scope, tokens).sign(Buffer.from(JSON.stringify(content)).toString("base64url"));
  return { session, cookie };
}

/** The session of a cookie; undefined where it is forged, expired, or signed for a token no longer configured. */
export function readSession(cookie: string | undefined, tokens: HttpTokens, now: Instant): Session | undefined {
  if (cookie === undefined || cookie.length > LONGEST_COOKIE) return undefined;
  for (const scope of ["admin", "read"] as const) {
    if (!tokenOf(scope, tokens)) continue;
    const { valid, value } = signerOf(scope, tokens).unsign(cookie);
    if (valid) return parseCookie(value, scope, now);
  }
  return undefined;
}

/** The hidden field of this session's forms, unknown to other sites. */
export function formTokenOf({ scope, id }: Session, tokens: HttpTokens): string {
  return createHmac("sha256", keyOf("form", scope, tokens))
    .update(id)
    .digest("base64url");
}

/** Whether a form was made for this session. */
export function isFormOf(session: Session, given: string, tokens: HttpTokens): boolean {
  return isSameText(given, formTokenOf(session, tokens));
}

function tokenOf(scope: Scope, { adminToken, readToken }: HttpTokens): string | undefined {
  return scope === "admin" ? adminToken : readToken;
}

function keyOf(purpose: "session" | "form", scope: Scope, tokens: HttpTokens): Buffer {
  const info = `lenswatch page ${purpose} 1 ${scope}`;
  return Buffer.from(hkdfSync("sha256", tokenOf(scope, tokens) ?? "", "lenswatch", info, 32));
}

function signerOf(scope: Scope, tokens: HttpTokens): fastifyCookie.Signer {
  return new fastifyCookie.Signer(keyOf("session", scope, tokens));
}

function parseCookie(value: string, scope: Scope, now: Instant): Session | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(value, "base64url").toString());
    const [, name, expiresAt, id] = CookieContent.parse(json);
    return now < expiresAt ? { scope, name, expiresAt, id } : undefined;
  } catch {
    return undefined;
  }
}
