/** `POST /alerts/{fingerprint}/ack`, `/withdraw` and `/note`: the forms of an alert. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { type AckOutcome, NOTE_CHARACTERS } from "../../alerting/acknowledgement.ts";
import { parseDuration } from "../../lib/duration.ts";
import { stripControls } from "../../lib/text.ts";
import type { HttpDeps } from "../deps.ts";
import { authorOf, originOf } from "../principal.ts";
import { boundedText, parseRequestBody } from "../query.ts";
import { ackLasting, changedAck } from "../v1/acknowledgement.ts";

const line = (max: number) => boundedText(max).transform((text) => stripControls(text).trim());

/** `for` is empty until the alert resolves. */
const AckForm = z.object({
  comment: line(1_000).default(""),
  for: z
    .literal("")
    .transform(() => undefined)
    .or(ackLasting),
});

const NoteForm = z.object({ text: line(NOTE_CHARACTERS).pipe(z.string().min(1, "expected a text")) });

type AckRequest = FastifyRequest<{ Params: { fingerprint: string } }>;

/** `config` is of every button; `back` leads to the page it was on. */
export function ackRoutes(
  app: FastifyInstance,
  deps: Pick<HttpDeps, "acknowledge" | "withdraw" | "note">,
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
  change("ack", (request, author) => {
    const { comment, for: lasting } = parseRequestBody(AckForm, request.body);
    const forMs = lasting === undefined ? undefined : parseDuration(lasting);
    return deps.acknowledge(request.params.fingerprint, { author, comment, forMs }, originOf(request));
  });
  change("withdraw", (request, author) => deps.withdraw(request.params.fingerprint, originOf(request), author));
  change("note", (request, author) => {
    const { text } = parseRequestBody(NoteForm, request.body);
    return deps.note(request.params.fingerprint, { author, text }, originOf(request));
  });
}
