import type { z } from "zod";
import { CodedError } from "../lib/errors.ts";

export type SimulatorErrorCode =
  | "bad_option"
  | "bad_scenario"
  | "bad_fault"
  | "bad_change"
  | "not_found"
  | "cannot_read"
  | "cannot_listen";

/** A request to the simulator that cannot be done; the message says what to write instead. */
export class SimulatorError extends CodedError<SimulatorErrorCode> {
  constructor(code: SimulatorErrorCode, message: string, cause?: unknown) {
    super(code, message, { retryable: false, cause });
  }
}

/** A zod error as one line: each problem with the path of the key it is about. */
export function issuesText(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ");
}

/** The value as the schema has it. Throws SimulatorError: `problem`, and what is wrong. */
export function parsed<T>(schema: z.ZodType<T>, given: unknown, code: SimulatorErrorCode, problem: string): T {
  const { data, error } = schema.safeParse(given);
  if (error) throw new SimulatorError(code, `${problem}: ${issuesText(error)}.`);
  return data as T;
}
