/** Alertmanager's API v2: `amtool`, Karma, Grafana and Prometheus ask here. */
import type { FastifyInstance } from "fastify";
import type { HttpDeps } from "./deps.ts";
import { parseQuery } from "./query.ts";
import { alertRoutes } from "./v2/alert-routes.ts";
import { gettableReceivers, ReceiversQuery } from "./v2/receivers.ts";
import { silenceRoutes } from "./v2/silence-routes.ts";
import { alertmanagerStatus } from "./v2/status.ts";

export const API_V2 = "/api/v2/";

type Deps = Pick<HttpDeps, "config" | "clock" | "version"> &
  Parameters<typeof silenceRoutes>[2] &
  Parameters<typeof alertRoutes>[2];

export function apiV2(app: FastifyInstance, deps: Deps): void {
  const startedAt = deps.clock.now();

  app.get(`${API_V2}status`, () =>
    alertmanagerStatus({
      config: deps.config(),
      version: deps.version,
      startedAt,
    }),
  );

  app.get(`${API_V2}receivers`, ({ query }, reply) => {
    const parsed = parseQuery(ReceiversQuery, query);
    return reply.send(gettableReceivers(deps.config().receivers, parsed));
  });

  silenceRoutes(app, API_V2, deps);
  alertRoutes(app, API_V2, deps);
}
