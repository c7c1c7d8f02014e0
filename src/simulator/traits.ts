/** How the simulated service is where its contract leaves room: the section `traits` of a scenario file. */
import { z } from "zod";

export const Traits = z.strictObject({
  /** `capitals`: as `TOKEN-EXPIRED`; `numbers`: the HTTP status that the word stands for. */
  error_codes: z.enum(["words", "capitals", "numbers"]).default("words"),
  /** `nested`: `{error: {code, message}}`; `flat`: `{error: code, message}`. */
  error_shape: z.enum(["nested", "flat"]).default("nested"),
  /** Time zone of the buckets of an uptime history. */
  uptime_index: z.enum(["local", "utc"]).default("local"),
  /** Time zone in which a metric segment's `index` writes its beginning. */
  segment_index: z.enum(["local", "utc"]).default("local"),
});
export type Traits = z.output<typeof Traits>;

const STATUSES: Readonly<Record<string, number>> = {
  ...{ unauthorized: 401, token_expired: 401, forbidden: 403, bad_request: 400, unknown_route: 400, not_found: 404 },
  ...{ rate_limited: 429, internal: 500, fault: 503 },
};

/** The body of an error as this service writes it. */
export function errorBody(
  { error_codes: as, error_shape }: Traits,
  word: string,
  message: string,
): { error: unknown; message?: string } {
  const capitals = word.toUpperCase().replaceAll("_", "-");
  const code = as === "numbers" ? (STATUSES[word] ?? 500) : as === "capitals" ? capitals : word;
  return error_shape === "flat" ? { error: code, message } : { error: { code, message } };
}
