/**
 * Who may read: whoever has one of the tokens, or everybody where no read token is configured. Who may change state:
 * whoever has the admin token, and nobody where there is none.
 */
import { createHash, timingSafeEqual } from "node:crypto";

export interface Tokens {
  readonly readToken?: string | undefined;
  readonly adminToken?: string | undefined;
}

/** Whether an Authorization header may change state; never where no admin token is configured. */
export function mayChange(authorization: string | undefined, { adminToken }: Tokens): boolean {
  if (!adminToken) return false;
  return timingSafeEqual(digest(bearerOf(authorization) ?? ""), digest(adminToken));
}

/** Whether an Authorization header may read. The time it takes tells nothing of the tokens. */
export function mayRead(authorization: string | undefined, tokens: Tokens): boolean {
  if (tokens.readToken === undefined) return true;
  const given = digest(bearerOf(authorization) ?? "");
  const accepted = [tokens.readToken, tokens.adminToken].map(
    (token) => token !== undefined && token !== "" && timingSafeEqual(given, digest(token)),
  );
  return accepted.includes(true);
}

function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).trim() : undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
