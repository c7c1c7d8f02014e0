/** Renders the fleet's series from a snapshot, in slices: it yields at least every ROWS_PER_STEP rows. */

import type { Labels } from "../health/alert.ts";
import { type RecordingStatus, recordingStatuses } from "../health/recording.ts";
import type { Rule } from "../health/rule.ts";
import { type AlertState, type FleetSnapshot, ROWS_PER_STEP } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";

import type { Instant } from "../lib/clock.ts";
import { createBlocks } from "./blocks.ts";

import { labelText } from "./labels.ts";
import { createMembers, type Member, MOST_BY_DEFAULT, type PerRecording } from "./members.ts";
import { fleetRows, type MetricRow } from "./table.ts";
import { type ExpositionFormat, renderHead, renderSample } from "./text.ts";
import { createGroupLabels, createTotals } from "./totals.ts";

const alertStates = ["pending", "firing"] as const;

export interface FleetView {
  readonly snapshot: FleetSnapshot;
  /** Rules whose series start at 0. */
  readonly rules: readonly Pick<Rule, "alert" | "labels">[];
  /** Alerts about no recording or location, which are in no shard. */
  readonly otherAlerts: readonly { readonly state: (typeof alertStates)[number]; readonly labels: Labels }[];
  /** Entries of locations in the last full hour; none where counts are not read. */
  readonly hours?: readonly EntriesOfHour[] | undefined;
  /** When these were last read, where that is longest ago; undefined where they never were. */
  readonly readAt?: Readonly<Partial<Record<"recordings" | "uptime" | "counts", Instant | undefined>>>;
  /** As configured; undefined: by the number of recordings. */
  readonly perRecording?: PerRecording | undefined;
}

/** What is kept between scrapes; the bytes of up to `mostKept` recordings. */
export type Kept = ReturnType<typeof createKept>;

export function createKept(mostKept?: number) {
  return { members: createMembers(), blocks: createBlocks(mostKept), labelsOf: createGroupLabels() };
}

/** What a scrape was of. */
export interface Exposed {
  readonly perRecording: PerRecording;
  readonly recordings: number;
  /** What has no series because there is too much of it, by kind. */
  readonly omitted: readonly (readonly [kind: string, count: number])[];
}

interface EntriesOfHour {
  readonly locationId: string;
  readonly expected?: number | undefined;
  readonly counted?: number | undefined;
}

/** Every family of `fleetRows`, in pieces; an empty piece only yields to the event loop. */
export function* fleetText(
  view: FleetView,
  format: ExpositionFormat,
  kept: Kept,
): Generator<string | Uint8Array, Exposed> {
  const { snapshot, hours, readAt = {} } = view;
  const counts = startCounts(view);
  const totals = createTotals(snapshot.inventory, kept.labelsOf);
  const series = kept.blocks(snapshot.inventory);
  yield* countLocations(snapshot, counts.addAlerts);
  const fleet = yield* kept.members(snapshot);
  const mode = view.perRecording ?? (fleet.count > MOST_BY_DEFAULT ? "off" : "all");
  for (const { shard, members } of fleet.chunks()) {
    for (const member of members) {
      counts.add(member);
      totals.add(member);
    }
    if (mode === "all") series.add(shard, members);
    yield "";
  }
  yield* series.render(format);
  yield* totals.text(format);
  const labelsOf = ({ locationId }: EntriesOfHour) => kept.labelsOf("location", locationId, snapshot.inventory);
  if (hours) yield* hoursText(hours, labelsOf, format);
  yield renderHead(fleetRows.recordings, format) + statusSamples(counts.statuses);
  const omitted = totals.omitted();
  yield renderHead(fleetRows.omitted, format) + omittedSamples(omitted);
  yield renderHead(fleetRows.alerts, format) + counts.alerts.samples();
  for (const [row, at] of [
    [fleetRows.recordingsRead, readAt.recordings] as const,
    [fleetRows.uptimeRead, readAt.uptime] as const,
    [fleetRows.countsRead, readAt.counts] as const,
  ])
    if (at) yield renderHead(row, format) + renderSample(row.name, "", at / 1000);
  return { perRecording: mode, recordings: fleet.count, omitted };
}

function* hoursText(
  hours: readonly EntriesOfHour[],
  labelsOf: (hour: EntriesOfHour) => string,
  format: ExpositionFormat,
) {
  for (const [row, key] of [
    [fleetRows.entriesExpected, "expected"],
    [fleetRows.entriesCounted, "counted"],
  ] as const) {
    yield renderHead(row, format);
    for (const some of chunksOf(hours, ROWS_PER_STEP))
      yield some.map((hour) => renderSample(row.name, labelsOf(hour), hour[key] ?? Number.NaN)).join("");
  }
}

/** Counts recordings by status, and alerts by name, severity and state. The series of all rules start at 0. */
function startCounts({ rules, otherAlerts, snapshot }: FleetView) {
  const alerts = createCounter(fleetRows.alerts);
  // Those that no sweep could store are in no shard.
  const unknown = snapshot.evidence?.unstored ?? 0;
  const statuses: Record<RecordingStatus, number> = { online: 0, offline: 0, degraded: 0, unknown };
  for (const { alert, labels } of rules)
    for (const state of alertStates) alerts.add([alert, labels.severity ?? "", state], 0);
  const addAlerts = (listed: Iterable<FleetView["otherAlerts"][number]>) => {
    for (const { labels, state } of listed) alerts.add([labels.alertname ?? "", labels.severity ?? "", state]);
  };
  addAlerts(otherAlerts);
  const add = ({ alerts: own, status }: Member) => {
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

function statusSamples(statuses: Readonly<Record<RecordingStatus, number>>): string {
  const { name, labels } = fleetRows.recordings;
  return recordingStatuses.map((status) => renderSample(name, labelText(labels, [status]), statuses[status])).join("");
}

function omittedSamples(omitted: Exposed["omitted"]): string {
  const { name, labels } = fleetRows.omitted;
  return omitted.map(([kind, count]) => renderSample(name, labelText(labels, [kind]), count)).join("");
}
