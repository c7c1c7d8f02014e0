/** `GET /api/v1/silences/preview`: what a silence with these matchers would suppress. */
import { z } from "zod";
import { parseMatchers } from "../../alerting/matcher.ts";
import { requestBudget } from "../../alerting/pattern.ts";
import { runYielding } from "../../lib/yield.ts";
import { readPageData } from "../page/page-data.ts";
import { previewOf } from "../page/silence-request.ts";
import { parsedBy } from "../query.ts";
import { operation } from "./operation.ts";

const LONGEST_MATCHERS = 12_000;

export const ApiSilencePreview = z
  .strictObject({
    alerts: z.int().min(0).describe("Firing alerts that it matches."),
    recordings: z.int().min(0).describe("Recordings whose alerts it could match."),
    of: z.int().min(0).describe("All recordings."),
    isIdle: z.boolean().describe("It matches nothing that is known: a name in it may be mistyped."),
    warnings: z.array(z.string()).readonly(),
  })
  .readonly();
export type ApiSilencePreview = z.infer<typeof ApiSilencePreview>;

export const previewSilence = operation({
  id: "previewSilence",
  method: "get",
  path: "/api/v1/silences/preview",
  summary: "What a silence with these matchers would suppress.",
  query: z.strictObject({
    matchers: z
      .string({ error: "expected matchers" })
      .max(LONGEST_MATCHERS, `expected at most ${LONGEST_MATCHERS} characters`)
      .transform(parsedBy((text: string) => parseMatchers(text, requestBudget())))
      .meta({ type: "string", description: 'Such as `location="Leeds", severity="warning"`.' }),
  }),
  answer: ApiSilencePreview,
  async handle(deps, { query: { matchers }, signal }) {
    const data = await readPageData(deps);
    const { alerts, covered, recordings, isIdle, warnings } = await runYielding(
      previewOf(matchers, data, deps.config().rules),
      signal,
    );
    return { alerts: alerts.total, recordings: covered, of: recordings, isIdle, warnings };
  },
});
