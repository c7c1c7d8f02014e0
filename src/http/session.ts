/** Sessions, and the tokens of forms. A cookie is signed with a key derived from its token (RFC 5869): a changed token ends it. */
import { createHmac, hkdfSync, randomBytes } from "node:crypto";
import fastifyCookie from "@fastify/cookie";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Instant } from "../lib/clock.ts";
import { type Access, type AccessToken, isSameText } from "./principal.ts";

/** A shift. */
export const SESSION_MS = 12 * 3_600_000;

const LONGEST_COOKIE = 1_024;

export interface Session {
  /** The token it was opened with. */
  readonly token: AccessToken;
  /** The name given at sign-in: the author of acknowledgements and silences. */
  readonly name: string;
  readonly expiresAt: Instant;
  /** Random; forms are bound to it. */
  readonly id: string;
}

const CookieContent = z.tuple([z.literal(1), z.string(), z.number(), z.string()]);

/** A new session and its cookie value. */
export function openSession(token: AccessToken, name: string, now: Instant) {
  const id = randomBytes(16).toString("base64url");
  const session: Session = { token, name, expiresAt: now + SESSION_MS, id };
  const content: z.infer<typeof CookieContent> = [1, session.name, session.expiresAt, id];
  const cookie = signerOf(token).sign(Buffer.from(JSON.stringify(content)).toString("base64url"));
  return { session, cookie };
}

/** The session of a cookie; undefined where it is forged, expired, or signed for a token no longer configured. */
export function readSession(cookie: string | undefined, { tokens }: Access, now: Instant): Session | undefined {
  if (cookie === undefined || cookie.length > LONGEST_COOKIE) return undefined;
  for (const token of tokens) {
    const { valid, value } = signerOf(token).unsign(cookie);
    if (valid) return parseCookie(value, token, now);
  }
  return undefined;
}

type Sender = Pick<FastifyRequest, "session" | "principal">;

/** The hidden field of this session's forms, or of this user's where another has signed them in: unknown to other sites. */
export function formTokenOf({ session, principal: { via, name } }: Sender, { formKey }: Access): string {
  return createHmac("sha256", formKey)
    .update(JSON.stringify([via, session?.id ?? name]))
    .digest("base64url");
}

/** True for a form that was made for this sender. */
export function isFormOf(sender: Sender, given: string, access: Access): boolean {
  return isSameText(given, formTokenOf(sender, access));
}

function signerOf(token: AccessToken): fastifyCookie.Signer {
  const info = `lenswatch page session 2 ${token.name}`;
  return new fastifyCookie.Signer(Buffer.from(hkdfSync("sha256", token.token, "lenswatch", info, 32)));
}

function parseCookie(value: string, token: AccessToken, now: Instant): Session | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(value, "base64url").toString());
    const [, name, expiresAt, id] = CookieContent.parse(json);
    return now < expiresAt ? { token, name, expiresAt, id } : undefined;
  } catch {
    return undefined;
  }
}
