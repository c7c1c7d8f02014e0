/** The columns of each answer: their names are those of its JSON and CSV. */
import { DateTime } from "luxon";
import type { Location, Recording, UptimeBucket } from "../health/recording.ts";
import { ratioBetween } from "../health/uptime.ts";
import { DAY_MS } from "../lib/clock.ts";
import { type LocalHours, localDay } from "../lib/local-hours.ts";
import { dayOfIndex } from "../lib/when.ts";
import type { MetricReplyRow } from "../service/metric-rows.ts";
import type { Ask, QueryRoute } from "./ask.ts";

/** Null is no data, never 0. */
export type QueryCell = string | number | boolean | null;
export type QueryRow = Readonly<Record<string, QueryCell>>;

const MEASURES: Readonly<Partial<Record<QueryRoute, readonly string[]>>> = {
  entries: ["entries"],
  zones: ["area_total_entries", "area_total_dwell_time", "area_average_dwell_time"],
  dwell: ["average_dwell_time"],
  conversion: ["sales_conversion_rate"],
};
const PLACE = ["locationId", "location"];
const RECORDING = ["recordingId", "recording"];
const FIGURES = ["segmentsExpected", "segmentsReceived", "avgUptimeOnSegment", "pcSegmentsReceived", "overallUptime"];
const TRAITS = ["organisation", "cameraServer", "useUploadingSchedule", "timezone"];

/** `area_total_entries` → `areaTotalEntries`. */
export function columnOf(measure: string): string {
  return measure.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** In order; of the facet estimates, whose fields are not documented, those before them. */
export function columnsOf({ route, every, split, estimates }: Ask): string[] {
  const period = every === undefined ? [] : [every];
  switch (route) {
    case "locations":
      return [...PLACE, "timezone"];
    case "areas":
      return [...PLACE, ...RECORDING, "areaType", "zone"];
    case "status":
      return [...PLACE, ...RECORDING, "status", "lastSeen", "averageQuality", ...TRAITS];
    case "uptime":
      return [
        ...PLACE,
        ...RECORDING,
        ...period,
        ...(every === "hour" ? ["withinSchedule"] : []),
        ...FIGURES,
        ...TRAITS,
      ];
    default: {
      const zone = route === "zones" ? ["zone"] : [];
      const measures = (MEASURES[route] ?? []).map(columnOf);
      return estimates ? PLACE : [...PLACE, ...period, ...zone, ...Object.keys(split), ...measures];
    }
  }
}

/** A location with a name, which is its id where the service gives none. */
export type QueryPlace = { readonly id: string; readonly name: string; readonly timezone: string | undefined };

export function placeOf({ id, name, timezone }: Location): QueryPlace {
  return { id, name: name || id, timezone };
}

/** One row of a metric reply, of `route`; `period` where the request was for one. */
export function metricCells(
  { index, taxonomy, age, gender, role, values }: MetricReplyRow<string>,
  { route, every, split }: Ask,
  { zone, period }: { readonly zone: string; readonly period: string | undefined },
): QueryRow {
  const day = index === undefined ? undefined : dayOfIndex(index, zone);
  const served = every === "month" ? day?.slice(0, "2026-01".length) : day;
  const people = { age, gender, role };
  const dimensions = Object.entries(people).filter(([name]) => name in split);
  return {
    ...(every === undefined ? {} : { [every]: period ?? served ?? null }),
    ...(route === "zones" ? { zone: taxonomy ?? null } : {}),
    ...Object.fromEntries(dimensions.map(([name, value]) => [name, value ?? null])),
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [columnOf(name), value ?? null])),
  };
}

const MOST_FIELDS = 30;

/** A row of the facet estimates as served, with the location's name: single values only. */
export function estimateCells(
  row: unknown,
  placeAt: (id: string) => Pick<QueryPlace, "id" | "name"> | undefined,
): QueryRow {
  const fields = Object.entries((row ?? {}) as object).slice(0, MOST_FIELDS);
  const isCell = (value: unknown): value is QueryCell => value === null || /^(str|num|boo)/.test(typeof value);
  const cells = fields.filter((field): field is [string, QueryCell] => isCell(field[1]));
  const { location, ...served } = Object.fromEntries(
    cells.map(([name, value]) => [name, typeof value === "string" ? value.slice(0, 200) : value]),
  );
  return { ...headCells(placeAt(String(location ?? ""))), ...served };
}

/** The place, and of a row about a recording that too, as far as they are known. */
export function headCells(
  place: Pick<QueryPlace, "id" | "name"> | undefined,
  recording?: Pick<Recording, "id" | "name">,
): QueryRow {
  const head = { locationId: place?.id ?? null, location: place?.name ?? null };
  return recording ? { ...head, recordingId: recording.id, recording: recording.name } : head;
}

export function traitCells({
  organisation,
  cameraServer,
  useUploadingSchedule,
  timezone,
}: Partial<Recording> = {}): QueryRow {
  const texts = { organisation: organisation || null, cameraServer: cameraServer || null };
  return { ...texts, useUploadingSchedule: useUploadingSchedule ?? null, timezone: timezone ?? null };
}

/**
 * The buckets as rows: one for each period, one for all without. What is outside the schedule counts in no sum. `hours`
 * caches the days of hours.
 */
export function uptimeCells(
  buckets: readonly UptimeBucket[],
  every: Ask["every"],
  timezone: string,
  hours: LocalHours,
): QueryRow[] {
  if (every === "hour") {
    return buckets.map(({ startAt, withinSchedule, ...figures }) => ({
      hour: new Date(startAt).toISOString(),
      withinSchedule,
      ...Object.fromEntries(FIGURES.map((name) => [name, figures[name as keyof typeof figures] ?? null])),
    }));
  }
  if (every === undefined) return [sumCells(buckets)];
  const days = Map.groupBy(buckets, ({ startAt }) => localDay(hours.at(startAt, timezone).slot));
  const periods = Map.groupBy(days, ([day]) => periodName(DateTime.fromMillis(day * DAY_MS, { zone: "utc" }), every));
  return [...periods].map(([name, of]) => ({ [every]: name, ...sumCells(of.flatMap(([, within]) => within)) }));
}

const PERIOD_FORMATS = { day: "yyyy-MM-dd", week: "kkkk-'W'WW", month: "yyyy-MM" } as const;

/** `2026-01-31`, `2026-W05` (ISO 8601) or `2026-01`. */
export function periodName(day: DateTime, every: keyof typeof PERIOD_FORMATS): string {
  return day.toFormat(PERIOD_FORMATS[every]);
}

function sumCells(all: readonly UptimeBucket[]): QueryRow {
  const within = all.filter(({ withinSchedule }) => withinSchedule);
  const received = sumOf(within, ({ segmentsReceived }) => segmentsReceived);
  const counted = within.filter((one) => one.segmentsExpected !== undefined && one.segmentsReceived !== undefined);
  const rated = counted.filter(({ avgUptimeOnSegment }) => avgUptimeOnSegment !== undefined);
  return {
    segmentsExpected: sumOf(within, ({ segmentsExpected }) => segmentsExpected),
    segmentsReceived: received,
    avgUptimeOnSegment: share(
      rated,
      (one) => (one.avgUptimeOnSegment ?? 0) * (one.segmentsReceived ?? 0),
      "segmentsReceived",
    ),
    pcSegmentsReceived: share(counted, (one) => one.segmentsReceived, "segmentsExpected"),
    overallUptime: ratioBetween(within, { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }) ?? null,
  };
}

type FigureOf = (bucket: UptimeBucket) => number | undefined;

function sumOf(buckets: readonly UptimeBucket[], of: FigureOf): number | null {
  const known = buckets.map(of).filter((figure) => figure !== undefined);
  return known.length === 0 ? null : known.reduce((total, figure) => total + figure, 0);
}

function share(buckets: readonly UptimeBucket[], part: FigureOf, whole: "segmentsExpected" | "segmentsReceived") {
  const all = sumOf(buckets, (bucket) => bucket[whole]);
  return all ? (sumOf(buckets, part) ?? 0) / all : null;
}
