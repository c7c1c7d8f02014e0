/** `POST /oauth/token` (contract: "Authentication"), and the signed JWTs (HS256) it issues. */
import { createHmac, randomBytes } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Clock, Instant } from "../lib/clock.ts";
import type { SimulatorContext } from "./simulator.ts";

const TokenRequest = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  audience: z.string(),
  grant_type: z.string(),
});

export function registerTokenEndpoint(app: FastifyInstance, context: SimulatorContext): void {
  const { faults, tokens, credentials, traits } = context;
  app.post("/oauth/token", { config: { endpoint: "token" } }, async (request, reply) => {
    const body = TokenRequest.safeParse(request.body).data;
    if (!body) {
      const missing = "client_id, client_secret, audience and grant_type are required strings";
      return reply.code(400).send({ error: "invalid_request", error_description: missing });
    }
    const refused = faults.take("token_refused");
    if (refused) return reply.code(refused.status).send({ error: "access_denied" });
    if (body.client_id !== credentials.clientId || body.client_secret !== credentials.clientSecret)
      return reply.code(401).send({ error: "invalid_client" });
    if (body.audience !== credentials.audience) return reply.code(401).send({ error: "access_denied" });
    if (body.grant_type !== "client_credentials") return reply.code(400).send({ error: "unsupported_grant_type" });
    const lifetimeMs = faults.take("short_tokens")?.lifetime_ms ?? traits.token_lifetime;
    return reply
      .header("cache-control", "no-store")
      .send({
        access_token: tokens.issue(lifetimeMs, !faults.take("no_exp")),
        token_type: "Bearer",
        ...(faults.take("no_expires_in") ? {} : { expires_in: lifetimeMs / 1000 }),
      });
  });
}

export type TokenIssuer = ReturnType<typeof createTokenIssuer>;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

export function createTokenIssuer(clock: Clock, given: { iss: string; aud: string; sub: string }) {
  const key = randomBytes(32);
  const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  return {
    /** A token good for `lifetimeMs`; without `exp` where asked. */
    issue(lifetimeMs: number, withExp: boolean): string {
      const now = clock.now();
      const exp = withExp ? { exp: (now + lifetimeMs) / 1000 } : {};
      const claims = { ...given, iat: Math.floor(now / 1000), jti: randomBytes(8).toString("hex"), ...exp };
      const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
      return `${text}.${sign(text)}`;
    },
    /** When a token of ours ends (infinity without `exp`), or undefined where it is not ours, not for us or over. */
    check(token: string): Instant | undefined {
      const [header, claims = "", signature, ...rest] = token.split(".");
      if (rest.length > 0 || signature !== sign(`${header}.${claims}`)) return undefined;
      const { exp } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { exp?: number };
      const endsAt = exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000;
      return endsAt > clock.now() ? endsAt : undefined;
    },
  };
}
