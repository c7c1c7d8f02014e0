/** Renders the fleet's series from a snapshot, in slices: it yields at least every ROWS_PER_STEP rows. */
import type { Labels } from "../health/alert.ts";
import { currentStatus, ROWS_PER_STEP, recordingsById } from "../health/fleet-snapshot.ts";
import { type RecordingStatus, recordingStatuses } from "../health/recording.ts";
import type { Rule } from "../health/rule.ts";
import type { AlertStates, FleetSnapshot, RecordingState } from "../health/shard-state.ts";
import type { LabelCache } from "./label-cache.ts";
import { fleetRows, type MetricRow } from "./table.ts";
import { type ExpositionFormat, renderHead, renderLabel, renderSample } from "./text.ts";

const DAY_MS = 86_400_000;

const alertStates = ["pending", "firing"] as const;

/** An alert to count. */
export interface CountedAlert {
  readonly state: (typeof alertStates)[number];
  readonly labels: Labels;
}

export interface FleetView {
  readonly snapshot: FleetSnapshot;
  /** Rules whose series start at 0. */
  readonly rules: readonly Pick<Rule, "alert" | "labels">[];
  /** Alerts about no recording or location, which are in no shard. */
  readonly otherAlerts: readonly CountedAlert[];
}

/** One recording whose last good reading is fresh. */
interface Row {
  readonly labels: string;
  readonly state: RecordingState;
}

/** The text of every family of `fleetRows`, in pieces; an empty piece only yields to the event loop. */
export function* fleetText(view: FleetView, format: ExpositionFormat, cache: LabelCache): Generator<string, void> {
  const { snapshot } = view;
  const counts = new FleetCounts(view.rules);
  for (const alert of view.otherAlerts) counts.alert(alert);
  const rows = yield* countFleet(snapshot, counts, cache);
  const write = (row: MetricRow, value: (state: RecordingState) => number | undefined, extra = "") =>
    family(rows, renderHead(row, format), row.name, extra, value);

  yield* write(fleetRows.online, (state) => (state.status === "offline" ? 0 : 1));
  yield* write(fleetRows.quality, (state) => state.averageQuality);
  yield* write(fleetRows.lastSeen, (state) => state.lastSeenAt && state.lastSeenAt / 1000);
  yield* write(
    fleetRows.uptime,
    (state) => snapshot.overallUptime(state.id, DAY_MS),
    `,${renderLabel("window", "24h")}`,
  );
  yield renderHead(fleetRows.recordings, format) + counts.recordingSamples();
  yield renderHead(fleetRows.alerts, format) + counts.alertSamples();
}

/** Walks the fleet once: counts statuses and alerts, and collects the rows to write. */
function* countFleet(snapshot: FleetSnapshot, counts: FleetCounts, cache: LabelCache): Generator<string, Row[]> {
  const pass = cache.begin(snapshot.inventory);
  const rows: Row[] = [];
  let seen = 0;
  for (const shard of snapshot.shards) {
    for (const location of shard.locations.values()) {
      counts.alertStates(location.alerts);
      if (++seen % ROWS_PER_STEP === 0) yield "";
    }
  }
  const walk = recordingsById(snapshot);
  let step = walk.next();
  for (; !step.done; step = walk.next()) yield "";
  for (const state of step.value.values()) {
    const status = currentStatus(state, snapshot.now, snapshot.statusIntervalMs);
    counts.recording(status);
    counts.alertStates(state.alerts);
    const labels = pass.labels(state);
    if (status !== "unknown") rows.push({ labels, state });
    if (++seen % ROWS_PER_STEP === 0) yield "";
  }
  yield* pass.evict();
  return rows;
}

function* family(
  rows: readonly Row[],
  head: string,
  name: string,
  extra: string,
  value: (state: RecordingState) => number | undefined,
): Generator<string, void> {
  let text = head;
  let count = 0;
  for (const { labels, state } of rows) {
    const figure = value(state);
    if (figure !== undefined) text += renderSample(name, labels + extra, figure);
    if (++count % ROWS_PER_STEP === 0) {
      yield text;
      text = "";
    }
  }
  yield text;
}

/** Counts recordings by status, and alerts by name, severity and state. */
class FleetCounts {
  readonly #recordings = new Map<RecordingStatus, number>(recordingStatuses.map((status) => [status, 0]));
  /** By alertname, severity and state, so that labels are rendered once per kind of alert. */
  readonly #alerts = new Map<string, { readonly kind: readonly string[]; count: number }>();

  constructor(rules: FleetView["rules"]) {
    for (const { alert, labels } of rules) {
      for (const state of alertStates) {
        this.#add({ state, labels: { ...labels, alertname: alert } }, 0);
      }
    }
  }

  recording(status: RecordingStatus): void {
    this.#recordings.set(status, (this.#recordings.get(status) ?? 0) + 1);
  }

  alertStates(alerts: AlertStates | undefined): void {
    for (const id in alerts) {
      const alert = alerts[id];
      if (alert) this.alert(alert);
    }
  }

  alert(alert: CountedAlert): void {
    this.#add(alert, 1);
  }

  recordingSamples(): string {
    return samples(
      fleetRows.recordings.name,
      [...this.#recordings].map(([status, count]) => [renderLabel("status", status), count]),
    );
  }

  alertSamples(): string {
    const names = fleetRows.alerts.labels;
    return samples(
      fleetRows.alerts.name,
      [...this.#alerts.values()].map(({ kind, count }) => [
        names.map((name, i) => renderLabel(name, kind[i] ?? "")).join(","),
        count,
      ]),
    );
  }

  #add({ labels, state }: CountedAlert, count: number): void {
    const kind = [labels.alertname ?? "", labels.severity ?? "", state];
    const key = kind.join("\u0000");
    const known = this.#alerts.get(key);
    if (known) known.count += count;
    else this.#alerts.set(key, { kind, count });
  }
}

function samples(name: string, counts: readonly (readonly [labels: string, count: number])[]): string {
  return counts.map(([labels, count]) => renderSample(name, labels, count)).join("");
}
