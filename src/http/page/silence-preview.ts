/** What a silence would hold: the alerts that fire now, and the recordings whose later ones it could hold. */
import { matchesAll } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import type { Alert } from "../../health/alert.ts";
import { ROWS_PER_STEP, recordingsById } from "../../health/fleet-snapshot.ts";
import { recordingLabels } from "../../health/recording-evaluator.ts";
import { type Listing, PageCollector } from "../paging.ts";
import { alertKey } from "./alert-table.ts";
import type { PageData } from "./page-data.ts";

/** Alerts that are shown; all are counted. */
const ALERTS_SHOWN = 10;

export interface Preview {
  readonly alerts: Listing<Alert>;
  /** Alerts that fire, matched or not. */
  readonly firing: number;
  readonly covered: number;
  readonly recordings: number;
  /** Whether an outage could be among what is held. */
  readonly hidesOutages: boolean;
}

/** Walks the fleet once; yields every so many rows. */
export function* previewOf(matchers: readonly Matcher[], data: PageData): Generator<void, Preview> {
  const { fleet } = data;
  const collector = new PageCollector<Alert>({ limit: ALERTS_SHOWN });
  let seen = 0;
  for (const alert of data.alerts) {
    if (matchesAll(matchers, alert.labels)) collector.offer(alertKey(alert), alert);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  const recordings = yield* recordingsById(fleet);
  const telling = matchers.filter(({ name }) => OF_RECORDINGS.has(name));
  const aimed = aimOf(matchers);
  let covered = 0;
  for (const { id, locationId } of recordings.values()) {
    const subject = recordingLabels(id, locationId, fleet.inventory);
    if (aimed !== "no recording" && telling.every((matcher) => matcher.matches(subject[matcher.name] ?? "")))
      covered += 1;
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return {
    alerts: collector.page(),
    firing: data.alerts.length,
    covered,
    recordings: recordings.size,
    hidesOutages: aimed === "outages",
  };
}

/** Default rules whose alerts are no outage; what has another name may be one. */
const NO_OUTAGES = ["RecordingDegraded", "LowQuality", "LowUptime"];
/** Default rules whose alerts are of no recording. */
const NO_RECORDINGS = ["ServiceUnreachable", "ServicePartlyUnreachable", "NotificationsFailing"];
const OUTAGES = ["RecordingOffline", "RecordingMissing", "RecordingFlapping", "LocationOffline"];

/** What the matchers may hold, as far as the names of default rules tell. */
function aimOf(matchers: readonly Matcher[]): "outages" | "recordings" | "no recording" {
  const named = matchers.filter(({ name }) => name === "alertname");
  const matches = (alerts: readonly string[]) =>
    alerts.some((alert) => named.every((matcher) => matcher.matches(alert)));
  if (named.length === 0 || matches(OUTAGES)) return "outages";
  if (matches(NO_OUTAGES)) return "recordings";
  return matches(NO_RECORDINGS) ? "no recording" : "outages";
}

/** Which label says what of a recording; the others are its rules', and any alert may have them. */
const OF_RECORDINGS: ReadonlySet<string> = new Set([
  "recording_id",
  "recording",
  "location_id",
  "location",
  "organisation",
  "camera_server",
  "timezone",
]);

/** What has to be said before such a silence is set; empty where it is a usual one. */
export function warningsOf({ alerts, firing, covered, recordings, hidesOutages }: Preview): string[] {
  const all = hidesOutages && recordings > 1 && covered === recordings;
  const everything = firing > 1 && alerts.total === firing;
  return [
    ...(all ? ["It covers every recording: of no outage would anybody hear."] : []),
    ...(everything ? ["It holds every alert that fires now."] : []),
  ];
}
