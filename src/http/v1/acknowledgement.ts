/** `/api/v1/alerts/{fingerprint}/ack`: acknowledging an alert that fires, withdrawing that, and notes. */
import { z } from "zod";
import { type AckOutcome, MOST_NOTES, NOTE_CHARACTERS } from "../../alerting/acknowledgement.ts";
import { type AuditOrigin, personOf } from "../../alerting/audit.ts";
import { parseDuration } from "../../lib/duration.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { boundedText, instant, isoTime } from "../query.ts";
import { operation, timeSchema } from "./operation.ts";

const LONGEST_MS = 365 * 86_400_000;

const author = boundedText(200).min(1, "expected a name").optional().describe("By default, the name of the token.");

/** The duration of an acknowledgement, as text. */
export const ackLasting = boundedText(40)
  .refine((text) => {
    const ms = parseDuration(text);
    return ms !== undefined && ms > 0 && ms <= LONGEST_MS;
  }, "expected a duration such as 30m, 2h or 1d12h, of a year at most")
  .optional()
  .describe("How long, such as `2h`; by default until the alert resolves.");

const changed = {
  fingerprint: z.string(),
  alerts: z.int().min(1).describe("How many firing alerts have the fingerprint."),
  author: z.string(),
};

export const acknowledge = operation({
  id: "acknowledge",
  method: "post",
  path: "/api/v1/alerts/{fingerprint}/ack",
  summary:
    "Stops reminders of a firing alert, or of those of an incident by its id, until they resolve or for a while; their end is still notified.",
  scope: "silence",
  body: z
    .strictObject({
      author: author.describe("The owner of the alert from now on; by default, the name of the token."),
      comment: boundedText(4_000).default(""),
      for: ackLasting,
      eta: instant.optional().describe("When the owner expects to be done."),
    })
    .prefault({}),
  answer: z.strictObject({
    ...changed,
    comment: z.string(),
    until: timeSchema.nullable().describe("null: until the alert resolves."),
    eta: timeSchema.nullable(),
    replaced: z.string().nullable().describe("Author of the acknowledgement that it took over from."),
  }),
  async handle(deps, { param: fingerprint, body, by }) {
    const { author = personOf(by), comment, eta } = body;
    const forMs = body.for === undefined ? undefined : parseDuration(body.for);
    const { alerts, before, after } = changedAck(
      await deps.acknowledge(fingerprint, { author, comment, forMs, eta }, by),
    );
    const replaced = before && before.author !== author ? before.author : null;
    return { fingerprint, alerts, author, comment, until: isoTime(after?.until), eta: isoTime(after?.eta), replaced };
  },
});

export const withdraw = operation({
  id: "withdraw",
  method: "delete",
  path: "/api/v1/alerts/{fingerprint}/ack",
  summary: "Withdraws the acknowledgement of a firing alert; its reminders resume.",
  scope: "silence",
  query: z.strictObject({ author }),
  answer: z.strictObject(changed),
  async handle(deps, { param: fingerprint, query, by }) {
    const { author = personOf(by) } = query;
    const { alerts } = changedAck(await deps.withdraw(fingerprint, by, author));
    return { fingerprint, alerts, author };
  },
});

export const undoAcknowledgement = operation({
  id: "undoAcknowledgement",
  method: "post",
  path: "/api/v1/alerts/{fingerprint}/ack/undo",
  summary:
    "Restores what was before the last change of the acknowledgement, for 15 minutes after it: of an incident, all that it changed.",
  scope: "silence",
  body: z.strictObject({ author }).prefault({}),
  answer: z.strictObject(changed),
  async handle(deps, { param: fingerprint, body, by }) {
    const { author = personOf(by) } = body;
    const { alerts } = changedAck(await deps.undoAck(fingerprint, by, author));
    return { fingerprint, alerts, author };
  },
});

export const undoSilence = operation({
  id: "undoSilence",
  method: "post",
  path: "/api/v1/silences/{id}/undo",
  summary: "Restores what was before the last change of a silence, for 15 minutes after it; a new one expires.",
  scope: "silence",
  answer: z.strictObject({ silenceId: z.string() }),
  async handle(deps, { param: silenceId, by }) {
    await undoOneSilence(deps, silenceId, by);
    return { silenceId };
  },
});

/** Throws HttpError where nothing was changed. */
export async function undoOneSilence(deps: Pick<HttpDeps, "undoSilence">, id: string, by: AuditOrigin): Promise<void> {
  const outcome = await deps.undoSilence(id, by);
  if (outcome === "unknown") throw new HttpError("not_found", "There is no such silence.");
  if (outcome === "too_late") throw new HttpError("bad_body", TOO_LATE);
}

const TOO_LATE =
  "There was no change in the last 15 minutes that could be undone: expire the silence, or withdraw the acknowledgement.";

export const note = operation({
  id: "note",
  method: "post",
  path: "/api/v1/alerts/{fingerprint}/ack/notes",
  summary: "Adds a note to the acknowledgement of a firing alert, for others to read.",
  scope: "silence",
  body: z.strictObject({ author, text: boundedText(NOTE_CHARACTERS).trim().min(1, "expected a text") }),
  answer: z.strictObject({ ...changed, text: z.string() }),
  async handle(deps, { param: fingerprint, body: { author: given, text }, by }) {
    const author = given ?? personOf(by);
    const { alerts } = changedAck(await deps.note(fingerprint, { author, text }, by));
    return { fingerprint, alerts, author, text };
  },
});

/** Throws HttpError where nothing was changed. */
export function changedAck(made: AckOutcome): Extract<AckOutcome, { outcome: "done" }> {
  switch (made.outcome) {
    case "done":
      return made;
    case "not_firing":
      throw new HttpError(
        "not_found",
        "No firing alert has this fingerprint, or is in this incident; it may have resolved.",
      );
    case "not_acknowledged":
      throw new HttpError("not_found", "The alert is not acknowledged.");
    case "too_late":
      throw new HttpError("bad_body", TOO_LATE);
    case "too_many_notes":
      throw new HttpError("bad_body", `The acknowledgement has ${MOST_NOTES} notes already.`);
  }
}
