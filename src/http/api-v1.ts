/** JSON for scripts: `{ items, nextCursor }`, errors as `{ error: { code, message } }`. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { HttpError } from "./errors.ts";
import { originOf } from "./principal.ts";
import { boundedText, parseQuery, parseRequestBody } from "./query.ts";
import { listAudit } from "./v1/audit.ts";
import { listIncidents } from "./v1/incidents.ts";
import { listLocations } from "./v1/locations.ts";
import { openApiDocument } from "./v1/openapi.ts";
import { type ApiV1Deps, type Operation, operation } from "./v1/operation.ts";
import { listRecordings } from "./v1/recordings.ts";
import { listSessions, revokeSessions } from "./v1/sessions.ts";
import { getTimeline } from "./v1/timeline.ts";

/** No reminders of a firing alert until it resolves. */
const acknowledge = operation({
  id: "acknowledge",
  method: "post",
  path: "/api/v1/alerts/{fingerprint}/ack",
  summary: "Stops reminders of a firing alert until it resolves; its end is still notified.",
  scope: "silence",
  body: z
    .strictObject({ author: boundedText(200).default("api"), comment: boundedText(4_000).default("") })
    .prefault({}),
  answer: z.strictObject({
    fingerprint: z.string(),
    alerts: z.int().min(1).describe("How many firing alerts have the fingerprint."),
    author: z.string(),
    comment: z.string(),
  }),
  async handle(deps, { param: fingerprint, body, by }) {
    const done = await deps.acknowledge(fingerprint, body, by);
    if (done.outcome !== "done") throw new HttpError("not_found", "No firing alert has this fingerprint.");
    return { fingerprint, alerts: done.alerts, ...body };
  },
});

/** Every path of the API except its own description. */
export const operations: readonly Operation[] = [
  listRecordings,
  getTimeline,
  listLocations,
  listIncidents,
  acknowledge,
  listAudit,
  listSessions,
  revokeSessions,
];

export function apiV1(app: FastifyInstance, deps: ApiV1Deps): void {
  const description = openApiDocument(deps.version, operations);
  app.get("/api/v1/openapi.json", () => description);
  for (const { method, path, query, body, scope = "read", handle } of operations) {
    app.route<{ Params: Record<string, string> }>({
      method,
      url: path.replace(/\{(\w+)\}/g, ":$1"),
      config: { scope },
      handler: async (request) =>
        handle(deps, {
          query: query ? parseQuery(query, request.query) : {},
          body: body && parseRequestBody(body, request.body ?? {}),
          param: Object.values(request.params)[0] ?? "",
          by: originOf(request),
        }),
    });
  }
}
