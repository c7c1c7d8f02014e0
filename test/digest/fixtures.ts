import type { DigestEpisode, DigestRecording } from "../../src/digest/digest.ts";
import { digestPeriod } from "../../src/digest/period.ts";
import { defaultAlertNames, type ProblemKind } from "../../src/health/alert.ts";
import type { Recording, UptimeBucket } from "../../src/health/recording.ts";
import { anEpisode, anUptimeBucket, aRecording } from "../support/fixtures.ts";
import type { DigestInput } from "./compute-digest.ts";

export const HOUR = 3_600_000;
export const MINUTE = 60_000;

/** 08:00 on Fri 20 Nov 2026 in London: the digest is about the Thursday. */
export const NOW = Date.parse("2026-11-20T08:00:00Z");

/** A time on that Thursday, `14:05`, or any other in ISO form. */
export function at(time: string): number {
  return Date.parse(time.includes("T") ? time : `2026-11-19T${time}:00Z`);
}

/** Up for a long time; at Leeds Briggate by default. */
export function subject(
  id: string,
  { locationName = "Leeds Briggate", status, since, ...recording }: Partial<Recording & DigestRecording> = {},
): DigestRecording {
  return {
    recording: aRecording(id, {
      organisation: "acme",
      cameraServer: "server-1",
      locationId: locationName.toLowerCase().replaceAll(" ", "-"),
      ...recording,
    }),
    locationName,
    status: status ?? "online",
    since: since ?? at("2026-11-01T00:00:00Z"),
  };
}

/** Hourly buckets from `from` on, one per ratio; `undefined` is the service's null. */
export function hours(from: number, ratios: readonly (number | undefined)[], over: Partial<UptimeBucket> = {}) {
  return ratios.map((overallUptime, i): UptimeBucket => {
    const startAt = from + i * HOUR;
    const segmentsReceived = overallUptime === undefined ? undefined : Math.round(60 * overallUptime);
    return anUptimeBucket(startAt, overallUptime, {
      segmentsReceived,
      avgUptimeOnSegment: overallUptime === undefined ? undefined : 1,
      pcSegmentsReceived: overallUptime,
      ...over,
    });
  });
}

/** A whole day of them. */
export function day(ratio: number | undefined, over: Partial<UptimeBucket> = {}) {
  return hours(at("00:00"), Array(24).fill(ratio), over);
}

export function offline(recordingId: string, startsAt: number, endsAt?: number): DigestEpisode {
  return anEpisode(startsAt, endsAt, { problem: "offline", subject: { kind: "recording", id: recordingId } });
}

export function episode(
  problem: ProblemKind,
  recordingId: string,
  startsAt: number,
  endsAt?: number,
  alertname = defaultAlertNames[problem],
): DigestEpisode {
  return anEpisode(startsAt, endsAt, { alertname, problem, subject: { kind: "recording", id: recordingId } });
}

export function locationOffline(id: string, startsAt: number, endsAt?: number): DigestEpisode {
  const about = { subject: { kind: "location", id }, locationId: id } as const;
  return anEpisode(startsAt, endsAt, { ...about, alertname: "LocationOffline", problem: "location_offline" });
}

/** The Thursday in London, without recordings or episodes. */
export function input(over: Partial<DigestInput> = {}): DigestInput {
  const timezone = over.timezone ?? "Europe/London";
  const now = over.now ?? NOW;
  return {
    now,
    timezone,
    period: digestPeriod("1d", now, timezone),
    recordings: [],
    uptime: new Map(),
    episodes: [],
    matchers: [],
    unreachable: [],
    ...over,
  };
}
