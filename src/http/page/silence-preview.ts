/** Preview of a silence: the firing alerts it matches, and the recordings whose later alerts it could match. */
import { matchesAll } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import type { Alert } from "../../health/alert.ts";
import { recordingsById } from "../../health/fleet-snapshot.ts";
import { defaultAlertNames, type ProblemKind } from "../../health/problem-kinds.ts";
import { recordingLabels } from "../../health/recording-evaluator.ts";
import { eachRow, type Listing, listingOf } from "../paging.ts";
import { alertSortKey } from "./alert-table.ts";
import type { PageData } from "./page-data.ts";

/** All are counted. */
const ALERTS_SHOWN = 10;

export interface Preview {
  readonly alerts: Listing<Alert>;
  /** Firing alerts, matched or not. */
  readonly firing: number;
  readonly covered: number;
  readonly recordings: number;
  /** It could suppress an outage. */
  readonly hidesOutages: boolean;
}

/** Yields every so many rows. */
export function* previewOf(matchers: readonly Matcher[], data: PageData): Generator<void, Preview> {
  const { fleet } = data;
  const alerts = yield* listingOf(data.alerts, { limit: ALERTS_SHOWN }, (alert) =>
    matchesAll(matchers, alert.labels) ? alertSortKey(alert) : undefined,
  );
  const recordings = yield* recordingsById(fleet);
  const ofRecordings = matchers.filter(({ name }) => RECORDING_LABELS.has(name));
  const scope = scopeOf(matchers);
  let covered = 0;
  yield* eachRow(recordings.values(), ({ id, locationId }) => {
    const labels = recordingLabels(id, locationId, fleet.inventory);
    const matches = ofRecordings.every((matcher) => matcher.matches(labels[matcher.name] ?? ""));
    if (matches && scope !== "no recording") covered += 1;
  });
  return {
    alerts,
    firing: data.alerts.length,
    covered,
    recordings: recordings.size,
    hidesOutages: scope === "outages",
  };
}

const outages: readonly ProblemKind[] = ["offline", "missing", "flapping", "location_offline"];
const noOutages: readonly ProblemKind[] = ["degraded", "low_quality", "low_uptime"];

/** What the matchers may suppress, by the names of the default rules; alerts of any other name may be outages. */
function scopeOf(matchers: readonly Matcher[]): "outages" | "recordings" | "no recording" {
  const named = matchers.filter(({ name }) => name === "alertname");
  const all = Object.keys(defaultAlertNames) as ProblemKind[];
  const matched = new Set(all.filter((kind) => named.every(({ matches }) => matches(defaultAlertNames[kind]))));
  if (matched.size === 0 || outages.some((kind) => matched.has(kind))) return "outages";
  return noOutages.some((kind) => matched.has(kind)) ? "recordings" : "no recording";
}

/** Labels that identify recordings; the others come from rules, and any alert may have them. */
const RECORDING_LABELS: ReadonlySet<string> = new Set([
  "recording_id",
  "recording",
  "location_id",
  "location",
  "organisation",
  "camera_server",
  "timezone",
]);

/** Warnings before such a silence is set; empty for a usual one. */
export function warningsOf({ alerts, firing, covered, recordings, hidesOutages }: Preview): string[] {
  const all = hidesOutages && recordings > 1 && covered === recordings;
  const everything = firing > 1 && alerts.total === firing;
  return [
    ...(all ? ["It covers every recording: no outage would be notified."] : []),
    ...(everything ? ["It suppresses every firing alert."] : []),
  ];
}
