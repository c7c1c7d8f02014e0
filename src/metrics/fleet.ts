/** Renders the fleet's series from a snapshot, in slices: it yields at least every ROWS_PER_STEP rows. */

import { createHash } from "node:crypto";
import type { Labels } from "../health/alert.ts";
import { type Recording, recordingStatuses } from "../health/recording.ts";
import type { Rule } from "../health/rule.ts";
import {
  currentStatus,
  type FleetSnapshot,
  type Inventory,
  type RecordingState,
  ROWS_PER_STEP,
  recordingsById,
} from "../health/shard-state.ts";
import type { BudgetLeft } from "../health/slo-evaluator.ts";
import { DAY_MS } from "../lib/clock.ts";
import { fleetRows, type MetricRow } from "./table.ts";
import { type ExpositionFormat, renderHead, renderLabel, renderSample } from "./text.ts";

const alertStates = ["pending", "firing"] as const;

export interface FleetView {
  readonly snapshot: FleetSnapshot;
  /** Rules whose series start at 0. */
  readonly rules: readonly Pick<Rule, "alert" | "labels">[];
  /** Alerts about no recording or location, which are in no shard. */
  readonly otherAlerts: readonly { readonly state: (typeof alertStates)[number]; readonly labels: Labels }[];
  /** Error budgets; `group` is empty where all recordings of the SLO share one. */
  readonly slos?: readonly Pick<BudgetLeft, "slo" | "group" | "objective" | "remaining">[];
  /** Entries of locations in the last full hour; none where counts are not read. */
  readonly hours?: readonly EntriesOfHour[] | undefined;
}

interface EntriesOfHour {
  readonly locationId: string;
  readonly expected?: number | undefined;
  readonly counted?: number | undefined;
}

/** A series of every metric of a family. */
type Row<State> = { readonly labels: string; readonly state: State };

/** The text of every family of `fleetRows`, in pieces; an empty piece only yields to the event loop. */
export function* fleetText(view: FleetView, format: ExpositionFormat, cache: LabelCache): Generator<string, void> {
  const { snapshot } = view;
  const counts = startCounts(view);
  const rows = yield* countFleet(snapshot, counts, cache);
  const write = (row: MetricRow, value: (state: RecordingState) => number | undefined, extra = "") =>
    family(rows, row, format, value, extra);
  const hours = () => view.hours?.values().map((state) => ({ labels: hourLabels(state, snapshot.inventory), state }));

  yield* write(fleetRows.online, (state) => (state.status === "offline" ? 0 : 1));
  yield* write(fleetRows.quality, (state) => state.averageQuality);
  yield* write(fleetRows.lastSeen, (state) => state.lastSeenAt && state.lastSeenAt / 1000);
  yield* write(
    fleetRows.uptime,
    (state) => snapshot.overallUptime(state.id, DAY_MS),
    `,${renderLabel("window", "24h")}`,
  );
  yield* family(hours(), fleetRows.entriesExpected, format, ({ expected }) => expected);
  yield* family(hours(), fleetRows.entriesCounted, format, ({ counted }) => counted);
  yield renderHead(fleetRows.recordings, format) + counts.recordings.samples();
  yield renderHead(fleetRows.alerts, format) + counts.alerts.samples();
  if (view.slos?.length) yield sloText(view.slos, format);
}

function sloText(slos: NonNullable<FleetView["slos"]>, format: ExpositionFormat): string {
  const sample = ({ name, labels }: MetricRow, values: readonly string[], figure: number) =>
    renderSample(name, labelText(labels, values), figure);
  const { sloObjective, sloRemaining } = fleetRows;
  const objectives = new Map(slos.map(({ slo, objective }) => [slo, sample(sloObjective, [slo], objective)]));
  const remaining = slos.flatMap(({ slo, group, remaining: left }) =>
    left === undefined ? [] : [sample(sloRemaining, [slo, group && distinct(group)], left)],
  );
  return [
    renderHead(sloObjective, format),
    ...objectives.values(),
    renderHead(sloRemaining, format),
    ...remaining,
  ].join("");
}

/** Counts recordings by status, and alerts by name, severity and state. The series of all statuses and rules start at 0. */
function startCounts({ rules, otherAlerts }: FleetView) {
  const [recordings, alerts] = [createCounter(fleetRows.recordings), createCounter(fleetRows.alerts)];
  for (const status of recordingStatuses) recordings.add([status], 0);
  for (const { alert, labels } of rules)
    for (const state of alertStates) alerts.add([alert, labels.severity ?? "", state], 0);
  const addAlerts = (listed: Iterable<FleetView["otherAlerts"][number]>) => {
    for (const { labels, state } of listed) alerts.add([labels.alertname ?? "", labels.severity ?? "", state]);
  };
  addAlerts(otherAlerts);
  return { recordings, alerts, addAlerts };
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

function* countFleet(
  snapshot: FleetSnapshot,
  counts: ReturnType<typeof startCounts>,
  cache: LabelCache,
): Generator<string, Row<RecordingState>[]> {
  const rows: Row<RecordingState>[] = [];
  let seen = 0;
  for (const shard of snapshot.shards) {
    for (const location of shard.locations.values()) {
      counts.addAlerts(Object.values(location.alerts ?? {}));
      if (++seen % ROWS_PER_STEP === 0) yield "";
    }
  }
  const walk = recordingsById(snapshot);
  let step = walk.next();
  for (; !step.done; step = walk.next()) yield "";
  for (const state of step.value.values()) {
    const status = currentStatus(state, snapshot.now, snapshot.statusIntervalMs);
    counts.recordings.add([status]);
    counts.addAlerts(Object.values(state.alerts ?? {}));
    if (status !== "unknown") rows.push({ labels: labelsOf(state, snapshot.inventory, cache), state });
    if (++seen % ROWS_PER_STEP === 0) yield "";
  }
  return rows;
}

/** Nothing without rows, which are read one by one. */
function* family<State>(
  rows: Iterable<Row<State>> | undefined,
  row: MetricRow,
  format: ExpositionFormat,
  value: (state: State) => number | undefined,
  extra = "",
): Generator<string, void> {
  if (!rows) return;
  let text = renderHead(row, format);
  let count = 0;
  for (const { labels, state } of rows) {
    const figure = value(state);
    if (figure !== undefined) text += renderSample(row.name, labels + extra, figure);
    if (++count % ROWS_PER_STEP === 0) {
      yield text;
      text = "";
    }
  }
  yield text;
}

function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, i) => renderLabel(name, values[i] ?? "")).join(",");
}

function hourLabels({ locationId }: EntriesOfHour, inventory: Inventory): string {
  const name = inventory.location(locationId)?.name || locationId;
  return labelText(fleetRows.entriesCounted.labels, [distinct(locationId), name]);
}

/** Label texts by the recording as the inventory has it, which replaces it when its name changes. */
export type LabelCache = WeakMap<
  Recording,
  { readonly locationId: string; readonly location: string; readonly text: string }
>;

/** `recording_id="…",recording="…",location_id="…",location="…"`. */
function labelsOf({ id, locationId }: RecordingState, inventory: Inventory, cache: LabelCache): string {
  const recording = inventory.recording(id);
  const location = inventory.location(locationId)?.name || locationId;
  const cached = recording && cache.get(recording);
  if (cached?.locationId === locationId && cached.location === location) return cached.text;
  const text = labelText(fleetRows.online.labels, [distinct(id), recording?.name || id, locationId, location]);
  if (recording) cache.set(recording, { locationId, location, text });
  return text;
}

/** Adds a digest to an id that rendering may alter, so that no two recordings or groups share a series. */
function distinct(id: string): string {
  if (/^[ -~]{1,128}$/.test(id)) return id;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return `${id.slice(0, 100)}~${digest}`;
}
