/** `GET /api/v1/recordings/{id}/timeline`: what was decided about one recording, and why, oldest first. */
import { z } from "zod";
import { type LogLine, sentenceOf } from "../../alerting/decision-log.ts";
import { subjectKinds } from "../../health/alert.ts";
import { serviceSubject } from "../../health/evaluate-self.ts";
import type { Subject } from "../../health/evaluation.ts";
import type { FleetSnapshot } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { PageCollector, pageOf, pageParameters } from "../paging.ts";
import { instant } from "../query.ts";
import { time } from "./rows.ts";

const DEFAULT_PERIOD_MS = 86_400_000;

/** Without `since`, the last 24 hours. */
export const TimelineQuery = z.strictObject({ ...pageParameters, since: instant.optional() });
export type TimelineQuery = z.infer<typeof TimelineQuery>;

export const TimelineRow = z
  .strictObject({
    at: time,
    about: z
      .strictObject({ kind: z.enum(subjectKinds), id: z.string() })
      .readonly()
      .describe("The recording, its location or the service: what the line is about."),
    rule: z.string().nullable(),
    integration: z.string().nullable(),
    reason: z.string().describe("By name, for scripts; new ones may come."),
    detail: z.string().nullable(),
    text: z.string().describe("The same in words."),
  })
  .readonly();
export type TimelineRow = z.infer<typeof TimelineRow>;

export const Timeline = pageOf(TimelineRow, {
  recordingId: z.string(),
  recording: z.string(),
  locationId: z.string().nullable(),
  location: z.string().nullable(),
  timezone: z.string().describe("IANA name."),
});
export type Timeline = z.infer<typeof Timeline>;

/** Whose lines tell the recording's story, and whether it is known at all. */
export interface DecisionLogView {
  readonly known: boolean;
  readonly id: string;
  readonly locationId: string | undefined;
  readonly subjects: readonly Subject[];
}

/** The recording, the location it is at, and the service. */
export function decisionLogOf(id: string, { shards, inventory }: FleetSnapshot): DecisionLogView {
  const state = shards.find(({ recordings }) => recordings.has(id))?.recordings.get(id);
  const recording = inventory.recording(id);
  const locationId = state?.locationId ?? recording?.locationId;
  const location: Subject[] = locationId === undefined ? [] : [{ kind: "location", id: locationId }];
  const known = state !== undefined || recording !== undefined;
  return { known, id, locationId, subjects: [{ kind: "recording", id }, ...location, serviceSubject] };
}

/** From when on the story is told. */
export function sinceOf({ since }: TimelineQuery, now: Instant): Instant {
  return since ?? now - DEFAULT_PERIOD_MS;
}

/** One page. */
export function timelinePage(
  { id, locationId }: DecisionLogView,
  lines: readonly LogLine[],
  query: TimelineQuery,
  { inventory }: Pick<FleetSnapshot, "inventory">,
): Timeline {
  const collector = new PageCollector<LogLine>(query);
  const beside = new Map<string, number>();
  for (const line of lines) {
    const key = `${String(line.at).padStart(16, "0")} ${line.subject.kind}`;
    const position = beside.get(key) ?? 0;
    beside.set(key, position + 1);
    collector.offer(`${key} ${String(position).padStart(4, "0")}`, line);
  }
  const { items, nextCursor } = collector.page();
  const recording = inventory.recording(id);
  const location = locationId === undefined ? undefined : inventory.location(locationId);
  return {
    recordingId: id,
    recording: recording?.name || id,
    locationId: locationId ?? null,
    location: location?.name || locationId || null,
    timezone: recording?.timezone ?? location?.timezone ?? "UTC",
    items: items.map(rowOf),
    nextCursor,
  };
}

function rowOf(line: LogLine): TimelineRow {
  const { subject, at, ruleId, integration, reason, detail } = line;
  return {
    at: new Date(at).toISOString(),
    about: subject,
    rule: ruleId ?? null,
    integration: integration ?? null,
    reason,
    detail: detail ?? null,
    text: sentenceOf(line),
  };
}
