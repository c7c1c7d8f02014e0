/** The causes that explain the alerts of a message, by the incidents of all that need somebody, as on the status page. */
import { neededOf } from "../alerting/attention.ts";
import { causesIn, FEWEST_EXPLAINED, type SharedCause } from "../alerting/incident-cause.ts";
import { entriesOf } from "../alerting/overview.ts";
import type { Alert } from "../health/alert.ts";
import type { FleetOverview } from "../health/shard-overview.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { coalesced } from "../lib/yield.ts";
import type { SuppressibleAlert } from "./suppression.ts";

/** A message is not delayed any longer. */
const DEADLINE_MS = 1_000;

interface CausesDeps {
  readonly log: Logger;
  overview(): Promise<FleetOverview>;
  /** Everything that fires, with what suppresses it. */
  suppressed(): Promise<readonly SuppressibleAlert[]>;
}

/** The widest first; none where nothing is known in time. Never throws. */
export type Causes = (firing: readonly Alert[]) => Promise<readonly SharedCause[]>;

export function createCauses({ log, overview, suppressed }: CausesDeps): Causes {
  const read = coalesced(async () => {
    const [fleet, active] = await Promise.all([overview(), suppressed()]);
    return entriesOf(neededOf(active), { fleet, alerts: active.map(({ alert }) => alert), ended: [] });
  });
  return async (firing) => {
    if (firing.length < FEWEST_EXPLAINED) return [];
    try {
      return causesIn(await withDeadline(read(), DEADLINE_MS), firing);
    } catch (thrown) {
      log.debug({ err: toError(thrown) }, "reading what alerts share failed, leaving it out of the message");
      return [];
    }
  };
}
