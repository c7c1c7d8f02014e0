/** The fleet's series, rendered from a snapshot in slices: it yields at least every ROWS_PER_STEP rows. */

import type { Labels } from "../health/alert.ts";
import type { AlertState } from "../health/alert-machine.ts";
import type { Rule } from "../health/model.ts";
import type { RecordingStatus } from "../health/recording.ts";
import {
  type FleetSnapshot,
  type Inventory,
  type RecordingState,
  ROWS_PER_STEP,
  statusOf,
} from "../health/shard-state.ts";
import { DAY_MS, type Instant } from "../lib/clock.ts";
import { fleetRows, type MetricRow } from "./table.ts";
import { distinct, type ExpositionFormat, labelText, renderHead, renderSample } from "./text.ts";
import { createTotals, groupLabels, type Member } from "./totals.ts";

const alertStates = ["pending", "firing"] as const;

/** Which recordings have series of their own; by default all of up to `MOST_BY_DEFAULT`, of more none. */
type PerRecording = "all" | "off";

export const MOST_BY_DEFAULT = 100_000;
const MOST_KEPT = 2 * MOST_BY_DEFAULT;

export interface FleetView {
  readonly snapshot: FleetSnapshot;
  /** Rules whose series start at 0. */
  readonly rules: readonly Pick<Rule, "alert" | "labels">[];
  /** Alerts about no recording or location, which are in no shard. */
  readonly otherAlerts: readonly { readonly state: (typeof alertStates)[number]; readonly labels: Labels }[];
  /** Entries of locations in the last full hour; none where counts are not read. */
  readonly hours?: readonly EntriesOfHour[] | undefined;
  /** The last readings, of the shard where that is longest ago; undefined where there was none. */
  readonly readAt?: Readonly<Partial<Record<"recordings" | "uptime" | "counts", Instant | undefined>>>;
  /** The configured choice; undefined: by the number of recordings. */
  readonly perRecording?: PerRecording | undefined;
}

/** The result of a scrape. */
export interface Exposed {
  readonly perRecording: PerRecording;
  readonly recordings: number;
  /** Groups without series because there are too many, by kind. */
  readonly omitted: readonly (readonly [kind: string, count: number])[];
}

interface EntriesOfHour {
  readonly locationId: string;
  readonly expected?: number | undefined;
  readonly counted?: number | undefined;
}

/** Every family of `fleetRows`, in pieces; an empty piece only yields to the event loop. */
export function* fleetText(view: FleetView, format: ExpositionFormat, labelsOf: Labelling): Generator<string, Exposed> {
  const { snapshot, hours, readAt = {} } = view;
  const counts = startCounts(view);
  const totals = createTotals(snapshot.inventory);
  yield* countLocations(snapshot, counts.addAlerts);
  const { shards } = snapshot;
  const shardOf = yield* shardsById(shards);
  const mode = view.perRecording ?? (shardOf.size > MOST_BY_DEFAULT ? "off" : "all");
  const slices: Slice[] = [];
  for (const [shard, { recordings }] of shards.entries()) {
    const own = recordings.values().filter(({ id }) => shardOf.get(id) === shard);
    for (const some of slicesOf(own)) {
      const members = some.map((state) => memberOf(state, snapshot));
      for (const member of members) {
        counts.add(member);
        totals.add(member);
      }
      const known = mode === "all" ? members.filter(({ status }) => status !== "unknown") : [];
      slices.push({ members: known, labels: known.map((member) => labelsOf(member, snapshot.inventory)) });
      yield "";
    }
  }
  for (const family of families) {
    yield renderHead(family.row, format);
    for (const slice of slices) yield samplesOf(family, slice);
  }
  yield* totals.text(format);
  yield* directoryText(snapshot.inventory, format);
  if (hours) yield* hoursText(hours, snapshot, format);
  yield renderHead(fleetRows.recordings, format) + countSamples(fleetRows.recordings, Object.entries(counts.statuses));
  const omitted = totals.omitted();
  yield renderHead(fleetRows.omitted, format) + countSamples(fleetRows.omitted, omitted);
  yield renderHead(fleetRows.alerts, format) + counts.alerts.samples();
  for (const [row, at] of [
    [fleetRows.recordingsRead, readAt.recordings] as const,
    [fleetRows.uptimeRead, readAt.uptime] as const,
    [fleetRows.countsRead, readAt.counts] as const,
  ])
    if (at) yield renderHead(row, format) + renderSample(row.name, "", at / 1000);
  return { perRecording: mode, recordings: shardOf.size, omitted };
}

/** The shard of each recording: of one that stands in two, that of the later reading. */
function* shardsById(shards: FleetSnapshot["shards"]): Generator<string, ReadonlyMap<string, number>> {
  const shardOf = new Map<string, number>();
  for (const [shard, { recordings }] of shards.entries()) {
    for (const { id, readAt } of recordings.values()) {
      const other = shardOf.get(id);
      if (other === undefined || (shards[other]?.recordings.get(id)?.readAt ?? 0) < readAt) shardOf.set(id, shard);
    }
    yield "";
  }
  return shardOf;
}

function* slicesOf<T>(all: Iterable<T>): Generator<T[]> {
  let slice: T[] = [];
  for (const one of all) {
    slice.push(one);
    if (slice.length < ROWS_PER_STEP) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

function memberOf(state: RecordingState, snapshot: FleetSnapshot): Member {
  const { id, locationId, lastSeenAt, averageQuality, alerts } = state;
  const status = statusOf(state, snapshot);
  const { name, organisation = "", cameraServer = "" } = snapshot.inventory.recording(id) ?? {};
  const uptime = status === "unknown" ? undefined : snapshot.overallUptime(id, DAY_MS);
  return { id, name, locationId, status, lastSeenAt, averageQuality, uptime, organisation, cameraServer, alerts };
}

interface Family {
  readonly row: MetricRow;
  readonly value: (member: Member) => number | undefined;
  readonly extra?: string;
  readonly textOf?: (value: number) => string;
}

const families: readonly Family[] = [
  { row: fleetRows.online, value: ({ status }) => (status === "offline" ? 0 : 1) },
  { row: fleetRows.quality, value: ({ averageQuality }) => averageQuality },
  {
    row: fleetRows.lastSeen,
    value: ({ lastSeenAt }) => lastSeenAt && lastSeenAt / 1000,
    textOf: (seconds) => seconds.toFixed(3),
  },
  { row: fleetRows.uptime, value: ({ uptime }) => uptime, extra: ',window="24h"' },
];

type Labelling = ReturnType<typeof createLabels>;

/** Recordings with a known status, and the labels of each. */
interface Slice {
  readonly members: readonly Member[];
  readonly labels: readonly string[];
}

function samplesOf({ row, value, extra = "", textOf }: Family, { members, labels }: Slice): string {
  const samples = members.map((member, i) =>
    renderSample(row.name, labels[i] + extra, value(member) ?? Number.NaN, textOf),
  );
  return samples.join("");
}

/** Keeps the labels of recordings between scrapes: rendering them would take as long as all else. */
export function createLabels() {
  const kept = new Map<string, readonly [labels: string, recording: string, locationId: string, location: string]>();
  return ({ id, name, locationId }: Member, inventory: FleetSnapshot["inventory"]): string => {
    const recording = name || id;
    const location = inventory.location(locationId)?.name || locationId;
    const known = kept.get(id);
    if (known?.[1] === recording && known[2] === locationId && known[3] === location) return known[0];
    if (kept.size >= MOST_KEPT) kept.clear();
    const labels = labelText(fleetRows.online.labels, [distinct(id), recording, locationId, location]);
    kept.set(id, [labels, recording, locationId, location]);
    return labels;
  };
}

/** Locations with a row in the directory; a label that one has not is empty. */
function* directoryText({ location, shop, shopLabels, locationsOf }: Inventory, format: ExpositionFormat) {
  const row = fleetRows.locationInfo;
  const [ids, own] = [locationsOf?.(), shopLabels?.() ?? []];
  if (!ids) return;
  yield renderHead(row, format);
  for (const slice of slicesOf(ids)) {
    const samples = slice.map((id) => {
      const labels = shop?.(id)?.labels;
      const values = [distinct(id), location(id)?.name || id, ...own.map((name) => labels?.[name] ?? "")];
      return labels ? renderSample(row.name, labelText([...row.labels, ...own], values), 1) : "";
    });
    yield samples.join("");
  }
}

function* hoursText(hours: readonly EntriesOfHour[], { inventory }: FleetSnapshot, format: ExpositionFormat) {
  for (const [row, key] of [
    [fleetRows.entriesExpected, "expected"],
    [fleetRows.entriesCounted, "counted"],
  ] as const) {
    yield renderHead(row, format);
    const sample = (hour: EntriesOfHour) =>
      renderSample(row.name, groupLabels("location", hour.locationId, inventory), hour[key] ?? Number.NaN);
    for (const slice of slicesOf(hours)) yield slice.map(sample).join("");
  }
}

/** Counts recordings by status, and alerts by name, severity and state. The series of all rules start at 0. */
function startCounts({ rules, otherAlerts, snapshot }: FleetView) {
  const alerts = createCounter(fleetRows.alerts);
  // Recordings that no sweep could store are in no shard.
  const unknown = snapshot.evidence?.unstored ?? 0;
  const statuses: Record<RecordingStatus, number> = { online: 0, offline: 0, degraded: 0, unknown };
  for (const { alert, labels } of rules)
    for (const state of alertStates) alerts.add([alert, labels.severity ?? "", state], 0);
  const addAlerts = (listed: Iterable<FleetView["otherAlerts"][number]>) => {
    for (const { labels, state } of listed) alerts.add([labels.alertname ?? "", labels.severity ?? "", state]);
  };
  addAlerts(otherAlerts);
  const add = ({ status, alerts: own }: Member) => {
    statuses[status]++;
    if (own) addAlerts(Object.values(own));
  };
  return { statuses, alerts, addAlerts, add };
}

function createCounter({ name, labels }: MetricRow) {
  const kinds = new Map<string, { readonly values: readonly string[]; count: number }>();
  return {
    add(values: readonly string[], count = 1): void {
      const key = values.join("\u0000");
      const known = kinds.get(key);
      if (known) known.count += count;
      else kinds.set(key, { values, count });
    },
    samples: () =>
      [...kinds.values()].map(({ values, count }) => renderSample(name, labelText(labels, values), count)).join(""),
  };
}

function* countLocations({ shards }: FleetSnapshot, addAlerts: (listed: AlertState[]) => void): Generator<string> {
  let seen = 0;
  for (const { locations } of shards) {
    for (const { alerts } of locations.values()) {
      if (alerts) addAlerts(Object.values(alerts));
      if (++seen % ROWS_PER_STEP === 0) yield "";
    }
  }
}

function countSamples({ name, labels }: MetricRow, counts: readonly (readonly [value: string, count: number])[]) {
  return counts.map(([value, count]) => renderSample(name, labelText(labels, [value]), count)).join("");
}
