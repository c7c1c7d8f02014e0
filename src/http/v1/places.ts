/** The places of `GET /api/v1/overview`: locations with their recordings that are not well, and alerts that are about no location. */
import { z } from "zod";
import { attentionTo } from "../../alerting/attention.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { occurring } from "../../alerting/overview.ts";
import { severityRank } from "../../alerting/tone.ts";
import { groupLabels, groupName, groupOfSubject } from "../../health/alert.ts";
import { type RecordingStatus, recordingStatuses, worstFirst } from "../../health/recording.ts";
import { type LocationOverview, tallyOf } from "../../health/shard-overview.ts";
import { type FleetSnapshot, type RecordingState, statusOf } from "../../health/shard-state.ts";
import { noCounts, totalOf } from "../../health/status-counts.ts";
import { sortKey } from "../../lib/sort-key.ts";
import type { ActiveAlert, HttpDeps } from "../deps.ts";
import { inTime, type PageData } from "../page/page-data.ts";
import type { Part } from "../shard-paging.ts";
import { namedIn } from "./locations.ts";
import { AlertRow, alertRow, type HandledAlerts, handledAmong } from "./operation.ts";
import { ApiRecording, recordingRow } from "./recordings.ts";

export const Counts = z.record(z.enum(recordingStatuses), z.int().min(0)).readonly();

const Outage = z
  .strictObject({
    label: z.enum(groupLabels),
    value: z.string(),
    name: z.string().describe("Its name in the directory, else its id in brief."),
    offline: z.int().min(0),
    locations: z.int().min(0).nullable(),
  })
  .readonly();

export const ApiPlace = z
  .strictObject({
    locationId: z.string().nullable().describe("Null for an alert that is not about one location."),
    location: z.string().nullable(),
    recordings: Counts.describe("Its recordings by status."),
    lastKnown: Counts.describe("The unknown ones by their last known status; `unknown`: never read."),
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
    rows: z
      .array(ApiRecording)
      .readonly()
      .describe("Recordings that are not well, the worst first; while no status is known, those with alerts."),
  })
  .readonly();

type ApiPlace = z.infer<typeof ApiPlace>;

interface PlacesQuery {
  readonly location: readonly string[];
  readonly status: readonly RecordingStatus[];
  readonly all: boolean;
}

/**
 * The places that a query asks for: alerts that are about no location, then the shards, that of the worst alert or status
 * first; and all recordings by status.
 */
export function placesIn(
  { fleet, suppressed }: PageData,
  query: PlacesQuery,
  deps: Pick<HttpDeps, "shards" | "limits">,
): { readonly counts: z.infer<typeof Counts>; readonly parts: readonly Part<ApiPlace>[] } {
  const isWanted = namedIn(query.location);
  const wanted = [...fleet.locations.values()].filter(
    ({ id, counts }) => totalOf(counts) > 0 && isWanted(id, fleet.inventory.location(id)?.name),
  );
  const counts = noCounts();
  for (const location of wanted)
    for (const status of recordingStatuses) if (hasStatus(query, status)) counts[status] += location.counts[status];
  const active = [...suppressed.values()];
  const wider = active.filter(({ alert }) => query.status.length === 0 && alert.labels.recording_id === undefined);
  // While no status is known, the headline says so once.
  const isSilent = fleet.counts.unknown === totalOf(fleet.counts);
  const isWell: IsWell = (status) => status === "online" || (isSilent && status === "unknown");
  const rowOf = createPlaceRow(wider, handledAmong(active), query, isWell);
  const shards = rankedShards({ fleet, wanted, active }, query, isWell).map(([shard, rank]) => ({
    key: `1${key(rank)}${String(shard).padStart(8, "0")}`,
    isStored: true,
    async rows() {
      const here = await inTime(deps.shards([shard]), deps);
      const states = here.shards.flatMap(({ recordings }) => [...recordings.values()]);
      const byLocation = Map.groupBy(states, ({ locationId }) => locationId);
      const locations = wanted.filter((one) => one.shard === shard);
      return locations.flatMap(({ id }) => rowOf(id, byLocation.get(id) ?? [], here));
    },
  }));
  const elsewhere = wider.filter(({ alert: { labels } }) => {
    const location = fleet.locations.get(labels.location_id ?? "");
    return isWhole(query) && (!location || totalOf(location.counts) === 0);
  });
  return { counts, parts: [aloneIn(elsewhere), ...shards.sort((a, b) => (a.key < b.key ? -1 : 1))] };
}

type IsWell = (status: RecordingStatus) => boolean;

const isWhole = ({ location, status }: PlacesQuery) => location.length + status.length === 0;
const hasStatus = ({ status }: PlacesQuery, one: RecordingStatus) => status.length === 0 || status.includes(one);
const key = (rank: number) => String(rank).padStart(4, "0");

/** Alerts about no location, a row for each. */
function aloneIn(alerts: readonly ActiveAlert[]): Part<ApiPlace> {
  const rows = alerts.map((one) => {
    const row = {
      locationId: null,
      location: null,
      recordings: noCounts(),
      lastKnown: noCounts(),
      alerts: [placeAlert(one)],
      rows: [],
    };
    return [sortKey(key(alertRank(one)), [], one.alert.id), row] as const;
  });
  return { key: "0", isStored: false, rows: async () => rows };
}

/** The shards with something to list, each with the rank of its worst alert or status. */
function rankedShards(
  {
    fleet,
    wanted,
    active,
  }: Pick<PageData, "fleet"> & Readonly<{ wanted: readonly LocationOverview[]; active: readonly ActiveAlert[] }>,
  query: PlacesQuery,
  isWell: IsWell,
): [shard: number, rank: number][] {
  const ranks = new Map<number, number>();
  const note = (shard: number, rank: number) => ranks.set(shard, Math.min(ranks.get(shard) ?? rank, rank));
  for (const { shard, counts } of wanted) {
    const worst = occurring(counts).find((status) => hasStatus(query, status));
    const isListed = worst && (query.all || !isWhole(query) || !isWell(worst) || fleet.alerting.has(shard));
    if (isListed) note(shard, RANK_WITHOUT + worstFirst.indexOf(worst));
  }
  for (const one of active) {
    const { shard } = fleet.locations.get(one.alert.labels.location_id ?? "") ?? {};
    if (shard !== undefined && (isWhole(query) || ranks.has(shard))) note(shard, alertRank(one));
  }
  return [...ranks];
}

/** Ranks of recordings with a pending alert, and without any; lower is worse. */
const [RANK_PENDING, RANK_WITHOUT] = [200, 300];

/** From 0 for what needs somebody, from 100 for what is handled; by severity, an alert of no location first. */
function alertRank(active: ActiveAlert): number {
  return rankBy(active.alert.labels, attentionTo(active) === "needed");
}

function rankBy(labels: ActiveAlert["alert"]["labels"], isNeeded: boolean): number {
  return (isNeeded ? 0 : 100) + 10 * severityRank(labels) + (labels.location_id || labels.location ? 5 : 0);
}

/**
 * Gives the row of a location by its key, none where nothing of it is listed. A recording is left out that is well
 * without an alert, or whose alerts are explained by one of its location or of a group.
 */
function createPlaceRow(wider: readonly ActiveAlert[], handled: HandledAlerts, query: PlacesQuery, isWell: IsWell) {
  const hasAll = query.all || !isWhole(query);
  const about = Map.groupBy(wider, ({ alert }) => alert.labels.location_id ?? "");
  const groups = new Set(wider.flatMap(({ alert }) => (outageOf(alert) ? fingerprint(alert.labels) : [])));
  const isInhibited = (one: ActiveAlert | undefined) => one !== undefined && attentionTo(one) === "inhibited";
  const isExplained = (one: ActiveAlert | undefined) =>
    isInhibited(one) && one?.inhibitedBy?.some((print) => groups.has(print)) === true;
  const firingOf = ({ alerts = {} }: RecordingState) =>
    Object.values(alerts).flatMap(({ state, labels }) =>
      state === "firing" ? [{ labels, by: handled.size > 0 ? handled.get(fingerprint(labels)) : undefined }] : [],
    );

  function rankOf(state: RecordingState, here: FleetSnapshot): number {
    const firing = firingOf(state).map(({ labels, by }) => rankBy(labels, !by));
    const isPending = Object.values(state.alerts ?? {}).some((one) => one.state !== "firing");
    return Math.min(...firing, isPending ? RANK_PENDING : RANK_WITHOUT) + worstFirst.indexOf(statusOf(state, here));
  }

  function isListed(state: RecordingState, alerts: readonly ActiveAlert[], here: FleetSnapshot): boolean {
    const firing = firingOf(state);
    if (alerts.length > 0 || firing.some(({ by }) => isExplained(by))) return firing.some(({ by }) => !isInhibited(by));
    return !isWell(statusOf(state, here)) || state.alerts !== undefined;
  }

  return (id: string, all: readonly RecordingState[], here: FleetSnapshot): [key: string, row: ApiPlace][] => {
    const { inventory } = here;
    const states = all.filter((state) => hasStatus(query, statusOf(state, here)));
    const alerts = about.get(id) ?? [];
    const named = alerts.filter((one) => hasAll || !isExplained(one)).sort((a, b) => alertRank(a) - alertRank(b));
    const rows = states
      .filter((state) => hasAll || isListed(state, alerts, here))
      .map((state) => {
        const name = inventory.recording(state.id)?.name || state.id;
        return [sortKey(key(rankOf(state, here)), [name], state.id), state] as const;
      });
    if (rows.length + named.length === 0) return [];
    const { counts: recordings, were: lastKnown } = tallyOf(states, here);
    const name = inventory.location(id)?.name || id;
    const rank = Math.min(...alerts.map(alertRank), ...states.map((state) => rankOf(state, here)));
    const row = {
      ...{ locationId: id, location: name, recordings, lastKnown },
      alerts: named.map(placeAlert),
      rows: rows.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, state]) => recordingRow(state, here, handled)),
    };
    return [[sortKey(key(rank), [name], id), row]];
  };
}

function placeAlert(active: ActiveAlert): ApiPlace["alerts"][number] {
  return { ...alertRow(active.alert, active), outage: outageOf(active.alert) };
}

/** The outage of recordings that share a label: which one, how many are offline, and at how many locations. */
function outageOf({ subject, labels, facts: { offline, locations } }: ActiveAlert["alert"]) {
  const group = groupOfSubject(subject);
  return group && offline !== undefined
    ? { ...group, name: groupName(group, labels), offline, locations: locations ?? null }
    : null;
}
