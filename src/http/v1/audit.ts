/** `GET /api/v1/audit`: the audit log. */
import { z } from "zod";
import { actorKinds, auditActions, auditSortKey, refusalReasons, type StoredAuditEntry } from "../../alerting/audit.ts";
import { auditText } from "../../alerting/audit-text.ts";
import { runYielding } from "../../lib/yield.ts";
import { type Listing, listingOf, pageParameters } from "../paging.ts";
import { instant, isoTime } from "../query.ts";
import { operation, pageSchema, timeSchema } from "./operation.ts";

const AUDIT_PERIOD_MS = 86_400_000;

const facts = z.record(z.string(), z.string()).nullable();

export const ApiAuditEntry = z
  .strictObject({
    id: z.string(),
    at: timeSchema,
    actor: z
      .strictObject({ via: z.enum(actorKinds), name: z.string(), person: z.string().nullable() })
      .readonly()
      .describe("`name` is that of the token, user, signal or file; `person` signed in."),
    address: z.string().nullable(),
    action: z.enum(auditActions),
    outcome: z.enum(["done", "refused"]),
    reason: z.enum(refusalReasons).nullable(),
    target: z.string().nullable().describe("A silence, an episode of an alert, a session or a request."),
    before: facts,
    after: facts,
    count: z.int().nullable().describe("Refused attempts alike that this entry stands for, until `until`."),
    until: timeSchema.nullable(),
    text: z.string().describe("The same in words."),
  })
  .readonly();

const text = z.string({ error: "expected one text" }).max(300, "expected at most 300 characters").optional();

const AuditQuery = z.strictObject({
  ...pageParameters,
  since: instant.optional(),
  person: text.meta({ type: "string", description: "A signed-in name, or that of a token, in any case." }),
  action: z.enum(auditActions, { error: `expected ${auditActions.join(", ")}` }).optional(),
});

export const listAudit = operation({
  id: "listAudit",
  method: "get",
  path: "/api/v1/audit",
  summary: "Changes and refused attempts, newest first; of the last 24 hours without `since`.",
  scope: "admin",
  query: AuditQuery,
  answer: pageSchema(ApiAuditEntry, {}),
  async handle(deps, { query, signal }) {
    const entries = await deps.auditLog(query.since ?? deps.clock.now() - AUDIT_PERIOD_MS);
    const { items, nextCursor } = await runYielding(auditListing(entries, query), signal);
    return { items: items.map(rowOf), nextCursor };
  },
});

/** One page of what the filters leave. */
export function auditListing(
  entries: readonly StoredAuditEntry[],
  query: Pick<z.infer<typeof AuditQuery>, "limit" | "cursor" | "person" | "action">,
): Generator<void, Listing<StoredAuditEntry>> {
  const wanted = query.person?.toLowerCase();
  return listingOf(entries, query, (entry) => {
    const names = [entry.actor.person, entry.actor.name].map((name) => name?.toLowerCase());
    if (query.action !== undefined && entry.action !== query.action) return undefined;
    return wanted === undefined || names.includes(wanted) ? auditSortKey(entry) : undefined;
  });
}

function rowOf({ at, actor, until, ...entry }: StoredAuditEntry): z.infer<typeof ApiAuditEntry> {
  const { address = null, reason = null, target = null, before = null, after = null, count = null } = entry;
  return {
    id: entry.id,
    at: isoTime(at),
    actor: { via: actor.via, name: actor.name, person: actor.person ?? null },
    address,
    action: entry.action,
    outcome: entry.outcome,
    ...{ reason, target, before, after, count },
    until: isoTime(until),
    text: auditText({ ...entry, actor }),
  };
}
