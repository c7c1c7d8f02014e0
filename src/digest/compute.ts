/**
 * The digest's figures. Downtime comes from incidents, uptime from the service's own figures: neither is made up
 * from the other, and where there is nothing there is no figure.
 */
import type { Matcher } from "../alerting/route.ts";
import {
  type Digest,
  type DigestInput,
  type DigestPart,
  type DigestRecording,
  type DigestTotals,
  digestParts,
  type LocationGroup,
  type Span,
} from "./digest.ts";
import { groups, type LocationRecords, sum, uptimeOf } from "./groups.ts";
import { darkLocations, otherAlerts } from "./incident.ts";
import { judgeRecording } from "./recording.ts";
import { clip, total } from "./spans.ts";

export type { Digest, DigestInput, DigestPeriod, DigestRecording, Incident, Span } from "./digest.ts";

/** Judges every recording the matchers let through and sorts them: parts, locations, most downtime first. */
export function computeDigest(input: DigestInput): Digest {
  const steps = digestSteps(input);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Recordings between two yields. */
const ROWS_PER_STEP = 64;

/** The same for a large fleet, in steps between which the event loop can be let through (`runBreathing`). */
export function* digestSteps(input: DigestInput): Generator<void, Digest> {
  const ofRecording = Map.groupBy(input.incidents, ({ recordingId }) => recordingId);
  const locations = new Map<string, LocationRecords>();
  const chosen = new Set<string>();
  for (const [row, subject] of input.recordings.entries()) {
    if (row % ROWS_PER_STEP === 0) yield;
    if (!isChosen(input.matchers, subject)) continue;
    const { id, locationId } = subject.recording;
    const location = locations.get(locationId) ?? { id: locationId, name: subject.locationName, judged: [] };
    location.judged.push(judgeRecording(input, subject, ofRecording.get(id) ?? []));
    locations.set(locationId, location);
    chosen.add(id);
  }
  const all = [...locations.values()];
  const bounds = { from: input.period.start, to: input.period.end };
  const blind = clip(input.blind, bounds);
  const parts: Record<DigestPart, LocationGroup[]> = {
    down_now: [],
    down_some: [],
    up: [],
    closed: [],
    unknown: [],
  };
  for (const part of digestParts) {
    parts[part] = groups(all, part);
    yield;
  }
  return {
    now: input.now,
    period: input.period,
    timezone: input.timezone,
    totals: totals(all, blind),
    parts,
    dark: darkLocations(input, locations),
    other: otherAlerts(input, chosen, locations),
    blind,
  };
}

/** Matchers see the labels an alert of the recording would carry; a label it has not is the empty string. */
function isChosen(matchers: readonly Matcher[], { recording, locationName }: DigestRecording): boolean {
  if (matchers.length === 0) return true;
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
