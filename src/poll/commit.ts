/** The context that jobs of the role `poll` share, and the one way an evaluation takes effect. */
import { type Maintenance, plannedBy } from "../alerting/maintenance.ts";
import { destinationsOf, type Integration, type Route } from "../alerting/route.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Alert } from "../health/alert.ts";
import type { DirectoryLookup } from "../health/directory.ts";
import type { Transition } from "../health/evaluation.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { AlertChange, CommitResult } from "../store/commit.ts";

/** Each job takes the parts it needs. */
export interface PollContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly assigned: Assigned;
  readonly integrations: readonly Integration[];
  readonly commit: Commit;
  readonly statusIntervalMs: number;
}

type Commit = ReturnType<typeof createCommit>;

/** Sweeps, self alerts and external alerts store their evaluations with it; rerouting uses the other two. */
export function createCommit(deps: {
  readonly log: Logger;
  readonly route: Route;
  readonly integrations: readonly Integration[];
  readonly maintenance?: readonly Maintenance[];
  readonly inventory?: DirectoryLookup;
  /** Wakes the deliverers of integrations with a due group, at the time given for each. */
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}) {
  const { log, route, integrations, maintenance = [], inventory, wake } = deps;
  /** The groups a firing alert belongs to; none for a resolved one, whose end goes wherever its beginning went. */
  const destinations = (alert: Alert) =>
    alert.state === "firing" ? destinationsOf(alert, route, integrations, inventory) : [];
  return {
    wake,
    destinations,
    /** Stores the transitions by `write`, one atomic write. One that lost its race logs and wakes nothing. */
    async evaluation(
      transitions: readonly Transition[],
      write: (changes: readonly AlertChange[]) => Promise<CommitResult>,
    ): Promise<CommitResult> {
      const committed = await write(
        transitions.map(({ kind, alert }) => {
          if (kind === "resolved") return { kind, alert, to: [], planned: plannedBy(maintenance, alert) };
          return { kind, alert, to: kind === "firing" ? destinations(alert) : [] };
        }),
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
