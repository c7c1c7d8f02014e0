/** `GET /healthz` and `GET /readyz`, open to everybody: orchestrators bring no token, and no name is told here. */
import type { FastifyInstance } from "fastify";
import { withDeadline } from "../lib/closer.ts";
import type { HttpDeps } from "./deps.ts";
import type { Readiness } from "./readiness.ts";

const READY_DEADLINE_MS = 800;

type Deps = Pick<HttpDeps, "ready" | "readyDeadlineMs">;

export function healthRoutes(app: FastifyInstance, deps: Deps): void {
  app.get("/healthz", { config: { open: true } }, (_request, reply) => reply.type("text/plain").send("ok\n"));

  app.get("/readyz", { config: { open: true } }, async (_request, reply) => {
    const readiness = await readinessInTime(deps);
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
}

/** What is slow to be told counts as not ready. */
export async function readinessInTime({
  ready,
  readyDeadlineMs,
}: Pick<HttpDeps, "ready" | "readyDeadlineMs">): Promise<Readiness> {
  try {
    return await withDeadline(ready(), readyDeadlineMs ?? READY_DEADLINE_MS);
  } catch {
    return {
      ready: false,
      reasons: ["Whether lenswatch is ready could not be told in time; Redis may be slow or away."],
      notes: [],
    };
  }
}
