/** Alertmanager's API v2: `amtool`, Karma and Grafana ask here. */
import type { FastifyInstance } from "fastify";
import { inChunks, runBreathing } from "../lib/breathe.ts";
import type { HttpDeps } from "./deps.ts";
import { parseQuery } from "./query.ts";
import { bodyOf } from "./stream.ts";
import { AlertsQuery, GroupsQuery } from "./v2/alert-query.ts";
import { gettableAlerts, jsonList } from "./v2/alerts.ts";
import { alertGroups } from "./v2/groups.ts";
import { gettableReceivers, ReceiversQuery } from "./v2/receivers.ts";
import { silenceRoutes } from "./v2/silence-routes.ts";
import { alertmanagerStatus } from "./v2/status.ts";

export const API_V2 = "/api/v2/";

type Deps = Pick<
  HttpDeps,
  "alerts" | "silences" | "setSilence" | "endSilence" | "config" | "clock" | "version" | "externalUrl"
>;

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

  app.get(`${API_V2}alerts`, { exposeHeadRoute: false }, async ({ query }, reply) => {
    const parsed = parseQuery(AlertsQuery, query);
    const context = { now: deps.clock.now(), externalUrl: deps.externalUrl };
    const rows = await runBreathing(gettableAlerts(await deps.alerts(), parsed, context));
    return reply.type("application/json; charset=utf-8").send(bodyOf(inChunks(jsonList(rows))));
  });

  app.get(`${API_V2}alerts/groups`, { exposeHeadRoute: false }, async ({ query }, reply) => {
    const parsed = parseQuery(GroupsQuery, query);
    const { route } = deps.config();
    const context = { now: deps.clock.now(), externalUrl: deps.externalUrl, route };
    const rows = await runBreathing(alertGroups(await deps.alerts(), parsed, context));
    return reply.type("application/json; charset=utf-8").send(bodyOf(inChunks(jsonList(rows))));
  });
}
