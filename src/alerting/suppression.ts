/**
 * What holds a message back although something fires. Holds only ever delay a telling: what still fires when they end
 * is told then, and who was told that something fires is told its end.
 */
import type { Instant } from "../lib/clock.ts";
import type { StandsFor } from "./notification.ts";

/** In the order they are named where several hold the same thing. */
export const suppressionReasons = ["muted", "inhibited", "silenced", "acknowledged", "paused"] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

export interface Suppression {
  readonly reason: SuppressionReason;
  /**
   * The episode of the alert that inhibits, the silence's id, the time interval's name, who acknowledged, or the
   * episode itself that waits for its recording's schedule.
   */
  readonly by: string;
  /** When it ends by the clock; undefined where that is not known beforehand. */
  readonly until?: Instant | undefined;
}

/** What holds the alerts of one group, as it is now. */
export interface Suppressions {
  /** Of the group's route: holds everything, ends as well. */
  readonly muted: Suppression | undefined;
  /** By episode, whether it fires or is over. */
  readonly suppressed: ReadonlyMap<string, Suppression>;
  /** Episodes that were due, and held, when the group was last looked at. */
  readonly suppressedBefore: ReadonlySet<string>;
  /** Episodes not known to be told, of which a message may have got out: their end is owed all the same. */
  readonly maybeNotified: ReadonlySet<string>;
  /** A group with something held is looked at this often, ms: `group_interval`. */
  readonly recheckEveryMs: number;
  /** By episode: whose alerts an alert holds back. */
  readonly standsFor: ReadonlyMap<string, StandsFor>;
}
