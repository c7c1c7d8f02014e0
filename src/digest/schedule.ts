/**
 * When each digest is due, kept in Redis: a run missed while nobody was there is made up for, once. After a longer
 * absence only the latest run is; who has it already is written down per recipient.
 */

import type { Queues } from "../cluster/queues.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { DigestStore } from "../store/digests.ts";
import { nextRun } from "./period.ts";

export interface DigestScheduleDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: Pick<Queues, "add">;
  readonly store: Pick<DigestStore, "schedule" | "reschedule" | "unschedule">;
  readonly digests: readonly { readonly name: string; readonly cron: string; readonly timezone: string }[];
}

/** More runs than this were not missed by anybody who reads them. */
const MISSED_MOST = 1_000;

/** Gives `look()`: enqueues what is due. Harmless when several replicas do it at once. */
export function createDigestSchedule(deps: DigestScheduleDeps): () => Promise<void> {
  const unusable = new Set<string>();

  async function look(digest: DigestScheduleDeps["digests"][number], dueAt: Instant | undefined) {
    const { name, cron, timezone } = digest;
    const now = deps.clock.now();
    if (dueAt !== undefined && dueAt > now) return;
    const spec = specOf(digest);
    if (dueAt !== undefined) {
      const at = latestRun(digest, dueAt, now);
      const id = `${Buffer.from(name).toString("base64url")}-${at}`;
      await deps.queues.add("digest", { digest: name, at }, { id });
    }
    await deps.store.reschedule(name, { spec, dueAt: nextRun(cron, timezone, now) });
  }

  return async () => {
    const known = await deps.store.schedule();
    for (const digest of deps.digests) {
      const entry = known.get(digest.name);
      try {
        await look(digest, entry?.spec === specOf(digest) ? entry.dueAt : undefined);
      } catch (thrown) {
        if (!unusable.has(digest.name))
          deps.log.warn({ err: toError(thrown), digest: digest.name }, "a digest cannot be scheduled");
        unusable.add(digest.name);
      }
    }
    const names = new Set(deps.digests.map(({ name }) => name));
    for (const name of known.keys()) if (!names.has(name)) await deps.store.unschedule(name);
  };
}

function specOf({ cron, timezone }: DigestScheduleDeps["digests"][number]): string {
  return `${cron} ${timezone}`;
}

/** The last run of a cron expression at or before `now`, from the one that is due on. */
function latestRun(
  { cron, timezone }: DigestScheduleDeps["digests"][number],
  dueAt: Instant,
  now: Instant,
): Instant {
  let at = dueAt;
  for (let missed = 0; missed < MISSED_MOST; missed++) {
    const next = nextRun(cron, timezone, at);
    if (next > now) break;
    at = next;
  }
  return at;
}
