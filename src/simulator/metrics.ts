/** The four metric routes: which measures, which rules of the contract, which units. */

import { DAY_MS } from "../lib/clock.ts";
import type { SimulatorContext } from "./context.ts";
import type { SocketRoute } from "./faults.ts";
import type { SimLocation } from "./fleet.ts";
import { type CountQuery, type CountRow, countPeople } from "./people-count.ts";
import { type MetricBody, RequestError } from "./requests.ts";

type MetricRoute = Exclude<SocketRoute, "status/uptime" | "detail/list">;
type Facet = MetricBody["facets"][number];

interface MetricKind {
  readonly facets: readonly Facet[];
  /** Required where the route has one. */
  readonly areaType?: MetricBody["areaType"];
  readonly demographics: boolean;
  /** Split by location whether asked or not. */
  readonly alwaysByEntity?: true;
  readonly units: Readonly<Record<string, string>>;
  measure(row: CountRow): Record<string, number | null>;
}

/** Longer ranges are refused; the contract shows no limit. */
const MOST_DAYS = 800;

const kinds: Readonly<Record<MetricRoute, MetricKind>> = {
  entries: {
    facets: ["segments", "summary", "estimates"],
    demographics: true,
    alwaysByEntity: true,
    units: { entries: "peopleCount" },
    measure: ({ isKnown, people }) => ({ entries: isKnown ? people : null }),
  },
  "area/data": {
    facets: ["segments", "summary"],
    areaType: "taxonomy",
    demographics: true,
    units: { area_total_dwell_time: "seconds", area_average_dwell_time: "seconds" },
    measure: ({ isKnown, people, dwellSeconds }) => ({
      area_total_entries: isKnown ? people : null,
      area_total_dwell_time: isKnown ? dwellSeconds : null,
      area_average_dwell_time: ratio(dwellSeconds, people),
    }),
  },
  "average-dwell-time": {
    facets: ["summary"],
    areaType: "location-dwell",
    demographics: true,
    units: { average_dwell_time: "seconds" },
    measure: ({ people, dwellSeconds }) => ({ average_dwell_time: ratio(dwellSeconds, people) }),
  },
  "transactions/conversion-rate": {
    facets: ["summary"],
    demographics: false,
    units: { sales_conversion_rate: "rate" },
    measure: ({ people, purchases }) => ({ sales_conversion_rate: ratio(purchases, people) }),
  },
};

/** Null where there is nothing to divide by: no data is not zero. */
function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** A metric payload: an array per facet asked for, and `meta`. Throws RequestError. */
export async function metricPayload(
  route: MetricRoute,
  body: MetricBody,
  locations: readonly SimLocation[],
  context: SimulatorContext,
): Promise<Record<string, unknown>> {
  const kind = kinds[route];
  const end = body.end ?? context.clock.now();
  const { roles } = context.traits;
  const unknown = body.roles?.find((role) => !roles.includes(role));
  const problem = unknown ? `roles: must be of ${roles.join(", ")}` : bodyProblem(kind, body, end);
  if (problem) throw new RequestError("bad_request", problem);
  const { breakdownByDimensions: asked, aggregationPeriod: period, ...filters } = body;
  const by = kind.alwaysByEntity ? [...new Set([...asked, "entity" as const])] : asked;
  const what = { withDwell: kind.areaType !== undefined, withSales: !kind.demographics };
  const query: CountQuery = { ...filters, ...what, end, by, locations, allRoles: roles };
  const payload: Record<string, unknown> = {};
  for (const facet of new Set(body.facets)) {
    const split = facet === "summary" ? {} : { period, estimated: facet === "estimates" };
    const rows = await countPeople({ ...query, ...split }, context);
    payload[facet] = rows.map((row) => ({ ...row.labels, ...kind.measure(row) }));
  }
  return { ...payload, meta: { units: kind.units } };
}

function bodyProblem(kind: MetricKind, body: MetricBody, end: number): string | undefined {
  const { breakdownByDimensions: by, facets, areaType, taxonomy } = body;
  if (end < body.start) return "end must not be before start";
  if (end - body.start > MOST_DAYS * DAY_MS) return `at most ${MOST_DAYS} days at once`;
  const other = facets.find((facet) => !kind.facets.includes(facet));
  if (other) return `facets: this route has no ${other}`;
  if (areaType !== kind.areaType) return `areaType: must be ${kind.areaType ?? "left out"}`;
  if (kind.areaType === "taxonomy" && !taxonomy?.length) return "taxonomy: name at least one zone";
  if (!kind.demographics) return salesProblem(body);
  if (body.ages && !by.includes("age")) return "ages: add age to breakdownByDimensions";
  if (body.genders && !by.includes("gender")) return "genders: add gender to breakdownByDimensions";
  if (body.roles && !by.includes("role")) return "roles: add role to breakdownByDimensions";
  return undefined;
}

function salesProblem({ breakdownByDimensions: by, ages, genders, roles }: MetricBody): string | undefined {
  if (!by.includes("entity")) return "breakdownByDimensions: must include entity";
  const asksWho = ages || genders || roles || by.some((d) => d === "age" || d === "gender" || d === "role");
  return asksWho ? "sales data carries no visitor attributes: drop ages, genders and roles" : undefined;
}
