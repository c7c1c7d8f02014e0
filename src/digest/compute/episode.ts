/** Alerts as a digest counts and ranks them: downtime of recordings and locations, and other alerts. */

import { matchesAll } from "../../alerting/matcher.ts";
import { type Alert, defaultAlertNames, groupOfSubject } from "../../health/alert.ts";
import type { Rule } from "../../health/model.ts";
import type { Recording } from "../../health/recording.ts";
import { problemKindOf } from "../../health/rule.ts";
import { lengthIn, subtract } from "../../lib/intervals.ts";
import { compareText } from "../../lib/text.ts";
import type { LossEvidence } from "../../report/attribute.ts";
import type {
  DigestEpisode,
  DigestEpisodeKind,
  DigestPart,
  DigestScope,
  Flapper,
  LocationGroup,
  LongOutage,
  OtherAlerts,
  Outage,
} from "../digest.ts";
import { type LocationRecords, sumOf } from "./locations.ts";

const COUNTED_APART = ["offline", "missing", "location_offline", "flapping"] as const;

/** Cameras of one location are not reported offline in the same second. */
const TOGETHER_WITHIN_MS = 5 * 60_000;

type RecordedAlert = Pick<Alert, "ruleId" | "labels" | "subject" | "startsAt" | "endsAt" | "endReason"> &
  Pick<DigestEpisode, "uncounted">;

/** A firing alert or a stored episode as a digest counts it: by its rule, or by its name once the rule is removed. */
export function digestEpisode(alert: RecordedAlert, rules: readonly Rule[]): DigestEpisode {
  const { ruleId, labels, subject, startsAt, endsAt, endReason, uncounted } = alert;
  const alertname = labels.alertname ?? ruleId;
  const rule = rules.find(({ id }) => id === ruleId);
  const isOf = (kind: Exclude<DigestEpisodeKind, "other"> | "camera_server_offline") =>
    rule ? problemKindOf(rule.when) === kind : defaultAlertNames[kind] === alertname;
  return {
    alertname,
    kind: COUNTED_APART.find(isOf) ?? "other",
    recordingId: subject.kind === "recording" ? subject.id : undefined,
    locationId: subject.kind === "location" ? subject.id : undefined,
    group: subject.kind === "group" ? labels : undefined,
    cameraServer: isOf("camera_server_offline") ? groupOfSubject(subject)?.value : undefined,
    startsAt,
    endsAt,
    endReason,
    uncounted,
  };
}

/** The key of a location or a camera server. */
export function groupKey(cause: "location" | "camera_server", id: string): string {
  return `${cause}/${id}`;
}

/**
 * Gives the alerts about all recordings of a recording's location and camera server: the larger group first, of equal
 * ones the location. Outages that begin or end a few minutes apart are the same one.
 */
export function createWider({ episodes, groupSizes, now }: DigestScope) {
  const spans = Map.groupBy(episodes, ({ kind, locationId = "", cameraServer }) => {
    if (cameraServer !== undefined) return groupKey("camera_server", cameraServer);
    return kind === "location_offline" ? groupKey("location", locationId) : "";
  });
  return ({ locationId, cameraServer }: Recording): LossEvidence["wider"] => {
    const causes = [
      ["location", groupKey("location", locationId)],
      ["camera_server", groupKey("camera_server", cameraServer)],
    ] as const;
    const size = (key: string) => groupSizes?.get(key) ?? 0;
    return causes
      .filter(([, key]) => spans.has(key))
      .sort(([, a], [, b]) => size(b) - size(a))
      .map(([cause, key]) => ({
        cause,
        spans: (spans.get(key) ?? []).map(({ startsAt, endsAt = now }) => ({
          from: startsAt - TOGETHER_WITHIN_MS,
          to: endsAt + TOGETHER_WITHIN_MS,
        })),
      }));
  };
}

/** Location episodes inside the period, without the time in which all recordings were outside their schedules or in maintenance. */
export function locationOutages(
  { episodes, period, unreachable, now }: DigestScope,
  locations: ReadonlyMap<string, LocationRecords>,
): LongOutage[] {
  const outages = episodes.flatMap((episode): LongOutage[] => {
    const location = episode.kind === "location_offline" && locations.get(episode.locationId ?? "");
    if (!location) return [];
    const { startsAt, endsAt, endReason } = episode;
    const holes = [...subtract([period], location.open), ...unreachable];
    const lostMs = lengthIn([{ from: startsAt, to: endsAt ?? now }], period, holes);
    if (lostMs === 0) return [];
    const recovered = endsAt !== undefined && (endReason ?? "recovered") === "recovered";
    const outage = { kind: "location_offline" as const, startsAt, endsAt, lostMs, recovered };
    return [{ locationId: location.id, locationName: location.name, recording: undefined, outage }];
  });
  return outages.sort((a, b) => b.outage.lostMs - a.outage.lostMs);
}

/** Alerts that are not downtime, of the recordings (`locationOf`) and locations in the digest or of the service itself. */
export function otherAlerts(
  { episodes, period, now, matchers }: DigestScope,
  locations: ReadonlyMap<string, LocationRecords>,
  locationOf: ReadonlyMap<string, string>,
): OtherAlerts[] {
  const concerns = ({ recordingId, locationId, group }: DigestEpisode) =>
    group
      ? matchesAll(matchers, group)
      : recordingId === undefined
        ? locationId === undefined || locations.has(locationId)
        : locationOf.has(recordingId);
  const lengths = episodes
    .filter((episode) => episode.kind === "other" && concerns(episode))
    .map(({ alertname, startsAt: from, endsAt: to = now }) => ({
      alertname,
      lengthMs: lengthIn([{ from, to }], period),
    }))
    .filter(({ lengthMs }) => lengthMs > 0);
  return [...Map.groupBy(lengths, ({ alertname }) => alertname)]
    .map(([alertname, all]) => ({ alertname, count: all.length, lengthMs: sumOf(all, (one) => one.lengthMs) }))
    .sort((a, b) => b.lengthMs - a.lengthMs || compareText(a.alertname, b.alertname));
}

type Parts = Readonly<Record<DigestPart, readonly LocationGroup[]>>;

const MOST_LONG = 5;
/** True where a recording's outage is one of its whole location's. */
export function isLocationWide(outage: Outage, wholeLocation: readonly Outage[]): boolean {
  const close = (a = 0, b = 0) => Math.abs(a - b) <= TOGETHER_WITHIN_MS;
  return wholeLocation.some(({ startsAt, endsAt }) => close(outage.startsAt, startsAt) && close(outage.endsAt, endsAt));
}

/** The outages with most downtime; one of a whole location instead of one of each of its recordings. */
export function longestOutages(parts: Parts, wholeLocations: readonly LongOutage[]): LongOutage[] {
  const byLocation = Map.groupBy(wholeLocations, ({ locationId }) => locationId);
  let longest = [...wholeLocations];
  for (const { locationId, locationName, recordings } of [...parts.down_now, ...parts.down_some]) {
    const locationWide = (byLocation.get(locationId) ?? []).map(({ outage }) => outage);
    for (const { id, name, outages } of recordings) {
      for (const outage of outages) {
        if (outage.lostMs === 0 || isLocationWide(outage, locationWide)) continue;
        longest.push({ locationId, locationName, recording: { id, name }, outage });
      }
    }
    if (longest.length > 100) longest = ranked(longest);
  }
  return ranked(longest);
}

function ranked(outages: readonly LongOutage[]): LongOutage[] {
  return outages
    .toSorted((a, b) => b.outage.lostMs - a.outage.lostMs || a.outage.startsAt - b.outage.startsAt)
    .slice(0, MOST_LONG);
}

/** From so many outages on, a recording without a flapping alert is listed too. */
const MANY_OUTAGES = 4;

/** Recordings that were flapping or had many outages, most outages first. */
export function flappersOf(parts: Parts): Flapper[] {
  return Object.values(parts)
    .flat()
    .flatMap(({ locationId, locationName, recordings }) =>
      recordings
        .filter(({ flapping, outages }) => flapping !== undefined || outages.length >= MANY_OUTAGES)
        .map((recording) => ({ locationId, locationName, recording })),
    )
    .sort(
      ({ recording: a }, { recording: b }) =>
        b.outages.length - a.outages.length ||
        (b.flapping?.lengthMs ?? 0) - (a.flapping?.lengthMs ?? 0) ||
        compareText(a.name, b.name),
    );
}
