/** `GET /api/v1/query/{route}`: figures of the analytics service, requested when asked for. */
import { z } from "zod";
import { PAST_EXAMPLES } from "../../lib/moment.ts";
import { queryRoutes } from "../../query/ask.ts";
import { HttpError } from "../errors.ts";
import { repeated } from "../query.ts";
import { operation } from "./operation.ts";

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const list = (of: string) => repeated(z.string().max(200)).describe(`${of}; may be repeated.`);
const text = (of: string) => z.string().max(100).optional().describe(of);

const QueryParameters = z.strictObject({
  from: text(`A day or time such as ${PAST_EXAMPLES}; 7d by default.`),
  to: text("The end, now by default; a day is included."),
  timezone: text("IANA name; the location's by default."),
  location: list("Id or full name, in any case"),
  recording: list("Id or full name; of areas, uptime and status"),
  zone: list("Full name or its last part; of zones"),
  by: list("A row for each value: age, gender or role"),
  only: list("Only these people: age=25_34 or role=customer"),
  every: text("day, week or month; of uptime also hour. Without it, one row for the whole span."),
  facet: text("estimates, of entries."),
});

const QueryReply = z.strictObject({
  columns: z.array(z.string()).readonly().describe("The fields of every item, in order."),
  items: z.array(z.record(z.string(), cell)).readonly().describe("null is no data, never 0."),
  units: z.record(z.string(), z.string()).describe("By column, as the service states them."),
  dropped: z.int().min(0).describe("Rows of the service that could not be read."),
});

export const runServiceQuery = operation({
  id: "query",
  method: "get",
  path: "/api/v1/query/{route}",
  summary: `Figures of the analytics service; route is one of ${queryRoutes.join(", ")}.`,
  query: QueryParameters,
  answer: QueryReply,
  async handle(deps, { query, param }) {
    const route = queryRoutes.find((one) => one === param);
    if (!route) throw new HttpError("not_found", `There is no such query: ask for ${queryRoutes.join(", ")}.`);
    return deps.query(route, query);
  },
});
