/**
 * Who may read: whoever has one of the tokens, or a session made from it, or everybody where no read token is
 * configured. Who may change state: whoever has the admin token, and nobody where there is none.
 */
import { createHash, timingSafeEqual } from "node:crypto";

export interface Tokens {
  readonly readToken?: string | undefined;
  readonly adminToken?: string | undefined;
}

/** What a token opens; `admin` reads as well. */
export type Scope = "read" | "admin";

/** Whether an Authorization header may change state; never where no admin token is configured. */
export function mayChange(authorization: string | undefined, { adminToken }: Tokens): boolean {
  return isSameText(bearerOf(authorization) ?? "", adminToken);
}

/** Whether an Authorization header may read. The time it takes tells nothing of the tokens. */
export function mayRead(authorization: string | undefined, { readToken, adminToken }: Tokens): boolean {
  if (readToken === undefined) return true;
  return isOurs(bearerOf(authorization) ?? "", { readToken, adminToken });
}

/** Whether a token is one of ours, whatever it opens. */
export function isOurs(token: string, { readToken, adminToken }: Tokens): boolean {
  return [readToken, adminToken].map((one) => isSameText(token, one)).includes(true);
}

/** Whether what was given is the token, in a time that tells nothing of it; never where there is no token. */
export function isSameText(given: string, token: string | undefined): boolean {
  const same = timingSafeEqual(digest(given), digest(token ?? ""));
  return same && token !== undefined && token !== "";
}

/** The token of an Authorization header; undefined where it holds none. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).trim() : undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
