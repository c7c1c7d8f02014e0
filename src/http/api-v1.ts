/** JSON for scripts: `{ items, nextCursor }`, errors as `{ error: { code, message } }`. */
import type { FastifyInstance } from "fastify";
import type { HttpDeps } from "./deps.ts";
import { originOf } from "./principal.ts";
import { parseQuery, parseRequestBody } from "./query.ts";
import { acknowledge, note, undoAcknowledgement, undoSilence, withdraw } from "./v1/acknowledgement.ts";
import { addShiftNote, getHandover } from "./v1/handover.ts";
import { getIncident, listIncidents } from "./v1/incidents.ts";
import { listLocations } from "./v1/locations.ts";
import { openApiDocument } from "./v1/openapi.ts";
import type { Operation } from "./v1/operation.ts";
import { getOverview } from "./v1/overview.ts";
import { listRecordings } from "./v1/recordings.ts";
import { getReport } from "./v1/report.ts";
import { linkReport } from "./v1/report-link.ts";
import { previewSilence } from "./v1/silence-preview.ts";
import { getTimeline } from "./v1/timeline.ts";
import { getWhatIf } from "./v1/what-if.ts";

/** Every path of the API except its own description. */
export const operations: readonly Operation[] = [
  listRecordings,
  getTimeline,
  listLocations,
  getOverview,
  listIncidents,
  getIncident,
  getReport,
  linkReport,
  getHandover,
  addShiftNote,
  acknowledge,
  withdraw,
  note,
  undoAcknowledgement,
  previewSilence,
  getWhatIf,
  undoSilence,
];

export function apiV1(app: FastifyInstance, deps: HttpDeps): void {
  const description = openApiDocument(deps.version, operations);
  app.get("/api/v1/openapi.json", () => description);
  for (const { method, path, query, body, scope = "read", lane, handle } of operations) {
    app.route<{ Params: Record<string, string> }>({
      method,
      url: path.replace(/\{(\w+)\}/g, ":$1"),
      config: lane ? { scope, lane } : { scope },
      handler: async (request) =>
        handle(deps, {
          query: query ? parseQuery(query, request.query) : {},
          body: body && parseRequestBody(body, request.body ?? {}),
          param: Object.values(request.params)[0] ?? "",
          by: originOf(request),
          signal: request.signal,
        }),
    });
  }
}
