/** Replies of the metric routes and of `detail/list`. */
import { z } from "zod";
import type { ReportDeviation } from "./reporter.ts";
import { fieldOf, undocumented } from "./rows.ts";

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? undefined);
const Row = z.object({ index: Text, location: Text, taxonomy: Text, age: Text, gender: Text, role: Text });

/**
 * One row. `location` is an id; `index`, of segments only, the bucket's start as served, `YYYY-MM-DDTHH:mm:ss.sss` without
 * a zone (contract: not stated). A measure the service sent as null, or not at all, is undefined: no data, never 0.
 */
export interface MetricReplyRow<Measure extends string>
  extends Readonly<Record<"index" | "location" | "taxonomy" | "age" | "gender" | "role", string | undefined>> {
  readonly values: Readonly<Record<Measure, number | undefined>>;
}

export interface MetricReply<Measure extends string> {
  /** Undefined: the reply had none. */
  readonly segments: readonly MetricReplyRow<Measure>[] | undefined;
  readonly summary: readonly MetricReplyRow<Measure>[] | undefined;
  /** The facet `estimates` of route entries as served: its fields are not documented. */
  readonly estimates: unknown;
  /** Measure → unit (`meta.units`). */
  readonly units: Readonly<Record<string, string>>;
  /** Rows that could not be read. */
  readonly dropped: number;
}

/** A zone a recording covers (`detail/list`, `returnEntityType: area_context`). */
export interface AreaContext {
  /** Seen: `taxonomy`. */
  readonly areaType: string;
  readonly taxonomy: string | undefined;
  readonly recordingId: string | undefined;
}

const Figure = z.number();
const Rows = z.array(z.unknown()).nullish();

const Reply = z.object({
  segments: Rows,
  summary: Rows,
  estimates: z.unknown().optional(),
  meta: z
    .object({ units: z.record(z.string(), z.unknown()).nullish().catch(undefined) })
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
  const { segments, summary, estimates, meta } = Reply.safeParse(payload).data ?? {};
  if (!(segments || summary || meta || estimates)) throw undocumented(`Route ${route}`, payload, report);
  let dropped = 0;
  const rowsOf = (rows: unknown[] | null | undefined) => {
    if (!rows) return undefined;
    const read = rows.map((row) => metricRow(row, measures, report)).filter((row) => row !== undefined);
    dropped += rows.length - read.length;
    return read;
  };
  const facets = { segments: rowsOf(segments), summary: rowsOf(summary) };
  return { ...facets, estimates: estimates ?? undefined, units: readUnits(meta?.units ?? {}, report), dropped };
}

function metricRow<Measure extends string>(
  row: unknown,
  measures: readonly Measure[],
  report: ReportDeviation,
): MetricReplyRow<Measure> | undefined {
  const { data } = Row.safeParse(row);
  if (!data) {
    report("bad_row", () => row);
    return undefined;
  }
  const values = measures.map((name) => [name, fieldOf(row as object, name, Figure, report)]);
  return { ...data, values: Object.fromEntries(values) as Record<Measure, number | undefined> };
}

/** Null states no unit. */
function readUnits(units: Readonly<Record<string, unknown>>, report: ReportDeviation): Record<string, string> {
  const read = Object.keys(units).map((measure) => [measure, fieldOf(units, measure, z.string(), report)] as const);
  return Object.fromEntries(read.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

const AreaContextRow = z
  .object({ area_type: z.string(), taxonomy: Text, recording_id: Text })
  .transform(({ area_type, taxonomy, recording_id }) => ({ areaType: area_type, taxonomy, recordingId: recording_id }));

/** Throws ServiceError `bad_payload` where the reply is no array. */
export function parseAreaContexts(payload: unknown, report: ReportDeviation) {
  if (!Array.isArray(payload)) throw undocumented("Route detail/list", payload, report);
  const contexts = payload.flatMap((row): AreaContext[] => {
    const { data } = AreaContextRow.safeParse(row);
    if (!data) report("bad_row", () => row);
    return data ? [data] : [];
  });
  return { contexts, dropped: payload.length - contexts.length };
}
