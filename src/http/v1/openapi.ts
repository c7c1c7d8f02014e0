/** `GET /api/v1/openapi.json`: OpenAPI 3.1, made from the operations' own schemas. */
import { z } from "zod";
import type { Operation } from "./operation.ts";

const ErrorBody = z.strictObject({ error: z.strictObject({ code: z.string(), message: z.string() }) });

const ERRORS = {
  400: "A parameter or the body is wrong; the message names it.",
  401: "A token is needed.",
  403: "The token lacks the scope, or no token has it.",
  404: "Not found.",
  503: "lenswatch cannot reach a dependency of this answer; try again.",
} as const;

/** The document of lenswatch's `version`. */
export function openApiDocument(version: string, operations: readonly Operation[]) {
  const description = "State of a fleet of recordings. Times are ISO 8601 in UTC, ratios 0–1.";
  const license = { name: "MIT", identifier: "MIT" };
  const token = {
    type: "http",
    scheme: "bearer",
    description: "A token of http.tokens, http.read_token or http.admin_token.",
  };
  return {
    openapi: "3.1.0",
    info: { title: "lenswatch", version, description, license },
    servers: [{ url: "/" }],
    security: [{ token: [] }, {}],
    paths: pathsOf(operations),
    components: { securitySchemes: { token }, schemas: { Problem: schemaOf(ErrorBody) } },
  };
}

function pathsOf(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, ReturnType<typeof describe>>> = {};
  for (const one of operations) paths[one.path] = { ...paths[one.path], [one.method]: describe(one) };
  return paths;
}

function describe({ id, path, summary, query, body, answer, scope = "read" }: Operation) {
  const isChange = scope !== "read";
  const problem = json({ $ref: "#/components/schemas/Problem" });
  const errors = Object.entries(ERRORS)
    .filter(([status]) => (status !== "403" || isChange) && (status !== "404" || path.includes("{")))
    .map(([status, description]) => [status, { description, content: problem }] as const);
  return {
    operationId: id,
    summary,
    ...(isChange ? { security: [{ token: [] }] } : {}),
    parameters: [...pathParameters(path), ...(query ? queryParameters(query) : [])],
    ...(body ? { requestBody: { required: false, content: json(schemaOf(body)) } } : {}),
    responses: { 200: { description: "The answer.", content: json(schemaOf(answer)) }, ...Object.fromEntries(errors) },
  };
}

function pathParameters(path: string) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
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

function schemaOf(schema: z.ZodType): object {
  const { $schema, ...described } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      // `readOnly` is of our types, not of the answer; a pattern that repeats the format or the type adds nothing.
      delete jsonSchema.readOnly;
      if (jsonSchema.format === "date-time" || jsonSchema.type === "integer") delete jsonSchema.pattern;
    },
  });
  return described;
}
