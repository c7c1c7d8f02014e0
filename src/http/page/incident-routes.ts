/** Buttons for all alerts of an incident: the present state decides which ones they mean, not the form. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { parseMatchers } from "../../alerting/matcher.ts";
import { alertsMeant } from "../../alerting/overview.ts";
import { silencesFor } from "../../alerting/prepared-silence.ts";
import { phraseOf } from "../../alerting/words.ts";
import type { Alert } from "../../health/alert.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { authorOf, originOf } from "../principal.ts";
import { readFields } from "./field.ts";
import { readPageData } from "./page-data.ts";

const IncidentFields = z.object({
  incident: z.string().max(20),
  /** The instant that the page was made: what fired later was not on it. */
  seen: z.coerce.number().int().min(0),
});

const SILENCE_MS = 3_600_000;
const MOST_SILENCES = 100;

export function incidentButtons(app: FastifyInstance, deps: HttpDeps): void {
  const button = { config: { page: "../", form: true, scope: "silence" } } as const;

  app.post("/incidents/ack", button, async (request, reply) => {
    const alerts = await meantBy(request, deps);
    // An acknowledgement that came first stays.
    const first = { author: authorOf(request.principal), comment: "", isFirst: true };
    await deps.acknowledgeEach(alerts, first, originOf(request));
    return reply.redirect("../", 303);
  });

  app.post("/incidents/silence", button, async (request, reply) => {
    const alerts = await meantBy(request, deps);
    const endsAt = deps.clock.now() + SILENCE_MS;
    const comment = `All of an incident: ${phraseOf(alerts)}`;
    const rest = {
      id: undefined,
      startsAt: undefined,
      endsAt,
      createdBy: authorOf(request.principal),
      annotations: {},
    };
    for (const text of silencesFor(alerts).slice(0, MOST_SILENCES)) {
      const set = await deps.setSilence({ ...rest, matchers: parseMatchers(text), comment }, originOf(request));
      if (set.outcome === "refused") throw new HttpError("bad_body", `Not all were silenced: ${set.why}.`);
    }
    return reply.redirect("../", 303);
  });
}

/** Throws HttpError where the form names nothing that needs somebody now. */
async function meantBy(request: FastifyRequest, deps: HttpDeps): Promise<readonly Alert[]> {
  const read = readFields(IncidentFields, request.body);
  if ("problem" in read) throw new HttpError("bad_body", "The form names no incident: reload the page.");
  const alerts = alertsMeant(read.fields.incident, read.fields.seen, await readPageData(deps));
  if (alerts.length === 0) throw new HttpError("not_found", "These alerts have ended or are taken care of already.");
  return alerts;
}
