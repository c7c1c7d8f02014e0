/** The faults of an HTTP endpoint, in the order in which a request would meet them. */
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { SimulatorContext } from "./context.ts";
import type { FaultParams, HttpEndpoint, SocketRoute } from "./faults.ts";
import { errorBody, type Traits } from "./traits.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Which endpoint of the simulated service a route is. */
    endpoint?: HttpEndpoint;
  }
}

type Context = Pick<SimulatorContext, "faults" | "signal" | "traits">;

/** Answers in an endpoint's place where a fault says so. */
export function registerHttpFaults(app: FastifyInstance, context: Context): void {
  app.addHook("preHandler", async (request, reply) => {
    const { endpoint } = request.routeOptions.config;
    return endpoint && (await isAnswered(endpoint, reply, context)) ? reply : undefined;
  });
}

async function isAnswered(endpoint: HttpEndpoint, reply: FastifyReply, context: Context): Promise<boolean> {
  const { faults } = context;
  const refusal = await waitOrRefuse(context, endpoint);
  if (refusal) {
    if (refusal.retry_after !== undefined) reply.header("retry-after", String(refusal.retry_after));
    reply.code(refusal.status).send(errorBody(context.traits, "fault", "refused by a simulated fault"));
    return true;
  }
  if (faults.take("connection_reset", endpoint)) {
    reply.hijack();
    reply.raw.destroy();
    return true;
  }
  const payload = faults.take("error_payload", endpoint);
  if (payload) reply.code(200).send(failureBody(payload, context.traits));
  return payload !== undefined;
}

/** Waits out `slow`; gives the refusal that stands in for the answer, where one is on. */
export async function waitOrRefuse(
  context: Context,
  endpoint: HttpEndpoint,
): Promise<Pick<FaultParams<"http_error">, "status" | "retry_after"> | undefined> {
  await waitOut(context, endpoint);
  const limited = context.faults.take("rate_limited", endpoint);
  return limited ? { ...limited, status: 429 } : context.faults.take("http_error", endpoint);
}

/** Waits out `slow`. */
export async function waitOut({ faults, signal }: Context, endpoint: HttpEndpoint | SocketRoute): Promise<void> {
  const slow = faults.take("slow", endpoint);
  if (slow) await delay(slow.ms, undefined, { signal }).catch(() => undefined);
}

/** An error payload; without a `code`, its key holds the message alone. */
export function failureBody({ key, code, message }: FaultParams<"error_payload">, traits: Traits): object {
  if (code === undefined) return { [key]: { message } };
  const { error, ...rest } = errorBody(traits, code, message);
  return { ...rest, [key]: error };
}
