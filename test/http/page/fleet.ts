/** A small fleet with some trouble, its alerts and its pages. */
import type { LogLine } from "../../../src/alerting/decision-log.ts";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import { createMatcher } from "../../../src/alerting/matcher.ts";
import type { Alert } from "../../../src/health/alert.ts";
import { noteQuality, type QualityHistory } from "../../../src/health/quality.ts";
import type { FleetSnapshot } from "../../../src/health/shard-state.ts";
import type { ActiveAlert } from "../../../src/http/deps.ts";
import type { UptimeKept } from "../../../src/poll/uptime-reader.ts";
import { alertState, fleetOf, INTERVAL, NOW, recordingState } from "../../metrics/fleets.ts";
import { anAlert, anUptimeBucket, aSilence } from "../../support/fixtures.ts";
import { aReport, type Differing, serve } from "../serve.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";

const MINUTE = 60_000;

/** An alert that fires at a recording of Leeds, unless it differs. */
export function alertOf(alertname: string, differing: Partial<Alert> = {}): Alert {
  const { id = "till-3" } = differing.subject ?? {};
  const key = `${alertname}/${id}`;
  return anAlert({
    key,
    id: `${key}@${NOW - 10 * MINUTE}`,
    ruleId: alertname,
    subject: { kind: "recording", id },
    labels: {
      alertname,
      severity: "critical",
      recording_id: "till-3",
      recording: "Till 3",
      location_id: "leeds",
      location: "Leeds Briggate",
    },
    annotations: { summary: "Till 3 at Leeds Briggate is offline", description: "Camera server cs-1." },
    startsAt: NOW - 12 * MINUTE,
    firedAt: NOW - 10 * MINUTE,
    updatedAt: NOW,
    facts: { timezone: "Europe/London", problem: "offline" },
    ...differing,
  });
}

/** The service is out of reach: lenswatch is blind. */
export const unreachable: Alert = alertOf("ServiceUnreachable", {
  subject: { kind: "service", id: "analytics" },
  labels: { alertname: "ServiceUnreachable", severity: "critical" },
  annotations: {
    summary: "The analytics service cannot be reached",
    description: "No sweep succeeds: recordings keep their last known state.",
  },
  facts: { timezone: "UTC", problem: "service_unreachable", detail: "status/uptime timed out after 20 s." },
});

export function active(...alerts: readonly Alert[]): () => Promise<ActiveAlert[]> {
  return async () => alerts.map((alert) => ({ alert, receivers: ["ops"] }));
}

const names = {
  "till-3": "Till 3",
  entrance: "Entrance",
  stairs: "Stairs",
  shoes: "Shoes",
  café: "Café",
  door: "Door",
};

/** Three locations: one with trouble, one of which part is not known, one where all is well. */
export const smallFleet: FleetSnapshot = fleetOf({
  recordings: [
    recordingState("entrance", { locationId: "leeds" }),
    recordingState("till-3", {
      locationId: "leeds",
      status: "offline",
      since: NOW - 12 * MINUTE,
      lastSeenAt: NOW - 12 * MINUTE,
      averageQuality: 0,
      alerts: {
        RecordingOffline: alertState("RecordingOffline", {
          startsAt: NOW - 12 * MINUTE,
          annotations: { description: "Camera server cs-1." },
          facts: { timezone: "Europe/London", problem: "offline" },
        }),
        LowUptime: alertState("LowUptime", {
          state: "pending",
          labels: { alertname: "LowUptime", severity: "warning" },
          facts: { timezone: "Europe/London", problem: "low_uptime", overallUptime: 0.9312 },
        }),
      },
    }),
    recordingState("stairs", { locationId: "york", readAt: NOW - 4 * INTERVAL }),
    recordingState("shoes", { locationId: "york", status: "degraded", averageQuality: 0.61 }),
    recordingState("café", { locationId: "bath", status: "online" }),
    recordingState("door", { locationId: "bath" }),
  ],
  names,
  locations: [
    { id: "leeds", name: "Leeds Briggate" },
    { id: "york", name: "York" },
    { id: "bath", name: "Bath" },
  ],
  uptimes: { "till-3": 0.9312, entrance: 1 },
});

/** Uptime of some days and hours, good and bad, and a quality that falls. */
export function keptUptime(): UptimeKept {
  const hours = Array.from({ length: 60 }, (_, i) => 62 - i);
  const buckets = hours.map((hoursAgo) =>
    anUptimeBucket(NOW - hoursAgo * 60 * MINUTE, hoursAgo % 7 === 0 ? undefined : (hoursAgo % 11) / 10, {
      withinSchedule: hoursAgo % 24 > 4,
    }),
  );
  const quality = hours.reduce<QualityHistory | undefined>(
    (history, hoursAgo) => noteQuality(history, hoursAgo / 62, NOW - hoursAgo * 60 * MINUTE),
    undefined,
  );
  const days = { "2026-01-20": { ratio: 0.5, segmentsExpected: 60 }, "2026-01-21": { ratio: 1, segmentsExpected: 60 } };
  return { buckets, days, timezone: "Europe/London", quality };
}

/** An outage of a whole location. */
export function locationOffline(id: string, differing: Partial<Alert> = {}): Alert {
  return alertOf("LocationOffline", {
    subject: { kind: "location", id },
    labels: { alertname: "LocationOffline", severity: "critical", location_id: id, location: id },
    facts: { timezone: "Europe/London", problem: "location_offline", offline: 2, of: 2 },
    ...differing,
  });
}

/** The alert under the key that the recording's own state gives it. */
export const dark: Alert = { ...alertOf("RecordingOffline"), key: "RecordingOffline/recording/till-3" };
export const print = fingerprint(dark.labels);
/** Of an alert that is over. */
export const endedPrint = "00112233445566aa";

/** All that pages can show: alerts in every state, their histories, silences; free text is `words`. */
export function everything(words: string): Differing {
  const subject = { kind: "recording", id: "till-3" } as const;
  const line = (minutesAgo: number, reason: string, more: Partial<LogLine> = {}): LogLine => ({
    ...{ subject, ruleId: "RecordingOffline", at: NOW - minutesAgo * MINUTE, reason },
    ...more,
  });
  const past = { alertname: words, ruleId: words, subject, locationId: "leeds" };
  const handled = (alertname: string, by: Partial<ActiveAlert>): ActiveAlert => ({
    alert: alertOf(alertname, { labels: { ...dark.labels, alertname, recording: words, location: words } }),
    receivers: ["ops"],
    ...by,
  });
  return {
    fleet: async () => smallFleet,
    alerts: async () => [
      ...[unreachable, dark, ...["bath", "york"].map((id) => locationOffline(id))].map((alert) => ({
        alert,
        receivers: ["ops"],
      })),
      handled("A", { acknowledgement: { author: words, comment: words, at: NOW, until: NOW + 60 * MINUTE } }),
      handled("B", { silencedBy: ["s1"] }),
      handled("C", { inhibitedBy: [print] }),
      handled("D", { maintenance: { reason: "maintenance", by: words, until: NOW + 60 * MINUTE, comment: words } }),
      handled("E", { mutedBy: [words] }),
    ],
    zones: async () =>
      new Map([["leeds", new Map([["till-3", Array.from({ length: 30 }, (_, i) => `${words}${i}`)]])]]),
    uptimes: async () => new Map([["till-3", keptUptime()]]),
    report: async () => aReport(words),
    timeline: async () => [
      line(12, "observed_offline", { ruleId: undefined }),
      line(10, "firing"),
      line(9, "notified", { integration: "ops/slack/0" }),
      line(8, words, { subject: { kind: "location", id: "leeds" }, ruleId: words, integration: words }),
    ],
    episodes: async () => [
      { ...past, id: "i1", startsAt: NOW - MINUTE, endsAt: undefined, endReason: undefined },
      { ...past, id: "i2", fingerprint: endedPrint, problem: "offline", startsAt: NOW - MINUTE, ...END },
      { ...past, id: "i3", fingerprint: print, startsAt: NOW - 300 * MINUTE, ...END },
    ],
    silences: async () => [
      aSilence({
        matchers: [createMatcher(words, "=~", words)],
        ...{ id: "s1", startsAt: NOW, endsAt: NOW + MINUTE, createdBy: words, comment: words },
      }),
    ],
  };
}

const END = {
  endsAt: NOW - MINUTE / 2,
  endReason: "recovered",
  uncounted: { estimate: 43, low: 30, high: 61 },
} as const;

/** The paths of all pages, by name. */
export const pages = {
  overview: "/",
  locations: "/?show=locations",
  silences: "/?show=silences",
  search: "/?q=e",
  incidents: "/incidents",
  report: "/report",
  location: "/?location=leeds",
  recording: "/recordings/till-3",
  alert: `/alerts/${print}`,
  "ended-alert": `/alerts/${endedPrint}`,
  silence: '/silences/new?matchers=alertname="RecordingOffline",recording_id="till-3"',
  "wrong-silence": "/silences/new?matchers=wrong=",
  session: "/session",
  nothing: "/nothing/here",
} as const;

/** A page of a server with the small fleet and what differs, as its reader sees it. */
export async function pageOf(path: string, deps: Parameters<typeof serve>[0] = {}, headers = {}) {
  const { get } = await serve({ fleet: async () => smallFleet, ...deps });
  return shownPage(await get(path, { accept: "text/html", ...headers }));
}

async function shownPage(response: Response) {
  const html = await response.text();
  const { status, headers } = response;
  const [title, heading] = [elementOf(html, "title"), elementOf(html, "h1")];
  return { status, headers, html, shown: shownText(html), links: linksOf(html), title, heading };
}
