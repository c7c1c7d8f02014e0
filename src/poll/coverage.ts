/** Stores that lenswatch watches: a digest must tell a week without outages from a week without sweeps. */
import { longestGapMs } from "../health/rhythm.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/store.ts";

const EVERY_MS = 60_000;

/** Gives `note(at)`, to be called after each good sweep; it waits for nothing and never fails. */
export function createCoverage(deps: {
  readonly log: Logger;
  readonly store: Pick<Store["coverage"], "note">;
  readonly statusIntervalMs: number;
}): (at: Instant) => void {
  // Sweeps this far apart still count as one span: a restart, a slow service.
  const gapMs = EVERY_MS + longestGapMs(deps.statusIntervalMs);
  let notedAt: Instant | undefined;
  return (at) => {
    if (notedAt !== undefined && at - notedAt < EVERY_MS) return;
    notedAt = at;
    deps.store.note(at, gapMs).catch((thrown: unknown) => {
      notedAt = undefined;
      deps.log.debug({ err: toError(thrown) }, "coverage not stored");
    });
  };
}
