/** Re-asserts once a second which shards this replica sweeps, and that due groups are claimed and digests made. */
import type { Role } from "../cluster/active-config.ts";
import type { Attempts } from "../cluster/own-ticks.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import { createWakeOverdue } from "../deliver/wake.ts";
import { createDigestSchedule } from "../digest/schedule.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { keptFor } from "../lib/kept.ts";
import type { Logger } from "../lib/log.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import type { JobContext } from "./job-context.ts";
import type { NotifyJobs } from "./notify-jobs.ts";
import type { PollJobs } from "./poll-jobs.ts";

const RECONCILE_MS = 1_000;
/** Jobs in queues are counted this often. */
const COUNT_MS = 30_000;

type Step = () => unknown;

/** Gives one round of all steps of these roles. */
export function createReconcile(
  context: JobContext,
  { poll, notify, roles }: { readonly poll: PollJobs; readonly notify: NotifyJobs; readonly roles: ReadonlySet<Role> },
): () => Promise<void> {
  const { clock, log, shards, queues, metrics, inventory, releases, digests, config, attempted, wake } = context;
  const followAssignments = createFollowAssignments(context.assigned);
  const enqueueDueDigests = createDigestSchedule({ ...context, store: digests, digests: config.digests });
  const count = keptFor(COUNT_MS, () => queues.count(metrics));
  const [polls, notifies] = [roles.has("poll"), roles.has("notify")];
  const ofPoll = (attempts: Attempts): Step[] => [
    () => poll.follow(attempts),
    ...(notifies ? [] : [notify.coldStart.begin]),
    poll.evaluateExternal,
  ];
  const ofNotify: Step[] = [
    notify.coldStart.check,
    async () => wake(await releases.reconcile(clock.now())),
    createWakeOverdue({ ...context, ...notify }),
    enqueueDueDigests,
    () => notify.heartbeat?.check(),
  ];
  return async () => {
    await context.followClock(clock.now());
    const attempts = await shards.attempts();
    const sweptAt = newestSweep(attempts);
    if (sweptAt > 0) attempted(sweptAt);
    const steps = [
      ...(polls ? ofPoll(attempts) : []),
      ...(notifies ? ofNotify : []),
      () => followAssignments(attempts),
      () => inventory.follow(),
      () => count(clock.now()),
    ];
    await runSteps(steps, log);
  };
}

/** Runs all steps; one that fails is tried again in the next round. */
export async function runSteps(steps: readonly Step[], log: Logger): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (thrown) {
      log.debug({ err: toError(thrown) }, "reconciling step failed, retrying");
    }
  }
}

/** Gives what follows the assignments that other replicas wrote with an inventory, or where their number differs. */
export function createFollowAssignments(assigned: Pick<Assigned, "isComplete" | "follow">) {
  let readFor: Instant | undefined;
  return async (attempts: Attempts): Promise<void> => {
    const attemptedAt = attempts.get("inventory")?.attemptedAt;
    if (attemptedAt === readFor && (await assigned.isComplete())) return;
    await assigned.follow();
    readFor = attemptedAt;
  };
}

function newestSweep(attempts: Attempts): Instant {
  return attempts.entries().reduce((newest, [subject, { attemptedAt }]) => {
    return subject.startsWith("shard:") ? Math.max(newest, attemptedAt) : newest;
  }, 0);
}

/** Runs `round` every second, one at a time, whatever fails in it, until the returned function is called. */
export function startReconciling(round: () => Promise<void>, log: Logger): () => Promise<void> {
  let latest: Promise<void> | undefined;
  const run = oneAtATime(() =>
    round().catch((thrown: unknown) => log.debug({ err: toError(thrown) }, "reconciling failed, retrying")),
  );
  const timer = setInterval(() => {
    latest = run();
  }, RECONCILE_MS);
  return async () => {
    clearInterval(timer);
    await latest;
  };
}
