/** The work of one setup: its jobs are started for the roles of this replica, reconciled every second, and drained. */

import type { Role } from "../cluster/active-config.ts";
import { createSuppressionChanges } from "../deliver/suppression-changes.ts";
import { createReports } from "../digest/report.ts";
import type { Uncounted } from "../poll/uncounted.ts";
import { createUptimeReader, type UptimeReader } from "../poll/uptime-reader.ts";
import { readEvidence } from "../store/read-fleet.ts";
import type { Check } from "../store/transact.ts";
import { type Configured, contextOf, type JobContext } from "./job-context.ts";
import { createNotifyJobs, type NotifyJobs } from "./notify-jobs.ts";
import { PollJobs } from "./poll-jobs.ts";
import { createReconcile, startReconciling } from "./reconcile.ts";
import type { Runtime } from "./runtime.ts";

export class Engine {
  readonly poll: PollJobs;
  readonly notify: NotifyJobs;
  readonly uptimes: UptimeReader;
  readonly report: ReturnType<typeof createReports>;
  /** Silences and acknowledgements, as people change them. */
  readonly changes: ReturnType<typeof createSuppressionChanges>;
  readonly overview: JobContext["overview"];
  readonly fleet: JobContext["fleet"];
  readonly evidence: () => ReturnType<typeof readEvidence>;
  readonly uncounted: Uncounted;
  readonly #context: JobContext;
  #stopReconciling = async () => {};
  readonly #checks = new Map<Role, Check>();
  #isDraining = false;
  #isPrepared = false;

  /** Nothing runs before `start`. */
  constructor(parts: Runtime & Configured) {
    const context = contextOf(parts, {
      isDraining: () => this.#isDraining,
      checkActive: (role) => this.#checks.get(role),
    });
    this.#context = context;
    this.poll = new PollJobs(context);
    this.notify = createNotifyJobs(context);
    this.uptimes = createUptimeReader(context);
    this.report = createReports(context);
    this.changes = createSuppressionChanges(context);
    this.overview = context.overview;
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
  async start({ roles, retiring }: { roles: ReadonlySet<Role>; retiring: ReadonlySet<string> }): Promise<void> {
    await this.prepare();
    for (const role of roles) this.#checks.set(role, this.#context.replicas.checkActive(role));
    if (roles.size > 0) await this.notify.coldStart.begin();
    if (roles.has("poll")) await this.poll.start(retiring);
    if (roles.has("notify")) await this.notify.start();
    if (this.#isDraining) return;
    const { poll, notify } = this;
    this.#stopReconciling = startReconciling(
      createReconcile(this.#context, { poll, notify, roles }),
      this.#context.log,
    );
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
}
