/** Probes of orchestrators, of Prometheus' and of Alertmanager's clients, and the reload of the configuration. */
import type { FastifyInstance } from "fastify";
import { withDeadline } from "../lib/closer.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { limitsOf } from "./limits.ts";
import { originOf } from "./principal.ts";
import type { Readiness } from "./readiness.ts";

const READY_KEPT_MS = 250;

type Deps = Pick<HttpDeps, "ready" | "limits" | "reload">;

/** Probes need no token and name nothing of the fleet. GET answers HEAD too. */
export function probeRoutes(app: FastifyInstance, deps: Deps): void {
  const open = { config: { open: true } };
  const ready = sharedReadiness(deps);
  app.get("/healthz", open, (_request, reply) => reply.type("text/plain").send("ok\n"));
  app.get("/-/healthy", open, (_request, reply) => reply.type("text/plain").send("OK"));

  app.get("/readyz", open, async (_request, reply) => {
    const readiness = await ready();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });

  app.get("/-/ready", open, async (_request, reply) => {
    const { ready: isReady, reasons } = await ready();
    reply.code(isReady ? 200 : 503).type("text/plain");
    return reply.send(isReady ? "OK" : reasons.join("\n"));
  });
}

/** Probes and the reload. */
export function lifecycleRoutes(app: FastifyInstance, deps: Deps): void {
  probeRoutes(app, deps);
  app.post("/-/reload", { config: { scope: "admin" } }, async (request, reply) => {
    if (!deps.reload)
      throw new HttpError("bad_config", "This lenswatch was not started from a file that it could reload.");
    const result = await deps.reload(originOf(request));
    if (result.outcome === "refused") {
      const problems = result.problems.join("\n");
      throw new HttpError("bad_config", `The configuration was refused; the previous one stays active.\n${problems}`);
    }
    return reply.type("text/plain").send("OK");
  });
}

/** Readiness, asked for once for all probes of a moment. */
function sharedReadiness(deps: Deps): () => Promise<Readiness> {
  let asked: { readonly at: number; readonly readiness: Promise<Readiness> } | undefined;
  return () => {
    const at = performance.now();
    if (!asked || at - asked.at >= READY_KEPT_MS) asked = { at, readiness: readinessInTime(deps) };
    return asked.readiness;
  };
}

async function readinessInTime(deps: Deps): Promise<Readiness> {
  const late = "The readiness check did not finish in time; Redis may be slow or unreachable.";
  return withDeadline(deps.ready(), limitsOf(deps).readyMs).catch(() => ({ ready: false, reasons: [late], notes: [] }));
}
