/** The faults of an HTTP endpoint, in the order in which a request would meet them. */
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import type { Faults, HttpEndpoint } from "./faults.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Which endpoint of the simulated service a route is. */
    endpoint?: HttpEndpoint;
  }
}

/** A refusal that stands in for the answer. */
export interface FaultRefusal {
  readonly status: number;
  readonly retryAfter?: number | string | undefined;
}

/** Waits out `slow`; gives the refusal where one is on. */
export async function waitOrRefuse(
  faults: Faults,
  endpoint: HttpEndpoint,
  signal: AbortSignal,
): Promise<FaultRefusal | undefined> {
  const slow = faults.take("slow", endpoint);
  if (slow) await delay(slow.ms, undefined, { signal }).catch(() => undefined);
  const limited = faults.take("rate_limited", endpoint);
  if (limited) return { status: 429, retryAfter: limited.retry_after };
  const broken = faults.take("http_error", endpoint);
  return broken && { status: broken.status, retryAfter: broken.retry_after };
}

/** Answers in the endpoint's place where a fault says so; true where it did. */
export async function answeredByFault(
  faults: Faults,
  endpoint: HttpEndpoint,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<boolean> {
  const refusal = await waitOrRefuse(faults, endpoint, signal);
  if (refusal) {
    if (refusal.retryAfter !== undefined) reply.header("retry-after", String(refusal.retryAfter));
    reply.code(refusal.status).send(errorBody("fault", "refused by a simulated fault"));
    return true;
  }
  if (faults.take("connection_reset", endpoint)) {
    reply.hijack();
    reply.raw.destroy();
    return true;
  }
  if (faults.take("http_garbage", endpoint)) {
    reply.code(200).type("text/html").send("<html><body>Bad gateway</body></html>");
    return true;
  }
  const payload = faults.take("error_payload", endpoint);
  if (!payload) return false;
  reply.code(200).send({ [payload.key]: { message: payload.message } });
  return true;
}

export function errorBody(code: string, message: string): { error: { code: string; message: string } } {
  return { error: { code, message } };
}
