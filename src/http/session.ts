/**
 * Sessions of the status page: a signed cookie that every replica can read and none has to remember. Its key is
 * derived from the token that opened it (RFC 5869), so that another token ends all of its sessions.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import fastifyCookie from "@fastify/cookie";
import { z } from "zod";
import type { Instant } from "../lib/clock.ts";
import { isSameText, type Scope, type Tokens } from "./auth.ts";

/** A week on call. */
export const SESSION_MS = 7 * 86_400_000;

/** A longer cookie is none of ours. */
const LONGEST_COOKIE = 1_024;

export interface Session {
  readonly scope: Scope;
  /** Whom the holder said to be: the author of what is acknowledged and silenced. */
  readonly name: string;
  readonly expiresAt: Instant;
  /** Of this session alone; forms are bound to it. */
  readonly id: string;
}

const Written = z.tuple([z.literal(1), z.string(), z.number(), z.string()]);

/** A session's cookie value for whoever gave `token`; undefined where it is no token of ours. */
export function openSession(
  given: { readonly token: string; readonly name: string },
  tokens: Tokens,
  now: Instant,
): { readonly session: Session; readonly cookie: string } | undefined {
  const accepted = scopes.map((scope) => isSameText(given.token, tokenOf(scope, tokens)));
  const scope = scopes[accepted.indexOf(true)];
  if (!scope) return undefined;
  const id = randomBytes(16).toString("base64url");
  const session = { scope, name: given.name, expiresAt: now + SESSION_MS, id };
  const text = JSON.stringify([1, session.name, session.expiresAt, id] satisfies z.infer<typeof Written>);
  const cookie = signerOf(scope, tokens).sign(Buffer.from(text).toString("base64url"));
  return { session, cookie };
}

/** The session of a cookie; undefined where it is forged, over, or of a token that is configured no more. */
export function readSession(cookie: string | undefined, tokens: Tokens, now: Instant): Session | undefined {
  if (cookie === undefined || cookie.length > LONGEST_COOKIE) return undefined;
  for (const scope of scopes) {
    if (!tokenOf(scope, tokens)) continue;
    const { valid, value } = signerOf(scope, tokens).unsign(cookie);
    if (valid) return parse(value, scope, now);
  }
  return undefined;
}

/** What a form of this session has to bring along: nobody else can know it. */
export function formTokenOf({ scope, id }: Session, tokens: Tokens): string {
  return createHmac("sha256", keyOf("form", scope, tokens))
    .update(id)
    .digest("base64url");
}

/** Whether a form was made for this session. */
export function isFormOf(session: Session, given: string, tokens: Tokens): boolean {
  const [expected, found] = [formTokenOf(session, tokens), given].map((text) => Buffer.from(text));
  if (!expected || found?.length !== expected.length) return false;
  return timingSafeEqual(expected, found);
}

/** The one that may do more first. */
const scopes: readonly Scope[] = ["admin", "read"];

function tokenOf(scope: Scope, { adminToken, readToken }: Tokens): string | undefined {
  return scope === "admin" ? adminToken : readToken;
}

function keyOf(purpose: "session" | "form", scope: Scope, tokens: Tokens): Buffer {
  const info = `lenswatch page ${purpose} 1 ${scope}`;
  return Buffer.from(hkdfSync("sha256", tokenOf(scope, tokens) ?? "", "lenswatch", info, 32));
}

function signerOf(scope: Scope, tokens: Tokens): fastifyCookie.Signer {
  return new fastifyCookie.Signer(keyOf("session", scope, tokens));
}

function parse(value: string, scope: Scope, now: Instant): Session | undefined {
  const read = Written.safeParse(jsonOf(Buffer.from(value, "base64url").toString()));
  if (!read.success) return undefined;
  const [, name, expiresAt, id] = read.data;
  return now < expiresAt ? { scope, name, expiresAt, id } : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
