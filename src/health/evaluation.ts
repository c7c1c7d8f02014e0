/** Input and result of an evaluation: what it changes, what alerts did, and why, by name. */
import type { Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import type { Alert, Subject } from "./alert.ts";
import type { Presence } from "./belief.ts";
import type { CountsLookup } from "./counts.ts";
import type { ShardGroups } from "./group-counts.ts";
import type { Members } from "./members.ts";
import type { Rule } from "./model.ts";
import type { ScheduleState } from "./schedule.ts";
import type { ShardPatch } from "./shard-patch.ts";
import type { Inventory, RecordingState } from "./shard-state.ts";
import type { Figure } from "./uptime.ts";

/** The context of a shard's evaluation: pure data and look-ups. */
export interface EvaluationContext {
  readonly now: Instant;
  readonly intervalMs: number;
  /** No start of lenswatch lies since the last good sweep. */
  readonly unbroken?: boolean;
  readonly forgetAfterMs: number;
  readonly rules: readonly Rule[];
  readonly inventory: Inventory;
  /** Location ids this shard asked for. */
  readonly locationIds: readonly string[];
  /** Some shard asks for the location. */
  isAssigned(locationId: string): boolean;
  /** Recordings that another shard evaluates, as their last sweep there left them. */
  readonly elsewhere?: ReadonlyMap<string, RecordingState>;
  /** Recordings that are new here, as another shard had them before they moved: their episodes go on. */
  readonly begun?: ReadonlyMap<string, RecordingState> | undefined;
  /** The other shards: the belief in absent recordings depends on the whole fleet. Undefined: any number. */
  readonly others?: Presence;
  /** The members that the previous evaluation gave: otherwise all of it is grouped again. */
  readonly members?: Members | undefined;
  /** Recording or location ids never watched. */
  readonly excluded: ReadonlySet<string>;
  /** A figure of uptime or segments, ratio 0–1. */
  uptime(recordingId: string, figure: Figure): number | undefined;
  /** The evidence of counts; undefined where nobody asks. */
  readonly counts?: CountsLookup | undefined;
  /** False only outside a schedule that is known; asked for every recording at every sweep. */
  inSchedule(recordingId: string): boolean;
  /** The state of an uploading schedule; undefined without one. */
  scheduleOf(recordingId: string): ScheduleState | undefined;
  /** The beginning of the hours within its schedule that it is in now, as far as that is known. */
  scheduleBegan(recordingId: string): Instant | undefined;
  /** The part of a span within its schedule, ms; all of it where this is not given. */
  scheduledMs?(recordingId: string, span: Interval): number;
}

/** The patch to store, and what alerts did. */
export interface Evaluation extends Outcomes {
  readonly patch: ShardPatch;
  /** The counts for rules on groups, over all shards; undefined where there is no such rule. */
  readonly groups?: ShardGroups | undefined;
  /** Undefined where nothing is counted. */
  readonly members?: Members | undefined;
  /** Known recordings that the snapshot lacks, without those in doubt. */
  readonly absent: number;
  /** Recordings without a good reading in time, for another reason than that they are missing. */
  readonly stale: number;
  /** Recordings with alerts that this sweep did not read, and locations without an answer, by id: when each was read. */
  readonly unread: ReadonlyMap<string, Instant>;
}

/** `updated`: facts of a firing alert changed that a message shows. */
export type Transition = { readonly kind: "firing" | "resolved" | "updated"; readonly alert: Alert };

export const decisionReasons = [
  /** A good reading with another status than the last, or a first one that is not online. */
  "observed_online",
  "observed_degraded",
  "observed_offline",
  /** Absent from a complete snapshot, present in the sweep before. */
  "observed_missing",
  /** A row without a location, of a recording whose location is not known: ignored (at every sweep). */
  "no_location",
  /** Also listed at a location of another shard, which evaluates it: ignored here (at every sweep). */
  "listed_elsewhere",
  /** Another location than before; the identity stays. */
  "moved",
  /** Its location or itself is no longer watched here. */
  "no_longer_watched",
  /** Absent for `forget_after`: it left the fleet. */
  "forgotten",
  /** Not online, outside its uploading schedule; or an alert of it is paused for that reason. */
  "outside_schedule",
  /** A paused alert goes on: its schedule has begun again, or its rule no longer respects it. */
  "within_schedule",
  /** The condition is met; the rule's `for` runs. */
  "pending",
  /** The condition was no longer met before `for` was over. */
  "pending_ended",
  "firing",
  /** The condition is no longer met; `keep_firing_for` runs. */
  "clearing",
  /** The condition is met again before `keep_firing_for` was over. */
  "clearing_ended",
  "resolved",
  "rule_removed",
  /** The condition is not met as its rule has it now, and has not been since the rule was changed. */
  "rule_changed",
  /** Most locations count little at once: it is not about this one. */
  "dropped_together",
  /** Nothing shows any more whether it goes on. */
  "expired",
] as const;
export type DecisionReason = (typeof decisionReasons)[number];

/** Something changed, and why: one line of the decision log. */
export interface Decision {
  readonly subject: Subject;
  /** Undefined where no rule is involved. */
  readonly ruleId: string | undefined;
  readonly reason: DecisionReason;
  readonly at: Instant;
  /** Words that the reason leaves open. */
  readonly detail?: string | undefined;
}

/** Collected by an evaluation on its way. */
export type Outcomes = { readonly transitions: Transition[]; readonly decisions: Decision[] };
