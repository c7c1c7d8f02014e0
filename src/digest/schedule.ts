/** The times at which each digest is due: missed runs are made up for by the latest; failed ones are retried for about a day. */
import type { Handler, Queues } from "../cluster/queues.ts";
import type { DigestConfig } from "../config/config.ts";
import { backoffMs } from "../lib/backoff.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/store.ts";
import { nextRun } from "./period.ts";

type ScheduledDigest = Pick<DigestConfig, "name" | "cron" | "timezone">;

interface ScheduleDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: Pick<Queues, "add">;
  readonly store: Pick<Store["digests"], "schedule" | "reschedule" | "unschedule">;
  readonly digests: readonly ScheduledDigest[];
}

const MOST_MISSED = 1_000;

/** Gives a function that enqueues the digests that are due; several replicas may call it at once. */
export function createDigestSchedule(deps: ScheduleDeps): () => Promise<void> {
  const unusable = new Set<string>();

  async function enqueueDue(digest: ScheduledDigest, dueAt: Instant | undefined) {
    const { name, cron, timezone } = digest;
    const now = deps.clock.now();
    if (dueAt !== undefined && dueAt > now) return;
    if (dueAt !== undefined) {
      const at = latestRun(digest, dueAt, now);
      const id = `${Buffer.from(name).toString("base64url")}-${at}`;
      await deps.queues.add("digest", { digest: name, at }, { id });
    }
    await deps.store.reschedule(name, { spec: specOf(digest), dueAt: nextRun(cron, timezone, now) });
  }

  return async () => {
    const known = await deps.store.schedule();
    for (const digest of deps.digests) {
      const entry = known.get(digest.name);
      try {
        await enqueueDue(digest, entry?.spec === specOf(digest) ? entry.dueAt : undefined);
      } catch (thrown) {
        if (!unusable.has(digest.name))
          deps.log.warn({ err: toError(thrown), digest: digest.name }, "scheduling a digest failed");
        unusable.add(digest.name);
      }
    }
    const names = new Set(deps.digests.map(({ name }) => name));
    for (const name of known.keys()) if (!names.has(name)) await deps.store.unschedule(name);
  };
}

function specOf({ cron, timezone }: ScheduledDigest): string {
  return `${cron} ${timezone}`;
}

function latestRun({ cron, timezone }: ScheduledDigest, dueAt: Instant, now: Instant): Instant {
  let at = dueAt;
  for (let missed = 0; missed < MOST_MISSED; missed++) {
    const next = nextRun(cron, timezone, at);
    if (next > now) break;
    at = next;
  }
  return at;
}

/** After about a day of failing a digest is out of date. */
const RETRY = { baseMs: 10_000, capMs: 900_000 };
const MOST_RETRIES = 100;

interface WorkDeps extends Pick<ScheduleDeps, "clock" | "log" | "queues"> {
  send(name: string, at: Instant): Promise<boolean>;
}

/** The worker of the queue `digest`. `send` gives true when nothing is left to send. */
export function createDigestWork({ clock, log, queues, send }: WorkDeps): Handler {
  return async ({ data }) => {
    const at = typeof data.at === "number" ? data.at : clock.now();
    const failures = Number(data.failures ?? 0);
    const sent = await send(String(data.digest), at).catch((thrown: unknown) => {
      log.error({ err: toError(thrown), digest: data.digest }, "making a digest failed, retrying");
      return false;
    });
    if (sent || failures >= MOST_RETRIES) return;
    const again = { digest: data.digest, at, failures: failures + 1 };
    await queues.add("digest", again, { delayMs: backoffMs(RETRY, failures + 1) });
  };
}
