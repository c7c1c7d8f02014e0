/** The bodies of the six routes, as the contract states them. What it does not show is refused. */
import { z } from "zod";
import { CodedError } from "../lib/errors.ts";
import { issuesText } from "./errors.ts";

/** A request that breaks the contract, or names a route that does not exist. */
export class RequestError extends CodedError<"bad_request" | "unknown_route"> {
  constructor(code: RequestError["code"], message: string) {
    super(code, message, { retryable: false });
  }
}

export const SocketMessage = z.object({
  action: z.string(),
  data: z.object({ id: z.string().min(1), route: z.string(), body: z.record(z.string(), z.unknown()) }),
});
export type SocketMessage = z.infer<typeof SocketMessage>;

const entities = z.array(z.string());
const noDates = z.undefined("takes no dates").optional();

const entityType = z.enum(["location", "recording"]);
export const StatusBody = z.object({ entities, entityType, start: noDates, end: noDates });
export const DetailBody = z.object({ entities, entityType, returnEntityType: z.literal("area_context") });

const instant = z.iso
  .datetime({ precision: 3, error: "must be a full timestamp that exists, YYYY-MM-DDTHH:mm:ss.sssZ" })
  .transform(Date.parse);

const ageBand = z.string().regex(/^\d{1,3}_\d{1,3}$/, "must have the shape <from>_<to>");

export const MetricBody = z.object({
  start: instant,
  end: instant.optional(),
  entities,
  entityType: z.literal("location"),
  facets: z
    .array(z.enum(["segments", "summary", "estimates"]))
    .min(1)
    .default(["summary"]),
  aggregationPeriod: z.enum(["day", "month"]).default("day"),
  areaType: z.enum(["taxonomy", "location-dwell"]).optional(),
  taxonomy: z.array(z.string()).optional(),
  breakdownByDimensions: z.array(z.enum(["taxonomy", "age", "gender", "role", "entity"])).default([]),
  ages: z.array(ageBand).optional(),
  genders: z.array(z.enum(["female", "male"])).optional(),
  roles: z.array(z.string()).optional(),
});
export type MetricBody = z.infer<typeof MetricBody>;

/** The body as the route takes it. Throws RequestError naming each parameter that is wrong. */
export function parseRequest<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new RequestError("bad_request", issuesText(parsed.error));
}
