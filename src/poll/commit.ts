/** The one way an evaluation takes effect: one atomic write of what changed, then its log lines and the wake-ups. */

import { type Destination, destinationsOf, type Integration, type Route } from "../alerting/route.ts";
import type { Alert } from "../health/alert.ts";
import type { Transition } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { AlertChange, CommitResult } from "../store/shards.ts";

export interface CommitDeps {
  readonly log: Logger;
  readonly route: Route;
  readonly integrations: readonly Integration[];
  /** Wakes the deliverers of integrations with a due group, at the time given for each. */
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

/** Sweeps, self alerts and external alerts store their evaluations with it; rerouting uses the other two. */
export interface Commit extends Pick<CommitDeps, "wake"> {
  /** The groups a firing alert belongs to; none for a resolved one, whose end goes wherever its beginning went. */
  destinations(alert: Alert): Destination[];
  /** Stores the transitions by `write`, the atomic write. One that lost its race logs and wakes nothing. */
  evaluation(
    transitions: readonly Transition[],
    write: (changes: readonly AlertChange[]) => Promise<CommitResult>,
  ): Promise<CommitResult>;
}

export function createCommit({ log, route, integrations, wake }: CommitDeps): Commit {
  const destinations = (alert: Alert) => (alert.state === "firing" ? destinationsOf(alert, route, integrations) : []);
  return {
    wake,
    destinations,
    async evaluation(transitions, write) {
      const committed = await write(
        transitions.map(({ kind, alert }) => ({ kind, alert, to: kind === "firing" ? destinations(alert) : [] })),
      );
      if (committed.outcome === "lost") return committed;
      for (const { kind, alert } of transitions) {
        if (kind !== "updated") log.info({ alert: alert.key, reason: alert.endReason }, `alert ${kind}`);
      }
      if (committed.wake.size > 0) await wake(committed.wake);
      return committed;
    },
  };
}
