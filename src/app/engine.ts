/** The work of one setup: its jobs are started for the roles of this replica, reconciled every second, and drained. */

import type { Role } from "../cluster/active-config.ts";
import { createReconcile, startReconciling } from "../cluster/reconcile.ts";
import { createSuppressionChanges } from "../deliver/suppression-changes.ts";
import { createReports } from "../digest/report.ts";
import { createDigestSchedule } from "../digest/schedule.ts";
import { keptFor } from "../lib/kept.ts";
import type { Uncounted } from "../poll/uncounted.ts";
import { createUptimeReader, type UptimeReader } from "../poll/uptime-reader.ts";
import { readEvidence } from "../store/read-evidence.ts";
import { type Configured, contextOf, type JobContext } from "./job-context.ts";
import { createNotifyJobs, type NotifyJobs } from "./notify-jobs.ts";
import { PollJobs } from "./poll-jobs.ts";
import type { Runtime } from "./runtime.ts";

/** Jobs in queues are counted this often. */
const COUNT_MS = 30_000;

export class Engine {
  readonly poll: PollJobs;
  readonly notify: NotifyJobs;
  readonly uptimes: UptimeReader;
  readonly report: ReturnType<typeof createReports>;
  /** Silences and acknowledgements, as people change them. */
  readonly changes: ReturnType<typeof createSuppressionChanges>;
  readonly fleet: JobContext["fleet"];
  readonly evidence: () => ReturnType<typeof readEvidence>;
  readonly uncounted: Uncounted;
  readonly #context: JobContext;
  #stopReconciling = async () => {};
  #roles: ReadonlySet<Role> = new Set();
  #isDraining = false;
  #isPrepared = false;

  /** Nothing runs before `start`. */
  constructor(parts: Runtime & Configured) {
    const context = contextOf(parts, () => this.#isDraining);
    this.#context = context;
    this.poll = new PollJobs(context);
    this.notify = createNotifyJobs(context);
    this.uptimes = createUptimeReader(context);
    this.report = createReports(context);
    this.changes = createSuppressionChanges(context);
    this.fleet = context.fleet;
    this.evidence = () => readEvidence({ ...context, store: context.shards });
    this.uncounted = context.uncounted;
  }

  /** Reads what is stored, once; only then is work asked of this replica. Waits for Redis. */
  async prepare(): Promise<void> {
    if (this.#isPrepared) return;
    const { queues, store, assigned } = this.#context;
    await queues.open();
    await store.inventory.follow();
    await this.poll.externalAlerts.begin((await store.shards.attempts()).get("fleet")?.attemptedAt);
    await assigned.follow();
    this.#isPrepared = true;
  }

  /** Starts the ticks and the workers of the roles. `retiring` integrations are about to send the ends they owe. */
  async start(options: { roles: ReadonlySet<Role>; retiring: ReadonlySet<string> }): Promise<void> {
    await this.prepare();
    this.#roles = options.roles;
    if (this.#roles.size > 0) await this.notify.coldStart.begin();
    if (this.#roles.has("poll")) await this.poll.start(options.retiring);
    if (this.#roles.has("notify")) await this.notify.start();
    if (!this.#isDraining) this.#stopReconciling = startReconciling(this.#reconcile(), this.#context.log);
  }

  /**
   * Takes no new work: a sweep under way is discarded, a message under way is sent and settled. Resolves when all of
   * it has ended; `start` again is not possible.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.notify.drain();
    await Promise.all([this.poll.stop(), this.#stopReconciling(), this.#context.queues.drain()]);
  }

  /** Drains, and gives up what Redis does not take. */
  stop(): void {
    void this.#stopReconciling();
    this.notify.stop();
    void this.poll.stop();
  }

  #reconcile(): () => Promise<void> {
    const { queues, inventory, shards, digests, releases, config, metrics, attempted, integrations, clock } =
      this.#context;
    const reconcile = createReconcile({
      ...this.#context,
      store: shards,
      integrations: integrations.map(({ id }) => id),
      followTicks: (attempts) => this.poll.follow(attempts),
      roles: () => this.#roles,
      sweptAnywhere: attempted,
      release: (now) => releases.reconcile(now),
      enqueueDueDigests: createDigestSchedule({ ...this.#context, store: digests, digests: config.digests }),
      checkColdStart: () => (this.#roles.has("notify") ? this.notify.coldStart.check() : this.notify.coldStart.begin()),
      evaluateExternalAlerts: () => this.poll.evaluateExternal(),
    });
    const count = keptFor(COUNT_MS, () => queues.count(metrics));
    return async () => {
      await reconcile();
      if (this.#roles.has("notify")) await this.notify.heartbeat?.check();
      await inventory.follow();
      await count(clock.now());
      await this.poll.rerouting.repeatWhenDue();
    };
  }
}
