/** Probes of orchestrators, of Prometheus' and of Alertmanager's clients, and the reload of the configuration. */
import type { FastifyInstance } from "fastify";
import { withDeadline } from "../lib/closer.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import type { Readiness } from "./readiness.ts";

const READY_DEADLINE_MS = 800;

type Deps = Pick<HttpDeps, "ready" | "readyDeadlineMs" | "reload">;

/** Probes need no token and name nothing of the fleet. GET answers HEAD too. */
export function lifecycleRoutes(app: FastifyInstance, deps: Deps): void {
  const open = { config: { open: true } };
  app.get("/healthz", open, (_request, reply) => reply.type("text/plain").send("ok\n"));
  app.get("/-/healthy", open, (_request, reply) => reply.type("text/plain").send("OK"));

  app.get("/readyz", open, async (_request, reply) => {
    const readiness = await readinessInTime(deps);
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });

  app.get("/-/ready", open, async (_request, reply) => {
    const { ready, reasons } = await readinessInTime(deps);
    reply.code(ready ? 200 : 503).type("text/plain");
    return reply.send(ready ? "OK" : reasons.join("\n"));
  });

  app.post("/-/reload", { config: { admin: true } }, async (_request, reply) => {
    if (!deps.reload)
      throw new HttpError("bad_config", "This lenswatch was not started from a file that it could reload.");
    const result = await deps.reload();
    if (result.outcome === "refused") {
      const problems = result.problems.join("\n");
      throw new HttpError("bad_config", `The configuration was refused; the previous one stays active.\n${problems}`);
    }
    return reply.type("text/plain").send("OK");
  });
}

/** Not ready where the answer takes too long. */
async function readinessInTime({ ready, readyDeadlineMs = READY_DEADLINE_MS }: Deps): Promise<Readiness> {
  const late = "The readiness check did not finish in time; Redis may be slow or unreachable.";
  return withDeadline(ready(), readyDeadlineMs).catch(() => ({ ready: false, reasons: [late], notes: [] }));
}
