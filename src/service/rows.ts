/** Parts that the readers of rows and replies share. */
import { z } from "zod";
import { ServiceError } from "./errors.ts";
import type { ReportDeviation } from "./reporter.ts";

/**
 * An id of the service: 24 hex digits (contract: "Location"), or any other well-formed text of up to 256 characters.
 * `__proto__` cannot be a key of an object, as in ioredis' replies.
 */
export const Id = z
  .string()
  .min(1)
  .max(256)
  .refine((id) => id !== "__proto__" && id.isWellFormed());

/** Longer names are cut: every alert stores them. */
export const Name = z.string().transform((name) => name.slice(0, 1_000).toWellFormed());

/** One field of a row: null is no data; a value that cannot be read is reported, and is no data either. */
export function fieldOf<T>(row: object, field: string, schema: z.ZodType<T>, report: ReportDeviation): T | undefined {
  const value = (row as Record<string, unknown>)[field];
  if (value === null || value === undefined) return undefined;
  const read = schema.safeParse(value);
  if (!read.success) report("bad_value", () => ({ field, value }));
  return read.data;
}

/** A fraction above 1 by no more is 1: rounding, or one segment too many in an hour of 60. */
const RATIO_TOLERANCE = 0.02;
const Ratio = z
  .number()
  .min(0)
  .max(1 + RATIO_TOLERANCE);

/** A fraction, 0–1; one above 1 is reported. */
export function ratioOf(row: object, field: string, report: ReportDeviation): number | undefined {
  const ratio = fieldOf(row, field, Ratio, report);
  if (ratio === undefined || ratio <= 1) return ratio;
  report("bad_value", () => ({ field, value: ratio }));
  return 1;
}

/** Reports a whole reply that cannot be used, and returns the error for it. */
export function undocumented(what: string, payload: unknown, report: ReportDeviation): ServiceError {
  report("bad_payload", () => payload);
  return new ServiceError("bad_payload", `${what} got a reply that is not in the documented shape: see the log.`);
}
