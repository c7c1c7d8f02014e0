/**
 * What keeps a firing alert from being notified. Suppression only delays: what still fires when it ends is notified
 * then, and an end is sent wherever the alert was notified as firing.
 */
import type { Instant } from "../lib/clock.ts";
import type { StandsFor } from "./notification.ts";

/** In the order they are named where several suppress the same alert. */
export const suppressionReasons = ["muted", "inhibited", "silenced", "acknowledged", "paused"] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

export interface Suppression {
  readonly reason: SuppressionReason;
  /**
   * The episode of the inhibiting alert, the silence's id, the time interval's name, who acknowledged, or the episode
   * itself that waits for its recording's schedule.
   */
  readonly by: string;
  /** When it ends by the clock; undefined where that is not known beforehand. */
  readonly until?: Instant | undefined;
}

/** What suppresses the alerts of one group now. */
export interface Suppressions {
  /** Of the group's route: suppresses everything, ends as well. */
  readonly muted: Suppression | undefined;
  /** By episode, firing or resolved. */
  readonly suppressed: ReadonlyMap<string, Suppression>;
  /** Episodes that were due, and suppressed, when the group was last decided. */
  readonly suppressedBefore: ReadonlySet<string>;
  /** Episodes not known to be notified, though a message may have been accepted: their end is owed all the same. */
  readonly maybeNotified: ReadonlySet<string>;
  /** A group with something suppressed is decided again this often, ms: `group_interval`. */
  readonly recheckEveryMs: number;
  /** By episode: the alerts it inhibits. */
  readonly standsFor: ReadonlyMap<string, StandsFor>;
}
