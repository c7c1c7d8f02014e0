/** The buttons of one alert: acknowledging it, withdrawing that, undoing the last change, and notes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { type AckOutcome, NOTE_CHARACTERS } from "../../alerting/acknowledgement.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Instant } from "../../lib/clock.ts";
import { parseDuration } from "../../lib/duration.ts";
import { parseEta } from "../../lib/moment.ts";
import { stripControls } from "../../lib/text.ts";
import { timesSeenAt } from "../../lib/when.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { authorOf, originOf } from "../principal.ts";
import { boundedText, parseRequestBody } from "../query.ts";
import { ackLasting, changedAck } from "../v1/acknowledgement.ts";
import { readerZone } from "./when.ts";

const line = (max: number) => boundedText(max).transform((text) => stripControls(text).trim());

/** `for` is empty until the alert resolves; the owner is by default who sends it. */
const AckForm = z.object({
  comment: line(1_000).default(""),
  owner: line(200).default(""),
  eta: line(40).default(""),
  for: z
    .literal("")
    .transform(() => undefined)
    .or(ackLasting),
});

const NoteForm = z.object({ text: line(NOTE_CHARACTERS).pipe(z.string().min(1, "expected a text")) });

/** A time to come, in the zone of the alert. Throws HttpError. */
async function etaOf(
  written: string,
  request: AckRequest,
  deps: Pick<HttpDeps, "alerts" | "clock" | "config">,
): Promise<Instant> {
  const now = deps.clock.now();
  const print = request.params.fingerprint;
  const of = (await deps.alerts()).find(({ alert }) => fingerprint(alert.labels) === print);
  const zone = timesSeenAt(now, readerZone(request, deps)).zoneFor(of?.alert.facts.timezone ?? "UTC");
  const eta = parseEta(written, now, zone);
  if (typeof eta === "string") throw new HttpError("bad_body", `ETA: ${eta}.`);
  return eta;
}

type AckRequest = FastifyRequest<{ Params: { fingerprint: string } }>;

/** `config` is of every button; `back` leads to the page it was on. */
export function ackRoutes(
  app: FastifyInstance,
  deps: Pick<HttpDeps, "acknowledge" | "withdraw" | "note" | "undoAck" | "alerts" | "clock" | "config">,
  { config, back }: { config: object; back(request: FastifyRequest, reply: FastifyReply): FastifyReply },
): void {
  const change = (action: string, make: (request: AckRequest, author: string) => Promise<AckOutcome>) =>
    app.post<{ Params: { fingerprint: string } }>(
      `/alerts/:fingerprint/${action}`,
      { config },
      async (request, reply) => {
        changedAck(await make(request, authorOf(request.principal)));
        return back(request, reply);
      },
    );
  change("ack", async (request, person) => {
    const { comment, owner, eta: written, for: lasting } = parseRequestBody(AckForm, request.body);
    const { fingerprint: print } = request.params;
    const forMs = lasting === undefined ? undefined : parseDuration(lasting);
    const eta = written === "" ? undefined : await etaOf(written, request, deps);
    return deps.acknowledge(print, { author: owner || person, comment, forMs, eta }, originOf(request));
  });
  change("withdraw", (request, author) => deps.withdraw(request.params.fingerprint, originOf(request), author));
  change("undo", (request, author) => deps.undoAck(request.params.fingerprint, originOf(request), author));
  change("note", (request, author) => {
    const { text } = parseRequestBody(NoteForm, request.body);
    return deps.note(request.params.fingerprint, { author, text }, originOf(request));
  });
}
