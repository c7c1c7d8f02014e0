/** Alertmanager's API v2, for `amtool`, Karma, Grafana and Prometheus. */
import type { FastifyInstance } from "fastify";
import { namesFrom } from "../alerting/incident-words.ts";
import { alertmanagerVersion } from "../alerting/route.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { originOf } from "./principal.ts";
import { isoTime, parseQuery, parseRequestBody } from "./query.ts";
import { type AlertRoutesDeps, alertRoutes } from "./v2/alert-routes.ts";
import { isReceiverWanted, ReceiversQuery } from "./v2/alerts.ts";
import { alertmanagerConfig } from "./v2/config-original.ts";
import { gettableSilence, gettableSilences, PostableSilence, SilencesQuery } from "./v2/silences.ts";

export const API_V2 = "/api/v2/";

type Deps = AlertRoutesDeps & Pick<HttpDeps, "version" | "overview" | "silences" | "setSilence" | "endSilence">;

export function apiV2(app: FastifyInstance, deps: Deps): void {
  const startedAt = deps.clock.now();
  const unset = { branch: "", buildUser: "", buildDate: "", goVersion: "" };
  const versionInfo = { version: alertmanagerVersion, revision: `lenswatch ${deps.version}`, ...unset };

  // `amtool` asks for it before every command. There is no cluster of Alertmanagers: `disabled`, without peers.
  app.get(`${API_V2}status`, () => ({
    cluster: { status: "disabled", peers: [] },
    versionInfo,
    config: { original: alertmanagerConfig(deps.config()) },
    uptime: isoTime(startedAt),
  }));

  app.get(`${API_V2}receivers`, async ({ query }) => {
    const parsed = parseQuery(ReceiversQuery, query);
    const wanted = deps.config().receivers.filter(({ name }) => isReceiverWanted(name, parsed));
    return wanted.map(({ name }) => ({ name, labels: {} }));
  });

  silenceRoutes(app, deps);
  alertRoutes(app, API_V2, deps);
}

function silenceRoutes(app: FastifyInstance, deps: Deps): void {
  const names = async () => namesFrom((await deps.overview()).inventory);

  app.get(`${API_V2}silences`, async ({ query }) => {
    const parsed = parseQuery(SilencesQuery, query);
    return gettableSilences(await deps.silences(), parsed, deps.clock.now(), await names());
  });

  app.post(`${API_V2}silences`, { config: { scope: "silence" } }, async (request) => {
    const wanted = parseRequestBody(PostableSilence, request.body);
    const result = await deps.setSilence(wanted, originOf(request));
    if (result.outcome === "unknown") throw unknownSilence(wanted.id ?? "");
    if (result.outcome === "refused") throw new HttpError("bad_body", `The silence was refused: ${result.why}.`);
    return { silenceID: result.id };
  });

  const path = `${API_V2}silence/:id`;
  app.get<{ Params: { id: string } }>(path, async ({ params: { id } }) => {
    const found = (await deps.silences()).find((silence) => silence.id === id);
    if (!found) throw unknownSilence(id);
    return gettableSilence(found, deps.clock.now(), await names());
  });

  const silencing = { config: { scope: "silence" } } as const;
  app.delete<{ Params: { id: string } }>(path, silencing, async (request, reply) => {
    const { id } = request.params;
    if (!(await deps.endSilence(id, originOf(request)))) throw unknownSilence(id);
    return reply.code(200).send();
  });
}

function unknownSilence(id: string): HttpError {
  return new HttpError("not_found", `There is no silence ${JSON.stringify(id.slice(0, 60))}.`);
}
