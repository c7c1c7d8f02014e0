/** `GET /api/v1/overview`: what needs somebody, as on the front page, and the recordings that are not well by location. */
import { z } from "zod";
import { attentionTo } from "../../alerting/attention.ts";
import { causePhrase } from "../../alerting/clusters.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { overviewPhrase } from "../../alerting/headline.ts";
import { entrySortKey, type LocationSummary, type OverviewEntry, overviewOf } from "../../alerting/overview.ts";
import { phraseOf, severityRank } from "../../alerting/words.ts";
import { groupLabels, groupOfSubject } from "../../health/alert.ts";
import { statesAt } from "../../health/fleet-locations.ts";
import { recordingStatuses, worstFirst } from "../../health/recording.ts";
import { noCounts, totalOf } from "../../health/shard-counts.ts";
import { currentStatus, type RecordingState } from "../../health/shard-state.ts";
import { sortKey } from "../../lib/sort-key.ts";
import { runYielding } from "../../lib/yield.ts";
import type { ActiveAlert } from "../deps.ts";
import { type PageData, readPageData } from "../page/page-data.ts";
import { listingOf, pageParameters } from "../paging.ts";
import { booleanFlag, isoTime, repeated } from "../query.ts";
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
  summary: `What needs somebody, and where; at most ${MOST_PLACES} locations a page, the worst first.`,
  query: OverviewQuery,
  answer: ApiOverview,
  async handle(deps, { query, signal }) {
    const data = await readPageData(deps);
    const handled = handledAmong(data.suppressed.values());
    const overview = await runYielding(overviewOf(data), signal);
    const clusters = await runYielding(listingOf(overview.entries, { limit: MOST_CLUSTERS }, entrySortKey), signal);
    const places = placesIn(data, overview.locations, handled, query);
    const page = { ...query, limit: Math.min(query.limit, MOST_PLACES) };
    const { items, nextCursor } = await runYielding(listingOf(places.all, page, places.keyOf, 4), signal);
    return {
      headline: overviewPhrase(overview, data.fleet.evidence),
      recordings: places.counts,
      clusters: clusters.items.map(clusterRow),
      items: items.map(places.rowOf),
      nextCursor,
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

/** A location with the alerts about it as a whole; or one alert that is about no location. */
interface Place {
  readonly location?: LocationSummary;
  readonly alerts: readonly ActiveAlert[];
}

/**
 * The places of an answer. A recording is left out that is online without an alert, or whose alerts are explained by one
 * of its location or of a group.
 */
function placesIn(
  { fleet, suppressed }: PageData,
  locations: ReadonlyMap<string, LocationSummary>,
  handled: HandledAlerts,
  query: OverviewQuery,
) {
  const isWhole = query.location.length + query.status.length === 0;
  const hasAll = query.all || !isWhole;
  const isWanted = namedIn(query.location);
  const wider = isWhole ? [...suppressed.values()].filter(({ alert }) => alert.labels.recording_id === undefined) : [];
  const about = Map.groupBy(wider, ({ alert }) => alert.labels.location_id ?? "");
  const groups = new Set(wider.flatMap(({ alert }) => (outageOf(alert) ? fingerprint(alert.labels) : [])));
  const counts = noCounts();
  const isExplained = (active: ActiveAlert | undefined) =>
    active !== undefined &&
    attentionTo(active) === "inhibited" &&
    (active.inhibitedBy ?? []).some((print) => groups.has(print));
  const firingOf = ({ alerts = {} }: RecordingState) =>
    Object.values(alerts).flatMap((one) =>
      one.state === "firing" ? [{ one, by: handled.size > 0 ? handled.get(fingerprint(one.labels)) : undefined }] : [],
    );
  const statusOf = (state: RecordingState) => currentStatus(state, fleet.now, fleet.statusIntervalMs);

  /** Lower is worse: an alert that needs somebody, one that is handled, a pending one, none; then by status. */
  function rankOf(state: RecordingState): number {
    const firing = firingOf(state).map(({ one, by }) => alertRank(one.labels, by));
    const pending = Object.values(state.alerts ?? {}).some((one) => one.state !== "firing");
    return Math.min(...firing, pending ? 200 : 300) + worstFirst.indexOf(statusOf(state));
  }

  function linesAt({ location, alerts }: Place) {
    const states = location ? [...statesAt([location])] : [];
    const wanted = states.filter((state) => query.status.length === 0 || query.status.includes(statusOf(state)));
    const hasLine = (state: RecordingState) => {
      if (hasAll) return true;
      const firing = firingOf(state);
      if (alerts.length > 0 || firing.some(({ by }) => isExplained(by)))
        return firing.some(({ by }) => !by || attentionTo(by) !== "inhibited");
      return statusOf(state) !== "online" || state.alerts !== undefined;
    };
    const named = alerts.filter((one) => hasAll || !isExplained(one));
    return { wanted, rows: wanted.filter(hasLine), alerts: named };
  }

  const elsewhere = wider.filter(({ alert }) => {
    const location = locations.get(alert.labels.location_id ?? "");
    return !location || totalOf(location.counts) === 0;
  });
  const known = locations.values().map((location): Place => ({ location, alerts: about.get(location.id) ?? [] }));
  return {
    all: [...elsewhere.map((one): Place => ({ alerts: [one] })), ...known],
    /** Counted in passing. */
    counts,
    keyOf(place: Place): string | undefined {
      const { location, alerts } = place;
      const [alone] = alerts;
      if (!location && alone) return sortKey(`0${key(alertRank(alone.alert.labels, alone))}`, [], alone.alert.id);
      if (!location || totalOf(location.counts) === 0 || !isWanted(location.id, location.name)) return undefined;
      const lines = linesAt(place);
      for (const state of lines.wanted) counts[statusOf(state)] += 1;
      if (lines.rows.length + lines.alerts.length === 0) return undefined;
      const ranks = [...alerts.map((one) => alertRank(one.alert.labels, one)), ...lines.wanted.map(rankOf)];
      return sortKey(`1${key(Math.min(...ranks))}`, [location.name], location.id);
    },
    rowOf(place: Place): z.infer<typeof ApiPlace> {
      const { id = null, name = null } = place.location ?? {};
      const { wanted, rows, alerts } = linesAt(place);
      const nameOf = (state: RecordingState) => fleet.inventory.recording(state.id)?.name || state.id;
      const keyed = rows.map((state) => [sortKey(key(rankOf(state)), [nameOf(state)], state.id), state] as const);
      const recordings = noCounts();
      for (const state of wanted) recordings[statusOf(state)] += 1;
      return {
        ...{ locationId: id, location: name, recordings },
        alerts: alerts
          .toSorted((a, b) => alertRank(a.alert.labels, a) - alertRank(b.alert.labels, b))
          .map((one) => ({ ...alertRow(one.alert, one), outage: outageOf(one.alert) })),
        rows: keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, state]) => recordingRow(state, fleet, handled)),
      };
    },
  };
}

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
