/** `POST /api/v1/sessions/revoke`: the end of sessions of people who signed in. */
import { z } from "zod";
import type { StoredSession } from "../../store/sessions.ts";
import { boundedText } from "../query.ts";
import { withSessions } from "../session.ts";
import { operation } from "./operation.ts";

export const revokeSessions = operation({
  id: "revokeSessions",
  method: "post",
  path: "/api/v1/sessions/revoke",
  summary: "Ends sessions at every replica: by the name of a person or token, or all.",
  scope: "admin",
  body: z
    .strictObject({ name: boundedText(200).optional(), all: z.literal(true).optional() })
    .refine((given) => Object.keys(given).length === 1, "expected either name or all"),
  answer: z.strictObject({ revoked: z.array(z.string()).describe("The ids of those that had not ended.") }),
  async handle(deps, { body, by }) {
    const at = deps.clock.now();
    const sessions = await withSessions(deps.sessions.list(at), deps);
    const isMeant = ({ person, token }: StoredSession) => body.all || person === body.name || token === body.name;
    const meant = sessions.filter(isMeant);
    const people = [...new Set(meant.map(({ person }) => person))].join(", ");
    const ids = meant.map(({ id }) => id);
    const before = { people, ids: ids.join(" ") };
    const entry = { ...by, at, action: "sessions_revoked", outcome: "done", before } as const;
    return { revoked: await withSessions(deps.sessions.end(ids, entry), deps) };
  },
});
