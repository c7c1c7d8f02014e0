/** Evaluates rules for one recording. */

import type { Instant } from "../lib/clock.ts";
import { briefId, isoMinute } from "../lib/format.ts";
import type { AlertFacts, GeneratedAnnotation, Labels } from "./alert.ts";
import { EVIDENCE_WAIT_MS, type Evaluator } from "./apply-rules.ts";
import { countsEndReason } from "./counts.ts";
import { describedBy, namesFor } from "./directory.ts";
import type { Rule } from "./model.ts";
import { kindOf, type RecordingContext, type Sample, watchesRecordings } from "./recording-conditions.ts";
import { alertAnnotations, alertLabels, generatedOf } from "./rule.ts";
import type { ScheduleState } from "./schedule.ts";
import type { Inventory } from "./shard-state.ts";

export function recordingEvaluator(sample: Sample, context: RecordingContext, readBefore?: Instant): Evaluator {
  const { state } = sample;
  const { id, locationId } = state;
  const { inventory } = context;
  const inSchedule = context.inSchedule(id);
  const isPaused = (rule: Rule) => !inSchedule && rule.respectSchedule;
  return {
    subject: { kind: "recording", id },
    readBefore,
    evidence(rule, firing) {
      if (!watchesRecordings(rule.when) || isPaused(rule)) return undefined;
      const { evidence, needsNoReading } = kindOf(rule.when);
      return sample.read || needsNoReading ? evidence(rule.when, firing, sample, context) : undefined;
    },
    endReason: ({ when }) =>
      when.kind === "counts" ? countsEndReason(context.counts?.(when, "recording", id)) : undefined,
    isPaused,
    // One that is not understood is watched all the same, as self alerts say; one that is missing will be forgotten.
    endsAfterMs: () => (sample.read ? EVIDENCE_WAIT_MS : undefined),
    startsAt: ({ when }) =>
      (watchesRecordings(when) ? kindOf(when).startsAt?.(state, context, when) : undefined) ?? context.now,
    facts: (rule) => ({
      timezone: inventory.recording(id)?.timezone ?? inventory.location(locationId)?.timezone ?? "UTC",
      restated: restatedBy(rule),
      averageQuality: state.averageQuality,
      lastSeenAt: state.lastSeenAt,
      ...(watchesRecordings(rule.when) ? kindOf(rule.when).facts?.(rule.when, state, context) : {}),
      ...scheduleFacts(context.scheduleOf(id)),
    }),
    describe(rule, startsAt) {
      const labels = alertLabels(rule, recordingLabels(id, locationId, inventory));
      const name = `${labels.recording ?? ""} at ${labels.location ?? ""}`;
      const seen = { name, cameraServer: labels.camera_server_name ?? readable(labels.camera_server), startsAt, state };
      const [summary, description] = watchesRecordings(rule.when)
        ? kindOf(rule.when).describe(rule.when, seen, context)
        : [name, ""];
      const began = rule.respectSchedule ? context.scheduleBegan(id) : undefined;
      const expected =
        began !== undefined && began > startsAt
          ? ` Its uploading schedule began at ${isoMinute(began)}; before, it was not expected to upload.`
          : "";
      const annotations = alertAnnotations(rule, [summary, description + expected]);
      return { ...describedBy(inventory, [locationId]), labels, annotations };
    },
  };
}

/** An id that reads as a name; undefined for any other. */
function readable(id = ""): string | undefined {
  return briefId(id) === id ? id : undefined;
}

/** Labels of every alert of a recording, whatever its rule: names are ids until known, what is unknown is left out. */
export function recordingLabels(
  id: string,
  locationId: string,
  inventory: Inventory,
): Readonly<Record<string, string | undefined>> {
  const recording = inventory.recording(id);
  const location = inventory.location(locationId);
  return {
    ...inventory.shop?.(locationId)?.labels,
    ...namesFor({ organisation: recording?.organisation, camera_server: recording?.cameraServer }, inventory),
    recording_id: id,
    recording: recording?.name || id,
    location_id: locationId,
    location: location?.name || locationId,
    organisation: recording?.organisation,
    camera_server: recording?.cameraServer,
    timezone: recording?.timezone ?? location?.timezone,
  };
}

/** Labels of a location, the directory's among them. */
export function labelsOfLocation(id: string, inventory: Inventory): Labels {
  return { ...inventory.shop?.(id)?.labels, location_id: id, location: inventory.location(id)?.name || id };
}

/** A threshold stands in both generated annotations: the summary repeats it only where the description has it too. */
function restatedBy(rule: Rule): GeneratedAnnotation[] {
  const generated = generatedOf(rule, ["summary", "description"]);
  if (rule.when.kind === "counts") return generated;
  if ("below" in rule.when && !generated.includes("description")) return [];
  return generated.filter((name) => name === "summary");
}

function scheduleFacts(schedule: ScheduleState | undefined): Pick<AlertFacts, "schedule"> {
  return schedule === "outside" || schedule === "unknown" ? { schedule } : {};
}
