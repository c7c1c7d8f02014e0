/** Alertmanager's and Prometheus' paths for probes, and for loading the configuration anew. */
import type { FastifyInstance } from "fastify";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { readinessInTime } from "./health-routes.ts";

type Deps = Pick<HttpDeps, "ready" | "readyDeadlineMs" | "loadAnew">;

/** GET answers HEAD too. */
export function lifecycleRoutes(app: FastifyInstance, deps: Deps): void {
  app.get("/-/healthy", { config: { open: true } }, (_request, reply) => reply.type("text/plain").send("OK"));

  app.get("/-/ready", { config: { open: true } }, async (_request, reply) => {
    const { ready, reasons } = await readinessInTime(deps);
    return reply
      .code(ready ? 200 : 503)
      .type("text/plain")
      .send(ready ? "OK" : reasons.join("\n"));
  });

  app.post("/-/reload", { config: { admin: true } }, async (_request, reply) => {
    if (!deps.loadAnew) {
      throw new HttpError(
        "bad_config",
        "This lenswatch was not started from a file that it could load anew.",
      );
    }
    const loaded = await deps.loadAnew();
    if (loaded.outcome === "refused") {
      const problems = loaded.problems.join("\n");
      throw new HttpError(
        "bad_config",
        `The configuration was refused; the one before stays in force.\n${problems}`,
      );
    }
    return reply.type("text/plain").send("OK");
  });
}
