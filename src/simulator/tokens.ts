/** Signed JWTs (HS256) that expire, as the issuer gives them and the two interfaces check them. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock, Instant } from "../lib/clock.ts";

export interface Tokens {
  /** A token good for `lifetimeMs`; without `exp` where asked. */
  issue(lifetimeMs: number, withExp?: boolean): string;
  /** When a token of ours ends (infinity without `exp`), or undefined where it is not ours, not for us or over. */
  check(token: string): Instant | undefined;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

export function createTokens(deps: {
  clock: Clock;
  issuer: string;
  audience: string;
  subject: string;
}): Tokens {
  const key = randomBytes(32);
  const { clock, issuer: iss, audience: aud, subject: sub } = deps;
  const sign = (text: string) => createHmac("sha256", key).update(text).digest();

  return {
    issue(lifetimeMs, withExp = true) {
      const now = clock.now();
      const exp = withExp ? { exp: (now + lifetimeMs) / 1000 } : {};
      const claims = {
        iss,
        sub,
        aud,
        iat: Math.floor(now / 1000),
        jti: randomBytes(8).toString("hex"),
        ...exp,
      };
      const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
      return `${text}.${sign(text).toString("base64url")}`;
    },
    check(token) {
      const [header, claims, signature, ...rest] = token.split(".");
      if (!header || !claims || !signature || rest.length > 0) return undefined;
      const given = Buffer.from(signature, "base64url");
      const right = sign(`${header}.${claims}`);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      const { exp } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { exp?: number };
      const endsAt = exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000;
      return endsAt > clock.now() ? endsAt : undefined;
    },
  };
}
