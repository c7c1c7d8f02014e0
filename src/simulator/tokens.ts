/** The signed JWTs (HS256) that the token endpoint issues. */
import { createHmac, randomBytes } from "node:crypto";
import type { Clock, Instant } from "../lib/clock.ts";

export type TokenIssuer = ReturnType<typeof createTokenIssuer>;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

export function createTokenIssuer(clock: Clock, given: { iss: string; aud: string; sub: string }) {
  const key = randomBytes(32);
  const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  return {
    /** A token good for `lifetimeMs`. */
    issue(lifetimeMs: number): string {
      const now = clock.now();
      const times = { iat: Math.floor(now / 1000), exp: (now + lifetimeMs) / 1000 };
      const claims = { ...given, ...times, jti: randomBytes(8).toString("hex") };
      const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
      return `${text}.${sign(text)}`;
    },
    /** The end of a token of ours, or undefined where it is not ours, not for us or over. */
    check(token: string): Instant | undefined {
      const [header, claims = "", signature, ...rest] = token.split(".");
      if (rest.length > 0 || signature !== sign(`${header}.${claims}`)) return undefined;
      const { exp } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { exp: number };
      const endsAt = exp * 1000;
      return endsAt > clock.now() ? endsAt : undefined;
    },
  };
}
