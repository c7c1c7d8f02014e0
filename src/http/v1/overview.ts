/** `GET /api/v1/overview`: what needs somebody, as on the front page, and the recordings that are not well by location. */
import { z } from "zod";
import { attentionTo } from "../../alerting/attention.ts";
import { causePhrase } from "../../alerting/clusters.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { overviewPhrase } from "../../alerting/headline.ts";
import { entrySortKey, type OverviewEntry, occurring, overviewOf } from "../../alerting/overview.ts";
import { phraseOf, severityRank } from "../../alerting/words.ts";
import { groupLabels, groupOfSubject } from "../../health/alert.ts";
import { recordingStatuses, worstFirst } from "../../health/recording.ts";
import type { FleetOverview, LocationOverview } from "../../health/shard-overview.ts";
import { type FleetSnapshot, type RecordingState, statusOf } from "../../health/shard-state.ts";
import { noCounts, totalOf } from "../../health/status-counts.ts";
import { sortKey } from "../../lib/sort-key.ts";
import { runYielding } from "../../lib/yield.ts";
import type { ActiveAlert, HttpDeps } from "../deps.ts";
import { inTime, type PageData, readPageData, statesAt } from "../page/page-data.ts";
import { listingOf, pageParameters } from "../paging.ts";
import { booleanFlag, isoTime, repeated } from "../query.ts";
import { type Part, pageOfParts } from "../shard-paging.ts";
import { namedIn } from "./locations.ts";
import {
  AlertRow,
  alertRow,
  type HandledAlerts,
  handledAmong,
  operation,
  pageSchema,
  timeSchema,
} from "./operation.ts";
import { ApiRecording, recordingRow } from "./recordings.ts";

const MOST_FINGERPRINTS = 100;
const MOST_CLUSTERS = 100;
/** Each has all of its recordings. */
const MOST_PLACES = 100;

const Counts = z.record(z.enum(recordingStatuses), z.int().min(0)).readonly();

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

const Outage = z
  .strictObject({
    label: z.enum(groupLabels),
    value: z.string(),
    offline: z.int().min(0),
    locations: z.int().min(0).nullable(),
  })
  .readonly();

export const ApiPlace = z
  .strictObject({
    locationId: z.string().nullable().describe("Null for an alert that is not about one location."),
    location: z.string().nullable(),
    recordings: Counts.describe("Its recordings by status."),
    alerts: z
      .array(
        z
          .strictObject({
            ...AlertRow.unwrap().shape,
            outage: Outage.nullable().describe("Of an alert about a group."),
          })
          .readonly(),
      )
      .readonly()
      .describe("About more than one recording, the worst first."),
    rows: z.array(ApiRecording).readonly().describe("Recordings that are not well, the worst first."),
  })
  .readonly();

export const ApiOverview = pageSchema(ApiPlace, {
  headline: z
    .string()
    .describe(
      "In words, each outage once: `2 need attention: 1 location offline; 1 silenced`; where no status is known, that first.",
    ),
  recordings: Counts.describe("Recordings of all pages together that the query asks for, by status."),
  clusters: z
    .array(ApiCluster)
    .readonly()
    .describe(`Alerts that belong together, or one by itself: at most ${MOST_CLUSTERS}, the worst first.`),
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
type OverviewQuery = z.infer<typeof OverviewQuery>;

export const getOverview = operation({
  id: "getOverview",
  method: "get",
  path: "/api/v1/overview",
  summary: `What needs somebody, and where; a page is of at most ${MOST_PLACES} locations of one shard, the worst first.`,
  query: OverviewQuery,
  answer: ApiOverview,
  async handle(deps, { query, signal }) {
    const data = await readPageData(deps);
    const overview = overviewOf(data);
    const clusters = await runYielding(listingOf(overview.entries, { limit: MOST_CLUSTERS }, entrySortKey), signal);
    const { counts, parts } = placesIn(data, query, deps);
    const page = await pageOfParts(parts, { ...query, limit: Math.min(query.limit, MOST_PLACES) });
    return {
      headline: overviewPhrase(overview, data.fleet),
      recordings: counts,
      clusters: clusters.items.map(clusterRow),
      ...page,
    };
  },
});

function clusterRow({ alerts, since, cause }: OverviewEntry): z.infer<typeof ApiCluster> {
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

/**
 * The places of an answer: alerts that are about no location, then the shards, that of the worst alert or status first. A
 * recording is left out that is online without an alert, or whose alerts are explained by one of its location or of a group.
 */
function placesIn({ fleet, suppressed }: PageData, query: OverviewQuery, deps: Pick<HttpDeps, "shards" | "limits">) {
  const { inventory } = fleet;
  const isWhole = query.location.length + query.status.length === 0;
  const isWanted = namedIn(query.location);
  const wanted = [...fleet.locations.values()].filter(
    ({ id, counts }) => totalOf(counts) > 0 && isWanted(id, inventory.location(id)?.name),
  );
  const asked = query.status.length === 0 ? recordingStatuses : query.status;
  const counts = noCounts();
  for (const location of wanted) for (const status of asked) counts[status] += location.counts[status];

  const wider = isWhole ? [...suppressed.values()].filter(({ alert }) => alert.labels.recording_id === undefined) : [];
  const lines = linesBy(wider, handledAmong(suppressed.values()), query);
  const elsewhere = wider.filter(({ alert }) => {
    const location = fleet.locations.get(alert.labels.location_id ?? "");
    return !location || totalOf(location.counts) === 0;
  });
  const apart: Part<z.infer<typeof ApiPlace>> = {
    key: "0",
    isStored: false,
    rows: async () =>
      elsewhere.map((one) => {
        const rank = sortKey(key(alertRank(one.alert.labels, one)), [], one.alert.id);
        return [rank, { ...NOWHERE, alerts: [placeAlert(one)] }] as const;
      }),
  };
  const shards = rankedShards(fleet, wanted, suppressed.values(), query).map(
    ([shard, rank]): Part<z.infer<typeof ApiPlace>> => ({
      key: `1${key(rank)}${String(shard).padStart(8, "0")}`,
      isStored: true,
      async rows() {
        const here = await inTime(deps.shards([shard]), deps);
        return wanted.flatMap((one) => (one.shard === shard ? (lines(one, here) ?? []) : []));
      },
    }),
  );
  return { counts, parts: [apart, ...shards.sort((a, b) => (a.key < b.key ? -1 : 1))] };
}

const NOWHERE = { locationId: null, location: null, recordings: noCounts(), rows: [] };

/** The shards with something to list, each with the rank of its worst alert or status. */
function rankedShards(
  fleet: FleetOverview,
  wanted: readonly LocationOverview[],
  active: Iterable<ActiveAlert>,
  { all, location, status }: OverviewQuery,
): [shard: number, rank: number][] {
  const isWhole = location.length + status.length === 0;
  const ranks = new Map<number, number>();
  const note = (shard: number, rank: number) => ranks.set(shard, Math.min(ranks.get(shard) ?? rank, rank));
  for (const { shard, counts } of wanted) {
    const [worst] = occurring(counts).filter((one) => status.length === 0 || status.includes(one));
    if (worst && (all || !isWhole || worst !== "online" || fleet.alerting.has(shard)))
      note(shard, 300 + worstFirst.indexOf(worst));
  }
  for (const one of active) {
    const { shard } = fleet.locations.get(one.alert.labels.location_id ?? "") ?? {};
    if (shard !== undefined && (isWhole || ranks.has(shard))) note(shard, alertRank(one.alert.labels, one));
  }
  return [...ranks];
}

/** Gives the row of a location by its key; undefined where nothing of it is listed. */
function linesBy(wider: readonly ActiveAlert[], handled: HandledAlerts, query: OverviewQuery) {
  const hasAll = query.all || query.location.length + query.status.length > 0;
  const about = Map.groupBy(wider, ({ alert }) => alert.labels.location_id ?? "");
  const groups = new Set(wider.flatMap(({ alert }) => (outageOf(alert) ? fingerprint(alert.labels) : [])));
  const isExplained = (active: ActiveAlert | undefined) =>
    active !== undefined &&
    attentionTo(active) === "inhibited" &&
    (active.inhibitedBy ?? []).some((print) => groups.has(print));
  const firingOf = ({ alerts = {} }: RecordingState) =>
    Object.values(alerts).flatMap((one) =>
      one.state === "firing" ? [{ one, by: handled.size > 0 ? handled.get(fingerprint(one.labels)) : undefined }] : [],
    );

  return ({ id }: LocationOverview, here: FleetSnapshot) => {
    const name = here.inventory.location(id)?.name || id;
    const statusIn = (state: RecordingState) => statusOf(state, here);
    /** Lower is worse: an alert that needs somebody, one that is handled, a pending one, none; then by status. */
    const rankOf = (state: RecordingState) => {
      const firing = firingOf(state).map(({ one, by }) => alertRank(one.labels, by));
      const pending = Object.values(state.alerts ?? {}).some((one) => one.state !== "firing");
      return Math.min(...firing, pending ? 200 : 300) + worstFirst.indexOf(statusIn(state));
    };
    const alerts = about.get(id) ?? [];
    const hasLine = (state: RecordingState) => {
      if (hasAll) return true;
      const firing = firingOf(state);
      if (alerts.length > 0 || firing.some(({ by }) => isExplained(by)))
        return firing.some(({ by }) => !by || attentionTo(by) !== "inhibited");
      return statusIn(state) !== "online" || state.alerts !== undefined;
    };
    const states = statesAt(here, id).filter(
      (state) => query.status.length === 0 || query.status.includes(statusIn(state)),
    );
    const listed = states.filter(hasLine);
    const named = alerts.filter((one) => hasAll || !isExplained(one));
    if (listed.length + named.length === 0) return undefined;
    const ranks = [...alerts.map((one) => alertRank(one.alert.labels, one)), ...states.map(rankOf)];
    const recordings = noCounts();
    for (const state of states) recordings[statusIn(state)] += 1;
    const nameOf = (state: RecordingState) => here.inventory.recording(state.id)?.name || state.id;
    const keyed = listed.map((state) => [sortKey(key(rankOf(state)), [nameOf(state)], state.id), state] as const);
    const row: z.infer<typeof ApiPlace> = {
      ...{ locationId: id, location: name, recordings },
      alerts: named.toSorted((a, b) => alertRank(a.alert.labels, a) - alertRank(b.alert.labels, b)).map(placeAlert),
      rows: keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, state]) => recordingRow(state, here, handled)),
    };
    return [[sortKey(key(Math.min(...ranks)), [name], id), row] as const];
  };
}

const placeAlert = (one: ActiveAlert) => ({ ...alertRow(one.alert, one), outage: outageOf(one.alert) });

/** From 0 for what needs somebody, from 100 for what is handled; by severity, an alert of no location first. */
function alertRank(labels: ActiveAlert["alert"]["labels"], active: ActiveAlert | undefined): number {
  const placed = labels.location_id || labels.location ? 5 : 0;
  return (!active || attentionTo(active) === "needed" ? 0 : 100) + 10 * severityRank(labels) + placed;
}

const key = (rank: number) => String(rank).padStart(4, "0");

/** The outage of recordings that share a label: which one, how many are offline, and at how many locations. */
function outageOf({ subject, facts: { offline, locations } }: ActiveAlert["alert"]) {
  const group = groupOfSubject(subject);
  return group && offline !== undefined
    ? { label: group.label, value: group.value, offline, locations: locations ?? null }
    : null;
}
