/**
 * Queries and replies of the metric and detail routes. A filter is a breakdown with values (contract: "Rules" 1), so a
 * dimension is either split (`true`) or filtered (a list).
 */
import type { Instant } from "../lib/clock.ts";

/** A dimension to split by: `true` gives a row per value, a list only those values. */
export type Demographic = true | readonly string[];

/** `ages` have the shape `25_34`; `genders` and `roles` are as the service names them (contract: not enumerated). */
export interface Demographics {
  readonly age?: Demographic;
  readonly gender?: Demographic;
  readonly role?: Demographic;
}

/** A row per location. */
export interface ByEntity {
  readonly entity?: true;
}

export interface PeriodQuery {
  readonly start: Instant;
  /** After `start`. */
  readonly end: Instant;
  /** Location ids, at least one. */
  readonly locations: readonly string[];
  readonly aggregationPeriod?: "day" | "month";
}

export interface EntriesQuery extends PeriodQuery {
  readonly facets: readonly ("segments" | "summary" | "estimates")[];
  readonly breakdown?: Demographics & ByEntity;
}

export interface AreaDataQuery extends PeriodQuery {
  readonly facets: readonly ("segments" | "summary")[];
  /** Zone taxonomies, `<Group>:<Subgroup>:<Name>`, at least one. */
  readonly taxonomies: readonly string[];
  /** `taxonomy` splits per zone. */
  readonly breakdown?: Demographics & ByEntity & { readonly taxonomy?: true };
}

export interface AverageDwellTimeQuery extends PeriodQuery {
  readonly facets: readonly ("segments" | "summary")[];
  readonly breakdown?: Demographics & ByEntity;
}

/** Sales carry no visitor attributes (contract: "Rules" 3): always by entity, never filtered. */
export interface ConversionRateQuery extends PeriodQuery {
  readonly facets: readonly ("segments" | "summary")[];
}

/** One row. A measure the service sent as null, or not at all, is undefined: no data, never 0. */
export interface MetricReplyRow<Measure extends string> {
  /** Segments only: the bucket's start as served, `YYYY-MM-DDTHH:mm:ss.sss` without a zone (contract: not stated). */
  readonly index: string | undefined;
  /** Location id. */
  readonly location: string | undefined;
  readonly taxonomy: string | undefined;
  readonly age: string | undefined;
  readonly gender: string | undefined;
  readonly role: string | undefined;
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

/** People counted in, unit `peopleCount`. */
export type EntriesMeasure = "entries";
/** Times in seconds. */
export type AreaMeasure = "area_total_entries" | "area_total_dwell_time" | "area_average_dwell_time";
/** Seconds. */
export type DwellMeasure = "average_dwell_time";
/** Ratio, 0.5 is 50 percent. */
export type ConversionMeasure = "sales_conversion_rate";

/** A zone a recording covers (`detail/list`, `returnEntityType: area_context`). */
export interface AreaContext {
  /** Seen: `taxonomy`. */
  readonly areaType: string;
  readonly taxonomy: string | undefined;
  readonly recordingId: string | undefined;
}

export interface AreaContextsQuery {
  readonly entities: readonly string[];
  readonly entityType: "location" | "recording";
}
