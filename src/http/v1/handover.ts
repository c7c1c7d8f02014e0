/** `/api/v1/handover`: what one shift tells the next, and its notes. */
import { IANAZone } from "luxon";
import { z } from "zod";
import { personOf } from "../../alerting/audit.ts";
import { plainText } from "../../alerting/document.ts";
import { DAY_MS } from "../../lib/clock.ts";
import { HttpError } from "../errors.ts";
import { boundedText, instant, isoTime } from "../query.ts";
import { operation, timeSchema } from "./operation.ts";

const DEFAULT_MS = 12 * 3_600_000;
const LONGEST_MS = 7 * DAY_MS;
const NOTE_CHARACTERS = 1_000;

/** An IANA zone; by default the configured one, or UTC. */
export const timezoneParameter = z
  .string({ error: "expected one time zone" })
  .max(64, "expected an IANA time zone such as Europe/London")
  .refine((zone) => IANAZone.isValidZone(zone), "expected an IANA time zone such as Europe/London")
  .optional();

/** The query in a zone: its own, else this one, else UTC. */
export function withZone<Q extends { readonly timezone?: string | undefined }>(query: Q, zone: string | undefined) {
  return { ...query, timezone: query.timezone ?? zone ?? "UTC" };
}

export const ApiHandover = z
  .strictObject({ from: timeSchema, to: timeSchema, title: z.string(), text: z.string().describe("Plain text.") })
  .readonly();

export const getHandover = operation({
  id: "getHandover",
  method: "get",
  path: "/api/v1/handover",
  summary: "What one shift tells the next; of the last 12 hours without `since`, of 7 days at most.",
  query: z.strictObject({
    since: instant.optional(),
    until: instant.optional().describe("By default now."),
    timezone: timezoneParameter.describe("Of its times."),
  }),
  answer: ApiHandover,
  async handle(deps, { query: asked }) {
    const query = withZone(asked, deps.config().display?.timezone);
    const now = deps.clock.now();
    const span = handoverSpan({ from: query.since, to: query.until }, now);
    const document = await deps.handover(span, query.timezone);
    return { from: isoTime(span.from), to: isoTime(span.to), title: document.title, text: plainText(document) };
  },
});

/** Throws HttpError `bad_query`. */
export function handoverSpan(
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
  now: number,
) {
  const until = Math.min(to ?? now, now);
  const since = from ?? until - DEFAULT_MS;
  if (since >= until) throw new HttpError("bad_query", "since: expected a time before `until`, and before now.");
  if (until - since > LONGEST_MS) throw new HttpError("bad_query", "since: expected 7 days before `until` at most.");
  return { from: since, to: until };
}

export const addShiftNote = operation({
  id: "addShiftNote",
  method: "post",
  path: "/api/v1/handover/notes",
  summary: "Adds a note for the next shift, which handovers have.",
  scope: "silence",
  body: z.strictObject({
    author: boundedText(200).min(1, "expected a name").optional().describe("By default, the name of the token."),
    text: boundedText(NOTE_CHARACTERS).trim().min(1, "expected a text"),
  }),
  answer: z.strictObject({ at: timeSchema, author: z.string(), text: z.string() }),
  async handle(deps, { body: { author = undefined, text }, by }) {
    const note = { at: deps.clock.now(), author: author ?? personOf(by), text };
    await deps.addShiftNote(note, by);
    return { ...note, at: isoTime(note.at) };
  },
});
