/** `GET /api/v1/overview`: what needs somebody, as on the front page, and the recordings that are not well by location. */
import { z } from "zod";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { fleetTone, overviewPhrase } from "../../alerting/headline.ts";
import { causePhrase } from "../../alerting/incident-cause.ts";
import { incidentTitle } from "../../alerting/incident-words.ts";
import { entrySortKey, type OverviewEntry, overviewOf } from "../../alerting/overview.ts";
import { tones } from "../../alerting/tone.ts";
import { recordingStatuses } from "../../health/recording.ts";
import { namesIn, type PageData, readPageData } from "../page/page-data.ts";
import { listingOf, pageParameters } from "../paging.ts";
import { booleanFlag, isoTime, repeated } from "../query.ts";
import { pageOfParts } from "../shard-paging.ts";
import { operation, pageSchema, timeSchema } from "./operation.ts";
import { ApiPlace, Counts, placesIn } from "./places.ts";

const MOST_FINGERPRINTS = 100;
const MOST_INCIDENTS = 100;
/** Each has all of its recordings. */
const MOST_PLACES = 100;

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

export const ApiOpenIncident = z
  .strictObject({
    id: z.string().describe("Such as `I-4F2K7`."),
    title: z.string().describe("What is wrong: `240 cameras at 30 locations offline`."),
    startsAt: timeSchema,
    cause: Cause.nullable().describe("What explains it; null where nothing is known to."),
    alerts: z.int().min(1),
    locations: z.int().min(0),
    fingerprints: z.array(z.string()).readonly().describe(`Of its alerts, at most ${MOST_FINGERPRINTS}.`),
  })
  .readonly();

export const ApiOverview = pageSchema(ApiPlace, {
  timezone: z.string().nullable().describe("Of times for people: `display.timezone`; null: the reader's own."),
  banner: z
    .strictObject({
      tone: z.enum(tones),
      summary: z.string(),
      text: z.string().describe("What it means, its cause, and what to do."),
      since: timeSchema,
      fingerprint: z.string().nullable().describe("Of its alert; null before that fires."),
    })
    .readonly()
    .nullable()
    .describe("The worst that is wrong with lenswatch itself, as at the top of every page; null where nothing is."),
  headline: z
    .string()
    .describe(
      "In words, each outage once: `2 need attention: 1 location offline; 1 silenced`; where no status is known, that first.",
    ),
  tone: z.enum(tones).describe("How bad that is, as the page shows it; `info`: what fires needs nobody."),
  recordings: Counts.describe("Recordings of all pages together that the query asks for, by status."),
  incidents: z
    .array(ApiOpenIncident)
    .readonly()
    .describe(`Open ones with alerts that need somebody: at most ${MOST_INCIDENTS}, the worst first.`),
});

const OverviewQuery = z.strictObject({
  ...pageParameters,
  location: repeated(z.string()).describe("Id or full name, in any case; may be repeated."),
  status: repeated(z.enum(recordingStatuses, { error: `expected one of ${recordingStatuses.join(", ")}` })),
  all: booleanFlag
    .default(false)
    .meta({
      type: "boolean",
      description: "Recordings that are well too, and those whose alerts another one explains.",
    }),
});
export const getOverview = operation({
  id: "getOverview",
  method: "get",
  path: "/api/v1/overview",
  summary: `What needs somebody, and where; a page is of at most ${MOST_PLACES} locations of one shard, the worst first.`,
  query: OverviewQuery,
  answer: ApiOverview,
  async handle(deps, { query }) {
    const data = await readPageData(deps);
    const overview = overviewOf(data);
    const incidents = listingOf(overview.entries, { limit: MOST_INCIDENTS }, entrySortKey);
    const { counts, parts } = placesIn(data, query, deps);
    const page = await pageOfParts(parts, { ...query, limit: Math.min(query.limit, MOST_PLACES) });
    return {
      timezone: deps.config().display?.timezone ?? null,
      banner: bannerRow(data),
      headline: overviewPhrase(overview, data.fleet),
      tone: fleetTone(overview, data.fleet),
      recordings: counts,
      incidents: incidents.items.map((entry) => incidentRow(entry, data)),
      ...page,
    };
  },
});

function bannerRow({ banner }: PageData) {
  if (!banner) return null;
  const { tone, summary, text, since, alert } = banner;
  return { tone, summary, text, since: isoTime(since), fingerprint: alert ? fingerprint(alert.labels) : null };
}

function incidentRow(
  { incident, alerts, since, cause }: OverviewEntry,
  data: PageData,
): z.infer<typeof ApiOpenIncident> {
  const { label = "", value = "", affected = 0, known = 0, isAlone = false } = cause ?? {};
  const prints = alerts.slice(0, MOST_FINGERPRINTS).map(({ labels }) => fingerprint(labels));
  return {
    id: incident.id,
    title: incidentTitle(incident, namesIn(data)),
    startsAt: isoTime(since),
    cause: cause ? { label, value, affected, known, isAlone, text: causePhrase(cause) } : null,
    alerts: alerts.length,
    locations: new Set(alerts.flatMap(({ labels }) => labels.location_id || [])).size,
    fingerprints: [...new Set(prints)],
  };
}
