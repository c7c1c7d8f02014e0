/** Parsing of query parameters and bodies: a bad one is a 400 that names it. */
import { z } from "zod";
import { HttpError } from "./errors.ts";

/** The parsed parameters. Throws HttpError `bad_query` naming the first parameter that is wrong. */
export function parseQuery<T>(schema: z.ZodType<T>, query: unknown): T {
  const { data, error } = schema.safeParse(query);
  if (!error) return data;
  const [issue] = error.issues;
  if (issue?.code === "unrecognized_keys")
    throw new HttpError("bad_query", `${issue.keys[0]}: there is no such parameter here.`);
  const name = String(issue?.path[0] ?? "query");
  throw new HttpError("bad_query", `${name}: ${issue?.message ?? "not understood"}.`);
}

/** The parsed body. Throws HttpError `bad_body` naming the first path that is wrong. */
export function parseRequestBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, error } = schema.safeParse(body);
  if (!error) return data;
  throw new HttpError("bad_body", issueText(error));
}

/** The first problem and its path, as a sentence. */
export function issueText({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.length ? `${issue.path.map(String).join(".").slice(0, 100)}: ` : "";
  return `${path}${issue?.message ?? "not understood"}.`;
}

/** A parameter that may be repeated. */
export function repeated<T>(each: z.ZodType<T>) {
  const asList = (given: unknown) => (given === undefined ? [] : Array.isArray(given) ? given : [given]);
  const { $schema, ...items } = z.toJSONSchema(each, { io: "input", unrepresentable: "any" });
  return z.preprocess(asList, z.array(each)).meta({ type: "array", items });
}

/** The context of a transform. */
export interface Context {
  addIssue(issue: { code: "custom"; message: string; path?: string[] }): void;
}

/** A transform by a function that throws; the message of its error is the problem, of the property `name` if given. */
export function parsedBy<I, O>(parse: (input: I) => O, ...name: string[]) {
  return (input: I, context: Context): O => {
    try {
      return parse(input);
    } catch (thrown) {
      context.addIssue({ code: "custom", message: (thrown as Error).message, path: name });
      return z.NEVER;
    }
  };
}

/** A text of a body. */
export function boundedText(max: number) {
  return z.string({ error: "expected a text" }).max(max, `expected at most ${max} characters`);
}

/** `true` or `false`, as Alertmanager's clients write them. */
export const booleanFlag = z
  .enum(["true", "false", "1", "0"], { error: "expected true or false" })
  .transform((text) => text === "true" || text === "1");

/** An instant: ISO 8601 with a time zone. */
export const instant = z.iso
  .datetime({ offset: true, error: "expected a time such as 2026-01-31T08:00:00Z" })
  .transform((text) => Date.parse(text))
  .meta({ type: "string", format: "date-time" });

/** ISO 8601 in UTC with milliseconds; null for undefined. */
export function isoTime(at: number): string;
export function isoTime(at: number | undefined): string | null;
export function isoTime(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
