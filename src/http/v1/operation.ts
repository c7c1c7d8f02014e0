/** An operation of `/api/v1`: one declaration from which its route and its OpenAPI description are made. */
import { z } from "zod";
import type { StoredAcknowledgement } from "../../alerting/acknowledgement.ts";
import { attentions, attentionTo } from "../../alerting/attention.ts";
import type { AuditOrigin } from "../../alerting/audit.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { AlertState, AlertStates } from "../../health/alert-machine.ts";
import type { ActiveAlert, HttpDeps } from "../deps.ts";
import type { Scope } from "../principal.ts";
import { isoTime } from "../query.ts";

export interface Operation<Q extends z.ZodObject = z.ZodObject, B extends z.ZodType = z.ZodType> {
  readonly id: string;
  readonly method: "get" | "post" | "delete";
  /** The path as OpenAPI writes it: `/api/v1/recordings/{id}/timeline`. */
  readonly path: string;
  readonly summary: string;
  readonly query?: Q;
  readonly body?: B;
  readonly answer: z.ZodType;
  /** `read` by default. */
  readonly scope?: Scope;
  /** The lane of admission; by its method by default. */
  readonly lane?: "reports";
  /** Answers a request whose query and body were parsed. */
  handle(deps: HttpDeps, request: ParsedRequest<Q, B>): Promise<unknown>;
}

interface ParsedRequest<Q extends z.ZodObject, B extends z.ZodType> {
  readonly query: z.infer<Q>;
  readonly body: z.infer<B>;
  /** The parameter of the path, where it has one. */
  readonly param: string;
  readonly by: AuditOrigin;
  /** For reads: aborted once the client has left or the deadline is over. */
  readonly signal: AbortSignal;
}

/** Infers the types of the query and the body from their schemas. */
export function operation<Q extends z.ZodObject = z.ZodObject, B extends z.ZodType = z.ZodType>(
  declared: Operation<Q, B>,
): Operation {
  return declared as unknown as Operation;
}

/** An instant in answers: ISO 8601 in UTC with milliseconds. */
export const timeSchema = z.iso.datetime({ precision: 3 });

/** A page of such rows, after what else the answer has. */
export function pageSchema<R extends z.ZodType, M extends z.ZodRawShape>(row: R, more: M) {
  return z
    .strictObject({
      ...more,
      items: z.array(row).readonly(),
      nextCursor: z.string().nullable().describe("For `cursor` of the next request; null on the last page."),
    })
    .readonly();
}

const AckNote = z.strictObject({ author: z.string(), text: z.string(), at: timeSchema }).readonly();

export const AckRow = z
  .strictObject({
    author: z.string(),
    comment: z.string(),
    at: timeSchema,
    until: timeSchema.nullable().describe("null: until the alert resolves."),
    eta: timeSchema.nullable().describe("When the author expects to be done."),
    notes: z.array(AckNote).readonly(),
  })
  .readonly();

/** An alert of one recording or location. */
export const AlertRow = z
  .strictObject({
    alertname: z.string(),
    severity: z.string().nullable(),
    state: z.enum(["pending", "firing"]),
    since: timeSchema,
    attention: z
      .enum(attentions)
      .nullable()
      .describe("`needed`, or what is done about it or why nobody is needed; null while it is pending."),
    acknowledgement: AckRow.nullable().describe("null: nobody's is in force."),
    maintenance: z.string().nullable().describe("The name of the `maintenance` that suppresses it."),
  })
  .readonly();

/** By fingerprint, alerts that fire and are suppressed or acknowledged. */
export type HandledAlerts = ReadonlyMap<string, ActiveAlert>;

/** The alerts of these that need nobody. */
export function handledAmong(active: Iterable<ActiveAlert>): HandledAlerts {
  const handled = [...active].filter((one) => attentionTo(one) !== "needed");
  return new Map(handled.map((one) => [fingerprint(one.alert.labels), one]));
}

/** The same of all alerts. */
export async function readHandled({ alerts }: Pick<HttpDeps, "alerts">): Promise<HandledAlerts> {
  return handledAmong(await alerts());
}

/** An acknowledgement as the API has it. */
export function ackRow({ author, comment, at, until, eta, notes = [] }: StoredAcknowledgement): z.infer<typeof AckRow> {
  const shown = notes.map((one) => ({ ...one, at: isoTime(one.at) }));
  return { author, comment, at: isoTime(at), until: isoTime(until), eta: isoTime(eta), notes: shown };
}

/** An alert with what is done about it. */
export function alertRow(
  { labels, state, startsAt }: Pick<AlertState, "labels" | "startsAt"> & { readonly state: string },
  handled: ActiveAlert | undefined,
): z.infer<typeof AlertRow> {
  const { acknowledgement, maintenance } = handled ?? {};
  return {
    alertname: labels.alertname ?? "",
    severity: labels.severity ?? null,
    state: state === "firing" ? "firing" : "pending",
    since: isoTime(startsAt),
    attention: state !== "firing" ? null : handled ? attentionTo(handled) : "needed",
    acknowledgement: acknowledgement ? ackRow(acknowledgement) : null,
    maintenance: maintenance?.by ?? null,
  };
}

/** Firing alerts first, then pending ones. */
export function alertRows(alerts: AlertStates | undefined, handled: HandledAlerts): z.infer<typeof AlertRow>[] {
  const rows = Object.values(alerts ?? {}).map((one) =>
    alertRow(one, handled.size === 0 ? undefined : handled.get(fingerprint(one.labels))),
  );
  return rows.sort((a, b) => a.state.localeCompare(b.state) || a.alertname.localeCompare(b.alertname));
}
