/** The four operations on silences, as Alertmanager's clients call them. */
import type { FastifyInstance } from "fastify";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { parseBody, parseQuery } from "../query.ts";
import { gettableSilence, gettableSilences, PostableSilence, SilencesQuery } from "./silences.ts";

type Deps = Pick<HttpDeps, "silences" | "setSilence" | "endSilence" | "clock">;

/** `base` is the path of the API, with a slash at its end. */
export function silenceRoutes(app: FastifyInstance, base: string, deps: Deps): void {
  app.get(`${base}silences`, async ({ query }) => {
    const parsed = parseQuery(SilencesQuery, query);
    return gettableSilences(await deps.silences(), parsed, deps.clock.now());
  });

  app.post(`${base}silences`, { config: { admin: true } }, async ({ body }) => {
    const wanted = parseBody(PostableSilence, body);
    const set = await deps.setSilence(wanted);
    if (set.outcome === "unknown") throw unknown(wanted.id ?? "");
    if (set.outcome === "refused") throw new HttpError("bad_body", `The silence cannot be had: ${set.why}.`);
    return { silenceID: set.id };
  });

  app.get<{ Params: { id: string } }>(`${base}silence/:id`, async ({ params }) => {
    const found = (await deps.silences()).find(({ id }) => id === params.id);
    if (!found) throw unknown(params.id);
    return gettableSilence(found, deps.clock.now());
  });

  app.delete<{ Params: { id: string } }>(
    `${base}silence/:id`,
    { config: { admin: true } },
    async ({ params }, reply) => {
      if (!(await deps.endSilence(params.id))) throw unknown(params.id);
      return reply.code(200).send();
    },
  );
}

function unknown(id: string): HttpError {
  return new HttpError("not_found", `There is no silence ${JSON.stringify(id.slice(0, 60))}.`);
}
