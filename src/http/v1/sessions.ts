/** `/api/v1/sessions`: the sessions of people who signed in, and their end. */
import { z } from "zod";
import { runYielding } from "../../lib/yield.ts";
import type { StoredSession } from "../../store/sessions.ts";
import { listingOf, pageParameters } from "../paging.ts";
import { boundedText, isoTime } from "../query.ts";
import { withSessions } from "../session.ts";
import { operation, pageSchema, timeSchema } from "./operation.ts";

export const ApiSession = z
  .strictObject({
    id: z.string().describe("For revoking; it opens nothing."),
    person: z.string(),
    token: z.string().describe("The name of the token it was opened with."),
    address: z.string(),
    createdAt: timeSchema,
    seenAt: timeSchema.describe("To the minute."),
    expiresAt: timeSchema,
  })
  .readonly();

export const listSessions = operation({
  id: "listSessions",
  method: "get",
  path: "/api/v1/sessions",
  summary: "Sessions that have not ended, newest first.",
  scope: "admin",
  query: z.strictObject(pageParameters),
  answer: pageSchema(ApiSession, {}),
  async handle(deps, { query }) {
    const sessions = await withSessions(deps.sessions.list(deps.clock.now()), deps);
    const newestFirst = ({ createdAt, id }: StoredSession) => `${String(1e15 - createdAt).padStart(16, "0")}${id}`;
    const { items, nextCursor } = await runYielding(listingOf(sessions, query, newestFirst));
    return { items: items.map(rowOf), nextCursor };
  },
});

const one = z.string({ error: "expected an id" }).regex(/^[0-9a-f]{16}$/, "expected ids of 16 hex digits");

export const revokeSessions = operation({
  id: "revokeSessions",
  method: "post",
  path: "/api/v1/sessions/revoke",
  summary: "Ends sessions at every replica: by id, by the name of a person or token, or all.",
  scope: "admin",
  body: z
    .strictObject({
      ids: z.array(one).max(1_000).optional(),
      name: boundedText(200).optional(),
      all: z.literal(true).optional(),
    })
    .refine((given) => Object.keys(given).length === 1, "expected one of ids, name and all"),
  answer: z.strictObject({ revoked: z.array(z.string()).describe("The ids of those that had not ended.") }),
  async handle(deps, { body, by }) {
    const at = deps.clock.now();
    const sessions = await withSessions(deps.sessions.list(at), deps);
    const isMeant = ({ id, person, token }: StoredSession) =>
      body.all === true || body.ids?.includes(id) || person === body.name || token === body.name;
    const meant = sessions.filter(isMeant);
    const people = [...new Set(meant.map(({ person }) => person))].join(", ");
    const ids = meant.map(({ id }) => id);
    const before = { people, ids: ids.join(" ") };
    const entry = { ...by, at, action: "sessions_revoked", outcome: "done", before } as const;
    return { revoked: await withSessions(deps.sessions.end(ids, entry), deps) };
  },
});

function rowOf(session: StoredSession): z.infer<typeof ApiSession> {
  const { id, person, token, address, createdAt, seenAt, expiresAt } = session;
  const times = { createdAt: isoTime(createdAt), seenAt: isoTime(seenAt), expiresAt: isoTime(expiresAt) };
  return { id, person, token, address, ...times };
}
