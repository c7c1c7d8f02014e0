/** `POST /oauth/token`: OAuth 2.0 client credentials (contract: "Authentication"). */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Faults } from "./faults.ts";
import { answeredByFault } from "./http-faults.ts";
import type { Tokens } from "./tokens.ts";

const TokenRequest = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  audience: z.string(),
  grant_type: z.string(),
});

export interface IssuerDeps {
  readonly faults: Faults;
  readonly tokens: Tokens;
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
    return reply.header("cache-control", "no-store").send({
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
