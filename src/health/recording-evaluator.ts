/** What one recording says about each rule. */

import type { Instant } from "../lib/clock.ts";
import { isoMinute } from "../lib/format.ts";
import type { AlertFacts, GeneratedAnnotation, Labels } from "./alert.ts";
import { annotationsOf, generatedOf, recordingLabels } from "./annotations.ts";
import type { Evaluator } from "./apply-rules.ts";
import { kindOf, type RecordingContext, type Sample, watchesRecordings } from "./recording-conditions.ts";
import type { Rule } from "./rule.ts";
import type { ScheduleState } from "./schedule.ts";
import type { RecordingState } from "./shard-state.ts";

export function recordingEvaluator(sample: Sample, context: RecordingContext): Evaluator {
  const { state } = sample;
  const { inventory } = context;
  const inSchedule = context.inSchedule(state.id);
  const isPaused = (rule: Rule) => !inSchedule && rule.respectSchedule;
  return {
    subject: { kind: "recording", id: state.id },
    evidence(rule, firing) {
      if (!watchesRecordings(rule.when) || isPaused(rule)) return undefined;
      const { evidence, judgesUnread } = kindOf(rule.when);
      return sample.read || judgesUnread ? evidence(rule.when, firing, sample, context) : undefined;
    },
    isPaused,
    startsAt: ({ when }) =>
      (watchesRecordings(when) ? kindOf(when).startsAt?.(state, context) : undefined) ?? context.now,
    facts: (rule) => ({
      timezone:
        inventory.recording(state.id)?.timezone ?? inventory.location(state.locationId)?.timezone ?? "UTC",
      restated: restated(rule),
      averageQuality: state.averageQuality,
      lastSeenAt: state.lastSeenAt,
      ...(watchesRecordings(rule.when) ? kindOf(rule.when).facts?.(rule.when, state, context) : {}),
      ...scheduleFacts(context.scheduleOf(state.id)),
    }),
    describe(rule, startsAt) {
      const labels = recordingLabels(rule, state.id, state.locationId, inventory);
      return { labels, annotations: annotations(rule, { labels, startsAt, state }, context) };
    },
  };
}

/** What is wrong, in a line and in a sentence. */
function annotations(
  rule: Rule,
  {
    labels,
    startsAt,
    state,
  }: { readonly labels: Labels; readonly startsAt: Instant; readonly state: RecordingState },
  context: RecordingContext,
): Labels {
  const who = `${labels.recording ?? ""} at ${labels.location ?? ""}`;
  const seen = { who, server: labels.camera_server, startsAt, state };
  const [summary, description] = watchesRecordings(rule.when)
    ? kindOf(rule.when).describe(rule.when, seen, context)
    : [who, ""];
  const began = rule.respectSchedule ? context.scheduleBegan(state.id) : undefined;
  const expected =
    began !== undefined && began > startsAt
      ? ` Its uploading schedule began at ${isoMinute(began)}; before, nothing was expected of it.`
      : "";
  return annotationsOf(rule, summary, description + expected);
}

/** A threshold stands in both generated annotations: the summary repeats it only where the description has it too. */
function restated(rule: Rule): GeneratedAnnotation[] {
  const generated = generatedOf(rule, ["summary", "description"]);
  if ("below" in rule.when && !generated.includes("description")) return [];
  return generated.filter((name) => name === "summary");
}

function scheduleFacts(schedule: ScheduleState | undefined): Pick<AlertFacts, "schedule"> {
  return schedule === "outside" || schedule === "unknown" ? { schedule } : {};
}
