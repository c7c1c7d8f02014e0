/** What the readers of rows and replies share. */
import { z } from "zod";
import { ServiceError } from "./errors.ts";
import type { ReportDeviation } from "./reporter.ts";

/**
 * An id of the service: 24 hex digits (contract: "Location"), or any other text of up to 256 characters. `__proto__`
 * cannot be a key of an object, as in ioredis' replies.
 */
export const Id = z
  .string()
  .min(1)
  .max(256)
  .refine((id) => id !== "__proto__");

/** Longer names are cut: every alert stores them. */
export const Name = z.string().transform((name) => name.slice(0, 1_000).toWellFormed());

/** Reports a whole reply that cannot be used, and returns the error for it. */
export function undocumented(what: string, payload: unknown, report: ReportDeviation): ServiceError {
  report("bad_payload", () => payload);
  return new ServiceError("bad_payload", `${what} got a reply that is not in the documented shape: see the log.`);
}
