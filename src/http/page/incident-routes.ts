/** Buttons for all alerts of an incident: the present state decides which ones they mean, not the form. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { parseMatchers } from "../../alerting/matcher.ts";
import { alertsMeant } from "../../alerting/overview.ts";
import { silencesFor } from "../../alerting/prepared-silence.ts";
import { undoneTogether } from "../../alerting/silence.ts";
import type { Alert } from "../../health/alert.ts";
import { DAY_MS } from "../../lib/clock.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { authorOf, originOf } from "../principal.ts";
import { parseRequestBody } from "../query.ts";
import { undoOneSilence } from "../v1/acknowledgement.ts";
import { incidentLink } from "./links.ts";
import { inTime, readPageData } from "./page-data.ts";
import { pathWithin } from "./sign-in.ts";
import { SilenceFields } from "./silence-request.ts";

const IncidentFields = z.object({
  incident: z.string({ error: "expected an incident: reload the page" }).max(20),
  /** The instant that the page was made: what fired later was not on it. */
  seen: z.coerce.number().int().min(0),
  /** The path, from `/` on, of the page of the button. */
  back: z.string().max(2_048).catch(""),
});
const SilencedFields = IncidentFields.extend({ comment: SilenceFields.shape.comment });
const UndoneFields = IncidentFields.pick({ incident: true });

const SILENCE_MS = 3_600_000;
const MOST_SILENCES = 100;
/** The first alert of an incident, which gives it its id, may have ended days before the others. */
const SEARCHED_MS = 90 * DAY_MS;

export function incidentButtons(app: FastifyInstance, deps: HttpDeps): void {
  const button = { config: { page: "../", form: true, scope: "silence" } } as const;

  app.post("/incidents/ack", button, async (request, reply) => {
    const fields = parseRequestBody(IncidentFields, request.body);
    const alerts = await meantBy(fields, deps);
    // An acknowledgement that came first stays.
    const first = { author: authorOf(request.principal), comment: "", isFirst: true };
    await deps.acknowledgeEach(alerts, first, originOf(request));
    return reply.redirect(`../${pathWithin(fields.back)}`, 303);
  });

  app.post("/incidents/silence", button, async (request, reply) => {
    const { comment, ...fields } = parseRequestBody(SilencedFields, request.body);
    const alerts = await meantBy(fields, deps);
    const [endsAt, createdBy] = [deps.clock.now() + SILENCE_MS, authorOf(request.principal)];
    const annotations = { incident: fields.incident };
    const rest = { id: undefined, startsAt: undefined, endsAt, createdBy, comment, annotations };
    for (const text of silencesFor(alerts).slice(0, MOST_SILENCES)) {
      const set = await deps.setSilence({ ...rest, matchers: parseMatchers(text) }, originOf(request));
      if (set.outcome === "refused") throw new HttpError("bad_body", `Not all were silenced: ${set.why}.`);
    }
    return reply.redirect(`../${pathWithin(fields.back)}`, 303);
  });

  app.post("/incidents/undo", button, async (request, reply) => {
    const { incident } = parseRequestBody(UndoneFields, request.body);
    const own = (await deps.silences()).filter(({ annotations }) => annotations.incident === incident);
    const set = undoneTogether(own, deps.clock.now());
    if (set.length === 0) throw new HttpError("not_found", "Nothing was silenced here in the last 15 minutes.");
    for (const { id } of set) await undoOneSilence(deps, id, originOf(request));
    return reply.redirect(incidentLink("../", incident), 303);
  });
}

/** Throws HttpError where the form means nothing that needs somebody now. */
async function meantBy({ incident, seen }: z.infer<typeof IncidentFields>, deps: HttpDeps): Promise<readonly Alert[]> {
  const data = await readPageData(deps);
  const late = alertsMeant(incident, seen, data);
  const stored = late.length > 0 ? [] : await inTime(deps.episodes(data.moment.now - SEARCHED_MS), deps);
  const alerts = late.length > 0 ? late : alertsMeant(incident, seen, { ...data, ended: stored });
  if (alerts.length === 0) throw new HttpError("not_found", "These alerts have ended or are taken care of already.");
  return alerts;
}
