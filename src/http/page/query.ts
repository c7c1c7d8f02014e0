/** The parameters of the pages. Unknown ones are ignored, as mail programs add parameters to links. */
import { z } from "zod";
import { pageParameters } from "../paging.ts";

const refresh = z.literal("off", { error: "expected off" }).optional();

/** Undefined where it is empty. */
const text = (error: string) =>
  z
    .string({ error })
    .max(256, error)
    .transform((given) => given.trim() || undefined)
    .optional();

export const HomeQuery = z.object({
  show: z
    .enum(["locations", "alerts", "silences", "search"], { error: "expected locations, alerts, silences or search" })
    .optional(),
  location: text("expected one id"),
  q: text("expected one text of at most 256 characters"),
  cursor: pageParameters.cursor,
  refresh,
});
export type HomeQuery = z.infer<typeof HomeQuery>;

export const RecordingQuery = z.object({ cursor: pageParameters.cursor, refresh });
export type RecordingQuery = z.infer<typeof RecordingQuery>;

export const AlertQuery = z.object({ refresh });
