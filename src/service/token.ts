/**
 * The bearer token (contract: "Authentication"): shared by all requests, renewed when less than a quarter of its
 * lifetime is left, by one request at a time. After a failed renewal the next one waits for its backoff.
 */
import { z } from "zod";
import { unlessAborted } from "../lib/abort.ts";
import { backoffMs } from "../lib/backoff.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { tryJson } from "../lib/json-values.ts";
import type { Redactor } from "../lib/redact.ts";
import { ServiceError, withinDeadline } from "./errors.ts";
import { isAccepted, type SendRequest, type ServiceReply } from "./http.ts";
import type { ServiceSettings } from "./model.ts";
import { quotedReason, refusalOf, statedIn } from "./refusal.ts";
import type { ReportDeviation } from "./reporter.ts";

export interface Token {
  readonly value: string;
  /** Undefined where neither `expires_in` nor the JWT has it: the token is used until refused. */
  readonly expiresAt: Instant | undefined;
  /** The time at which the next one is to be fetched. */
  readonly renewAt: Instant | undefined;
}

export type TokenSource = ReturnType<typeof createTokenSource>;

/** The end of a renewal. */
export type Renewal = { readonly token: Token } | { readonly error: ServiceError };

interface TokenSourceDeps {
  readonly config: Pick<ServiceSettings, "authUrl" | "clientId" | "clientSecret" | "audience" | "requestTimeoutMs">;
  readonly sendRequest: SendRequest;
  readonly clock: Clock;
  readonly random: () => number;
  readonly redactor: Redactor;
  readonly report: ReportDeviation;
  /** Cancels a renewal in flight. */
  readonly closing: AbortSignal;
  readonly onRenewal: (renewal: Renewal, seconds: number) => void;
}

const RENEWAL_SHARE = 0.25;
/** Upper limit of a token's lifetime, whatever the issuer states. */
const MAX_LIFETIME_MS = 365 * 86_400_000;
const BACKOFF = { baseMs: 500, capMs: 10_000 };

export function createTokenSource(deps: TokenSourceDeps) {
  let current: Token | undefined;
  let renewal: Promise<Token> | undefined;
  let failed: { error: ServiceError; until: Instant; count: number } | undefined;

  async function renew(): Promise<Token> {
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1000;
    try {
      current = await fetchToken(deps);
      failed = undefined;
      deps.onRenewal({ token: current }, seconds());
      return current;
    } catch (thrown) {
      const error = thrown as ServiceError;
      const count = (failed?.count ?? 0) + 1;
      const waitMs = error.retryAfterMs ?? backoffMs(BACKOFF, count, deps.random);
      failed = { error, until: deps.clock.now() + waitMs, count };
      deps.onRenewal({ error }, seconds());
      throw error;
    } finally {
      renewal = undefined;
    }
  }

  async function renewOnce(): Promise<Token> {
    if (failed && deps.clock.now() < failed.until) throw failed.error;
    renewal ??= renew();
    return renewal;
  }

  return {
    /** The token to use now, never the one it is `replacing`. Throws ServiceError, or the signal's reason. */
    async get(signal: AbortSignal, replacing?: Token): Promise<Token> {
      const now = deps.clock.now();
      const usable = current && current !== replacing && (current.expiresAt === undefined || now < current.expiresAt);
      if (!current || !usable) return unlessAborted(renewOnce(), signal);
      // Still valid, so the call does not wait; a failed renewal shows when the token has expired.
      if (current.renewAt !== undefined && now >= current.renewAt) renewOnce().catch(() => {});
      return current;
    },
    /** Marks a token as refused by the service: `get` does not return it again. */
    refuse(token: Token): void {
      if (current === token) current = undefined;
    },
  };
}

const TokenReply = z.object({
  // A header takes visible ASCII only.
  access_token: z
    .string()
    .max(16_384)
    .regex(/^[\x21-\x7e]+$/),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
});

async function fetchToken({ config, sendRequest, clock, redactor, closing, report }: TokenSourceDeps): Promise<Token> {
  const what = "The token request";
  const json = {
    client_id: config.clientId,
    client_secret: config.clientSecret,
    audience: config.audience,
    grant_type: "client_credentials",
  };
  return withinDeadline({ what, ms: config.requestTimeoutMs, signals: [closing] }, async (signal) => {
    const reply = await sendRequest({ method: "POST", url: `${config.authUrl}/oauth/token`, json }, signal);
    if (!isAccepted(reply)) throw await refusalByIssuer(what, reply, { now: clock.now(), redactor });
    const { data } = TokenReply.safeParse(tryJson(await reply.text()));
    if (!data) {
      throw new ServiceError("bad_payload", "The token issuer's reply has no access_token: check service.auth_url.");
    }
    redactor.add(data.access_token);
    return withExpiry(data.access_token, data.expires_in, clock.now(), report);
  });
}

async function refusalByIssuer(what: string, reply: ServiceReply, context: { now: Instant; redactor: Redactor }) {
  const { status } = reply;
  if (![400, 401, 403, 404].includes(status)) return refusalOf(what, reply, context);
  const { reason } = statedIn(await reply.excerpt(), context.redactor);
  const check = "check service.auth_url, service.client_id, service.client_secret and service.audience";
  return new ServiceError("auth", `The token issuer answered ${status}${quotedReason(reason)}: ${check}.`, { status });
}

/** A clock may be wrong: an expiry in the past is not believed, or a token would be fetched for each request. */
function withExpiry(value: string, expiresIn: number | undefined, now: Instant, report: ReportDeviation): Token {
  const stated = expiresIn === undefined ? jwtExpiries(value, now) : [now + expiresIn * 1000];
  if (stated.some((at) => at <= now)) report("bad_token_expiry");
  const expiresAt = Math.min(...stated.filter((at) => at > now), now + MAX_LIFETIME_MS);
  if (!stated.some((at) => at > now)) return { value, expiresAt: undefined, renewAt: undefined };
  return { value, expiresAt, renewAt: expiresAt - (expiresAt - now) * RENEWAL_SHARE };
}

const Seconds = z.number().positive().finite();
const Claims = z.object({ exp: Seconds, iat: Seconds.optional().catch(undefined) });

/** `exp` of a JWT by our clock, and by its distance from `iat` (RFC 7519, 4.1), not verified: for the renewal only. */
function jwtExpiries(token: string, now: Instant): Instant[] {
  const claims = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
  const { data } = Claims.safeParse(tryJson(claims));
  if (!data) return [];
  const { exp, iat } = data;
  return [exp * 1000, ...(iat !== undefined && iat < exp ? [now + (exp - iat) * 1000] : [])];
}
