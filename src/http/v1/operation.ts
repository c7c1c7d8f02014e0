/** An operation of `/api/v1`: one declaration from which its route and its OpenAPI description are made. */
import { z } from "zod";
import type { StoredAcknowledgement } from "../../alerting/acknowledgement.ts";
import type { AuditOrigin } from "../../alerting/audit.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Labels } from "../../health/alert.ts";
import type { AlertStates } from "../../health/shard-state.ts";
import type { ActiveAlert, HttpDeps } from "../deps.ts";
import type { Scope } from "../principal.ts";
import { isoTime } from "../query.ts";

export interface Operation<Q extends z.ZodObject = z.ZodObject, B extends z.ZodType = z.ZodType> {
  readonly id: string;
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI writes it: `/api/v1/recordings/{id}/timeline`. */
  readonly path: string;
  readonly summary: string;
  readonly query?: Q;
  readonly body?: B;
  readonly answer: z.ZodType;
  /** `read` by default. */
  readonly scope?: Scope;
  /** Of admission; by its method by default. */
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
  /** Of reads: aborted once the client has left or the deadline is over. */
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

const AckRow = z
  .strictObject({
    author: z.string(),
    comment: z.string(),
    at: timeSchema,
    until: timeSchema.nullable().describe("null: until the alert resolves."),
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
    acknowledgement: AckRow.nullable().describe("null: nobody's is in force."),
    maintenance: z.string().nullable().describe("The name of the `maintenance` that suppresses it."),
  })
  .readonly();

type Handled = Pick<ActiveAlert, "acknowledgement" | "maintenance">;

/** By fingerprint, of alerts that are acknowledged or in maintenance. */
export type HandledAlerts = ReadonlyMap<string, Handled>;

/** Of the alerts that fire. */
export async function readHandled({ alerts }: Pick<HttpDeps, "alerts">): Promise<HandledAlerts> {
  const handled = (await alerts()).filter(({ acknowledgement, maintenance }) => acknowledgement || maintenance);
  return new Map(handled.map((one) => [fingerprint(one.alert.labels), one]));
}

function ackRow({ author, comment, at, until, notes = [] }: StoredAcknowledgement): z.infer<typeof AckRow> {
  const shown = notes.map((one) => ({ ...one, at: isoTime(one.at) }));
  return { author, comment, at: isoTime(at), until: isoTime(until), notes: shown };
}

/** Firing alerts first, then pending ones. */
export function alertRows(alerts: AlertStates | undefined, handled: HandledAlerts): z.infer<typeof AlertRow>[] {
  const handledBy = (labels: Labels) => {
    const found = handled.size === 0 ? undefined : handled.get(fingerprint(labels));
    const { acknowledgement: ack, maintenance } = found ?? {};
    return { acknowledgement: ack ? ackRow(ack) : null, maintenance: maintenance?.by ?? null };
  };
  const rows = Object.values(alerts ?? {}).map(({ labels, state, startsAt }) => ({
    alertname: labels.alertname ?? "",
    severity: labels.severity ?? null,
    state,
    since: isoTime(startsAt),
    ...handledBy(labels),
  }));
  return rows.sort((a, b) => a.state.localeCompare(b.state) || a.alertname.localeCompare(b.alertname));
}
