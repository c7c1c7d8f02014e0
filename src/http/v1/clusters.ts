/** `GET /api/v1/clusters`: what needs somebody, as the front page has it. */
import { z } from "zod";
import { causePhrase } from "../../alerting/clusters.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { phraseOf } from "../../alerting/words.ts";
import { countsIn, locationsOf } from "../../health/fleet-locations.ts";
import { runYielding } from "../../lib/yield.ts";
import { type BoardEntry, boardOf, entrySortKey } from "../page/board.ts";
import { boardPhrase } from "../page/headline.ts";
import { readPageData } from "../page/page-data.ts";
import { listingOf, pageParameters } from "../paging.ts";
import { isoTime } from "../query.ts";
import { operation, pageSchema, timeSchema } from "./operation.ts";

const MOST_FINGERPRINTS = 100;

const Cause = z
  .strictObject({
    label: z.string().describe("Shared by the recordings: `camera_server`, `location_id`, `organisation`."),
    value: z.string(),
    affected: z.int().min(0).describe("Recordings with that label that these alerts are about."),
    known: z.int().min(0).describe("Recordings with that label."),
    isAlone: z.boolean().describe("No other recording is offline or unknown."),
    text: z.string().describe("In words: `all 38 recordings of camera server edge-7, no other`."),
  })
  .readonly();

/** Of a board's entry. */
export const ApiCluster = z
  .strictObject({
    text: z.string().describe("What is wrong: `20 locations offline`."),
    since: timeSchema,
    cause: Cause.nullable().describe("What explains it; null where nothing is known to."),
    alerts: z.int().min(1),
    locations: z.int().min(0),
    fingerprints: z.array(z.string()).readonly().describe(`Of its alerts, at most ${MOST_FINGERPRINTS}.`),
  })
  .readonly();

export const listClusters = operation({
  id: "listClusters",
  method: "get",
  path: "/api/v1/clusters",
  summary: "What needs somebody, as on the front page: alerts that belong together, or one by itself; the worst first.",
  query: z.strictObject(pageParameters),
  answer: pageSchema(ApiCluster, {
    headline: z
      .string()
      .describe(
        "In words, each outage once: `2 need attention: 1 location offline; 1 silenced`; where no status is known, that first.",
      ),
  }),
  async handle(deps, { query, signal }) {
    const data = await readPageData(deps, { figures: false });
    const board = await runYielding(boardOf(data), signal);
    const { items, nextCursor } = await runYielding(listingOf(board.entries, query, entrySortKey), signal);
    const counts = countsIn((await runYielding(locationsOf(data.fleet), signal)).values());
    return {
      headline: boardPhrase(board, { counts, evidence: data.fleet.evidence }),
      items: items.map(rowOf),
      nextCursor,
    };
  },
});

function rowOf({ alerts, since, cause }: BoardEntry): z.infer<typeof ApiCluster> {
  const { label = "", value = "", affected = 0, known = 0, isAlone = false } = cause ?? {};
  const prints = alerts.slice(0, MOST_FINGERPRINTS).map(({ labels }) => fingerprint(labels));
  return {
    text: phraseOf(alerts),
    since: isoTime(since),
    cause: cause ? { label, value, affected, known, isAlone, text: causePhrase(cause) } : null,
    alerts: alerts.length,
    locations: new Set(alerts.flatMap(({ labels }) => labels.location_id || [])).size,
    fingerprints: [...new Set(prints)],
  };
}
