/** Preview of a silence: the firing alerts it matches, and the recordings whose later alerts it could match. */
import { matchesAll } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import type { Alert } from "../../health/alert.ts";
import { recordingsById } from "../../health/fleet-snapshot.ts";
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

/** Default rules whose alerts are no outage; other names may be outages. */
const NO_OUTAGES = ["RecordingDegraded", "LowQuality", "LowUptime"];
/** Default rules whose alerts are not about recordings. */
const NO_RECORDINGS = ["ServiceUnreachable", "ServicePartlyUnreachable", "NotificationsFailing"];
const OUTAGES = ["RecordingOffline", "RecordingMissing", "RecordingFlapping", "LocationOffline"];

/** What the matchers may suppress, by the names of the default rules. */
function scopeOf(matchers: readonly Matcher[]): "outages" | "recordings" | "no recording" {
  const named = matchers.filter(({ name }) => name === "alertname");
  const matches = (alerts: readonly string[]) =>
    alerts.some((alert) => named.every((matcher) => matcher.matches(alert)));
  if (named.length === 0 || matches(OUTAGES)) return "outages";
  if (matches(NO_OUTAGES)) return "recordings";
  return matches(NO_RECORDINGS) ? "no recording" : "outages";
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
