/**
 * The digest's figures. Downtime comes from incidents, uptime from the service's own figures: neither is made up
 * from the other, and where there is nothing there is no figure.
 */
import type { Matcher } from "../alerting/route.ts";
import type { Digest, DigestInput, DigestPart, DigestRecording, DigestTotals, Span } from "./digest.ts";
import { groups, type LocationRecords, sum, uptimeOf } from "./groups.ts";
import { darkLocations, otherAlerts } from "./incident.ts";
import { judgeRecording } from "./recording.ts";
import { clip, total } from "./spans.ts";

export type { Digest, DigestInput, DigestPeriod, DigestRecording, Incident, Span } from "./digest.ts";

/** Judges every recording the matchers let through and sorts them: parts, locations, most downtime first. */
export function computeDigest(input: DigestInput): Digest {
  const chosen = input.recordings.filter((subject) => isChosen(input.matchers, subject));
  const ofRecording = Map.groupBy(input.incidents, ({ recordingId }) => recordingId);
  const locations = new Map<string, LocationRecords>();
  for (const subject of chosen) {
    const { id, locationId } = subject.recording;
    const location = locations.get(locationId) ?? { id: locationId, name: subject.locationName, judged: [] };
    location.judged.push(judgeRecording(input, subject, ofRecording.get(id) ?? []));
    locations.set(locationId, location);
  }
  const all = [...locations.values()];
  const bounds = { from: input.period.start, to: input.period.end };
  const blind = clip(input.blind, bounds);
  return {
    now: input.now,
    period: input.period,
    timezone: input.timezone,
    totals: totals(all, blind),
    parts: {
      down_now: groups(all, "down_now"),
      down_some: groups(all, "down_some"),
      up: groups(all, "up"),
      closed: groups(all, "closed"),
      unknown: groups(all, "unknown"),
    },
    dark: darkLocations(input, locations),
    other: otherAlerts(input, new Set(chosen.map(({ recording }) => recording.id)), locations),
    blind,
  };
}

/** Matchers see the labels an alert of the recording would carry; a label it has not is the empty string. */
function isChosen(matchers: readonly Matcher[], { recording, locationName }: DigestRecording): boolean {
  const labels = new Map([
    ["recording_id", recording.id],
    ["recording", recording.name],
    ["location_id", recording.locationId],
    ["location", locationName],
    ["organisation", recording.organisation],
    ["camera_server", recording.cameraServer],
    ["timezone", recording.timezone],
  ]);
  return matchers.every((matcher) => matcher.matches(labels.get(matcher.name) ?? ""));
}

function totals(locations: readonly LocationRecords[], blind: readonly Span[]): DigestTotals {
  const judged = locations.flatMap((location) => location.judged);
  const digests = judged.map(({ digest }) => digest);
  const count = (part: DigestPart) => digests.filter((digest) => digest.part === part).length;
  return {
    recordings: digests.length,
    locations: locations.length,
    downNow: count("down_now"),
    downSome: count("down_some"),
    up: count("up"),
    closed: count("closed"),
    unknown: count("unknown"),
    affected: digests.filter(({ lostMs }) => lostMs > 0).length,
    low: digests.filter(({ part, outages }) => part === "down_some" && outages.length === 0).length,
    outages: sum(digests, ({ outages }) => outages.length),
    lostMs: sum(digests, ({ lostMs }) => lostMs),
    blindMs: total(blind),
    uptime: uptimeOf(judged),
  };
}
