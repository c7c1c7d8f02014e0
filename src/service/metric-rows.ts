/** Replies of the metric routes and of `detail/list`. */
import { z } from "zod";
import { ServiceError } from "./errors.ts";
import type { AreaContext, MetricReply, MetricReplyRow } from "./metric-types.ts";
import type { ReportDeviation } from "./reporter.ts";

const Text = z.string().nullish();
const Row = z.looseObject({ index: Text, location: Text, taxonomy: Text, age: Text, gender: Text, role: Text });
const Measure = z.number().nullish();
const Rows = z.array(z.unknown()).nullish();

const Reply = z.object({
  segments: Rows,
  summary: Rows,
  estimates: z.unknown().optional(),
  meta: z
    .object({ units: z.record(z.string(), z.string()).nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});

/** Throws ServiceError `bad_payload` where the reply has neither the facets nor `meta` of a metric reply. */
export function parseMetricReply<Measure extends string>(
  route: string,
  measures: readonly Measure[],
  payload: unknown,
  report: ReportDeviation,
): MetricReply<Measure> {
  const parsed = Reply.safeParse(payload);
  const { segments, summary, estimates, meta } = parsed.data ?? {};
  if (!parsed.success || !(segments || summary || meta || estimates)) throw notDocumented(route, payload, report);
  let dropped = 0;
  const rowsOf = (rows: unknown[] | null | undefined) => {
    if (!rows) return undefined;
    const read = rows.map((row) => metricRow(row, measures, report)).filter((row) => row !== undefined);
    dropped += rows.length - read.length;
    return read;
  };
  const facets = { segments: rowsOf(segments), summary: rowsOf(summary) };
  return { ...facets, estimates: estimates ?? undefined, units: meta?.units ?? {}, dropped };
}

function metricRow<Measure extends string>(
  row: unknown,
  measures: readonly Measure[],
  report: ReportDeviation,
): MetricReplyRow<Measure> | undefined {
  const parsed = Row.safeParse(row);
  const values = parsed.success ? measured(parsed.data, measures) : undefined;
  if (!parsed.success || !values) {
    report("bad_row", () => row);
    return undefined;
  }
  const { index, location, taxonomy, age, gender, role } = parsed.data;
  return {
    index: index ?? undefined,
    location: location ?? undefined,
    taxonomy: taxonomy ?? undefined,
    age: age ?? undefined,
    gender: gender ?? undefined,
    role: role ?? undefined,
    values,
  };
}

/** The measures by name; undefined where one is neither a number nor absent. */
function measured<Name extends string>(
  row: Record<string, unknown>,
  names: readonly Name[],
): Record<Name, number | undefined> | undefined {
  const read = names.map((name) => [name, Measure.safeParse(row[name])] as const);
  if (read.some(([, value]) => !value.success)) return undefined;
  const values = read.map(([name, value]) => [name, value.data ?? undefined]);
  return Object.fromEntries(values) as Record<Name, number | undefined>;
}

const AreaContextRow = z.object({ area_type: z.string(), taxonomy: Text, recording_id: Text });

/** Throws ServiceError `bad_payload` where the reply is no array. */
export function parseAreaContexts(
  payload: unknown,
  report: ReportDeviation,
): { contexts: AreaContext[]; dropped: number } {
  if (!Array.isArray(payload)) throw notDocumented("detail/list", payload, report);
  const contexts: AreaContext[] = [];
  for (const row of payload) {
    const parsed = AreaContextRow.safeParse(row);
    if (!parsed.success) {
      report("bad_row", () => row);
      continue;
    }
    const { area_type, taxonomy, recording_id } = parsed.data;
    contexts.push({ areaType: area_type, taxonomy: taxonomy ?? undefined, recordingId: recording_id ?? undefined });
  }
  return { contexts, dropped: payload.length - contexts.length };
}

function notDocumented(route: string, payload: unknown, report: ReportDeviation): ServiceError {
  report("bad_payload", () => payload);
  return new ServiceError(
    "bad_payload",
    `Route ${route} got a reply that is not in the documented shape: see the log.`,
  );
}
