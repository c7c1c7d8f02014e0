/** Query parameters, parsed at the border: a bad one is a 400 that names it. */
import { z } from "zod";
import { HttpError } from "./errors.ts";

/** The parsed parameters. Throws HttpError `bad_query` naming the first parameter that is wrong. */
export function parseQuery<T>(schema: z.ZodType<T>, query: unknown): T {
  const result = schema.safeParse(query);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    throw new HttpError("bad_query", `${issue.keys[0]}: there is no such parameter here.`);
  }
  throw new HttpError(
    "bad_query",
    `${String(issue?.path[0] ?? "query")}: ${issue?.message ?? "not understood"}.`,
  );
}

/** The parsed body of a request. Throws HttpError `bad_body` naming the first place that is wrong. */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new HttpError("bad_body", issueText(result.error));
}

/** The first thing that is wrong, and where, as a sentence. */
export function issueText({ issues: [issue] }: z.ZodError): string {
  const place = issue?.path.length ? `${issue.path.map(String).join(".").slice(0, 100)}: ` : "";
  return `${place}${issue?.message ?? "not understood"}.`;
}

/** A parameter that may be repeated. */
export function repeated<T>(each: z.ZodType<T>) {
  const asList = (given: unknown) => (given === undefined ? [] : Array.isArray(given) ? given : [given]);
  const { $schema, ...items } = z.toJSONSchema(each, { io: "input", unrepresentable: "any" });
  return z.preprocess(asList, z.array(each)).meta({ type: "array", items });
}

/** `true` or `false`, as Alertmanager's clients write them. */
export const flag = z
  .enum(["true", "false", "1", "0"], { error: "expected true or false" })
  .transform((text) => text === "true" || text === "1");

/** An instant: ISO 8601 with a time zone. */
export const instant = z.iso
  .datetime({ offset: true, error: "expected a time such as 2026-01-31T08:00:00Z" })
  .transform((text) => Date.parse(text))
  .meta({ type: "string", format: "date-time" });
