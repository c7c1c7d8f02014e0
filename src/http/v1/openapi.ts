/** `GET /api/v1/openapi.json`: the API described by the same schemas that read its questions and type its answers. */
import { z } from "zod";
import { pageOf } from "../paging.ts";
import { Acknowledged, Acknowledgement } from "./acknowledge.ts";
import { IncidentRow, IncidentsQuery } from "./incidents.ts";
import { LocationRow, LocationsQuery } from "./locations.ts";
import { RecordingRow, RecordingsQuery } from "./recordings.ts";
import { Timeline, TimelineQuery } from "./timeline.ts";

interface Operation {
  readonly id: string;
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** Only the admin token will do. */
  readonly admin?: true;
}

const operations: readonly Operation[] = [
  {
    id: "listRecordings",
    method: "get",
    path: "/api/v1/recordings",
    summary: "Every recording with its status and alerts, by id.",
    query: RecordingsQuery,
    answer: pageOf(RecordingRow, {}),
  },
  {
    id: "getTimeline",
    method: "get",
    path: "/api/v1/recordings/{id}/timeline",
    summary:
      "What was decided about a recording, and why, oldest first; in the last 24 hours without `since`.",
    query: TimelineQuery,
    answer: Timeline,
  },
  {
    id: "listLocations",
    method: "get",
    path: "/api/v1/locations",
    summary: "Every location, its recordings counted by status, by id.",
    query: LocationsQuery,
    answer: pageOf(LocationRow, {}),
  },
  {
    id: "listIncidents",
    method: "get",
    path: "/api/v1/incidents",
    summary: "What was wrong, newest first; in the last 7 days without `since`.",
    query: IncidentsQuery,
    answer: pageOf(IncidentRow, {}),
  },
  {
    id: "acknowledge",
    method: "post",
    path: "/api/v1/alerts/{fingerprint}/ack",
    summary: "Stops reminders of what fires until it resolves; its end is told all the same.",
    body: Acknowledgement,
    answer: Acknowledged,
    admin: true,
  },
];

const Problem = z.strictObject({ error: z.strictObject({ code: z.string(), message: z.string() }) });

const REFUSALS = {
  400: "A parameter or the body is wrong; the message names it.",
  401: "A token is needed.",
  403: "Nothing can be changed here: there is no admin token, or the request comes from another site.",
  404: "There is no such thing.",
  503: "lenswatch cannot reach what it needs for this answer; try again.",
} as const;

/** The document, as OpenAPI 3.1 has it. */
export function openApiDocument(version: string) {
  return {
    openapi: "3.1.0",
    info: {
      title: "lenswatch",
      version,
      description: "What lenswatch knows of a fleet of recordings. Times are ISO 8601 in UTC, ratios 0–1.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }, {}],
    paths: Object.fromEntries(operations.map((one) => [one.path, { [one.method]: describe(one) }])),
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "http.read_token or http.admin_token." },
      },
      schemas: { Problem: schemaOf(Problem) },
    },
  };
}

function describe({ id, path, summary, query, body, answer, admin }: Operation) {
  const refusals = Object.entries(REFUSALS).filter(
    ([status]) => (status !== "403" || admin) && (status !== "404" || path.includes("{")),
  );
  return {
    operationId: id,
    summary,
    ...(admin ? { security: [{ token: [] }] } : {}),
    parameters: [...pathParameters(path), ...(query ? queryParameters(query) : [])],
    ...(body ? { requestBody: { required: false, content: json(schemaOf(body)) } } : {}),
    responses: {
      200: { description: "The answer.", content: json(schemaOf(answer)) },
      ...Object.fromEntries(
        refusals.map(([status, description]) => [
          status,
          { description, content: json({ $ref: "#/components/schemas/Problem" }) },
        ]),
      ),
    },
  };
}

function pathParameters(path: string) {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: z.ZodObject) {
  const { properties = {} } = schemaOf(query) as { properties?: Record<string, { description?: string }> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

const json = (schema: object) => ({ "application/json": { schema } });

/** As it is sent: what reading makes of it is our own affair. */
function schemaOf(schema: z.ZodType): object {
  const { $schema, ...described } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      // Of our types, not of what is sent; and patterns that say again what the format or the type says.
      delete jsonSchema.readOnly;
      if (jsonSchema.format === "date-time" || jsonSchema.type === "integer") delete jsonSchema.pattern;
    },
  });
  return described;
}
