/** `POST /oauth/token` (contract: "Authentication"), and the signed JWTs (HS256) it issues. */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Faults } from "./faults.ts";
import { answeredByFault } from "./http-faults.ts";

const TokenRequest = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  audience: z.string(),
  grant_type: z.string(),
});

export interface IssuerDeps {
  readonly faults: Faults;
  readonly tokens: TokenIssuer;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
  readonly tokenLifetimeMs: number;
  readonly signal: AbortSignal;
}

export function registerTokenEndpoint(app: FastifyInstance, deps: IssuerDeps): void {
  const { faults, tokens } = deps;
  app.post("/oauth/token", { config: { endpoint: "token" } }, async (request, reply) => {
    if (await answeredByFault(faults, "token", reply, deps.signal)) return reply;
    const body = TokenRequest.safeParse(request.body);
    if (!body.success) {
      const missing = "client_id, client_secret, audience and grant_type are required strings";
      return reply.code(400).send({ error: "invalid_request", error_description: missing });
    }
    const refused = faults.take("token_refused");
    if (refused) return reply.code(refused.status).send({ error: "access_denied" });
    const problem = refusalOf(body.data, deps);
    if (problem) return reply.code(problem.status).send({ error: problem.error });
    const lifetimeMs = faults.take("short_tokens")?.lifetime_ms ?? deps.tokenLifetimeMs;
    return reply
      .header("cache-control", "no-store")
      .send({
        access_token: tokens.issue(lifetimeMs, !faults.take("no_exp")),
        token_type: "Bearer",
        ...(faults.take("no_expires_in") ? {} : { expires_in: lifetimeMs / 1000 }),
      });
  });
}

function refusalOf(
  body: z.infer<typeof TokenRequest>,
  deps: IssuerDeps,
): { status: number; error: string } | undefined {
  if (body.client_id !== deps.clientId || body.client_secret !== deps.clientSecret)
    return { status: 401, error: "invalid_client" };
  if (body.audience !== deps.audience) return { status: 401, error: "access_denied" };
  if (body.grant_type !== "client_credentials") return { status: 400, error: "unsupported_grant_type" };
  return undefined;
}

export interface TokenIssuer {
  /** A token good for `lifetimeMs`; without `exp` where asked. */
  issue(lifetimeMs: number, withExp?: boolean): string;
  /** When a token of ours ends (infinity without `exp`), or undefined where it is not ours, not for us or over. */
  check(token: string): Instant | undefined;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

export function createTokenIssuer(deps: {
  clock: Clock;
  issuer: string;
  audience: string;
  subject: string;
}): TokenIssuer {
  const key = randomBytes(32);
  const { clock, issuer: iss, audience: aud, subject: sub } = deps;
  const sign = (text: string) => createHmac("sha256", key).update(text).digest();

  return {
    issue(lifetimeMs, withExp = true) {
      const now = clock.now();
      const exp = withExp ? { exp: (now + lifetimeMs) / 1000 } : {};
      const claims = { iss, sub, aud, iat: Math.floor(now / 1000), jti: randomBytes(8).toString("hex"), ...exp };
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
