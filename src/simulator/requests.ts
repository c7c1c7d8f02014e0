/** The bodies of the six routes, as the contract states them. What it does not show is refused. */
import { z } from "zod";
import { issuesText } from "./errors.ts";
import { socketRoutes } from "./faults.ts";

/** A request that breaks the contract, or names a route that does not exist. */
export class RequestError extends Error {
  readonly code: "bad_request" | "unknown_route";

  constructor(code: "bad_request" | "unknown_route", message: string) {
    super(message);
    this.code = code;
  }
}

export const SocketMessage = z.object({
  action: z.string(),
  data: z.object({ id: z.string().min(1), route: z.string(), body: z.record(z.string(), z.unknown()) }),
});

/** Which action each route belongs to (contract: "Routes"). */
export const actionOf = Object.fromEntries(
  socketRoutes.map((route) => [
    route,
    route === "status/uptime" ? "status" : route === "detail/list" ? "detail" : "metric",
  ]),
) as Record<(typeof socketRoutes)[number], string>;

const entities = z.array(z.string());
const noDates = z.undefined("takes no dates").optional();

export const StatusBody = z.object({
  entities,
  entityType: z.enum(["location", "recording"]),
  start: noDates,
  end: noDates,
});

export const DetailBody = z.object({
  entities,
  entityType: z.enum(["location", "recording"]),
  returnEntityType: z.literal("area_context"),
});

const instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, "must be a full timestamp, YYYY-MM-DDTHH:mm:ss.sssZ")
  .transform((text) => Date.parse(text))
  .refine((at) => !Number.isNaN(at), "must be a moment that exists");

export const dimensions = ["taxonomy", "age", "gender", "role", "entity"] as const;
export type Dimension = (typeof dimensions)[number];
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
  aggregationPeriod: z.enum(["hour", "day", "month"]).default("day"),
  areaType: z.enum(["taxonomy", "location-dwell"]).optional(),
  taxonomy: z.array(z.string()).optional(),
  breakdownByDimensions: z.array(z.enum(dimensions)).default([]),
  ages: z.array(ageBand).optional(),
  genders: z.array(z.enum(["female", "male"])).optional(),
  roles: z.array(z.enum(["customer", "staff"])).optional(),
});
export type MetricBody = z.infer<typeof MetricBody>;

/** The body as the route takes it. Throws RequestError naming each parameter that is wrong. */
export function parseRequest<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new RequestError("bad_request", issuesText(parsed.error));
}
