import type { z } from "zod";

/** A zod error as one line: each problem with the path of the key it is about. */
export function issuesText(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ");
}
