/**
 * The side of lenswatch that notifies, in virtual time over a real Redis: routing, the commit, deliveries, suppression.
 * For models that evaluate by themselves. What is due is woken at its time, however far off.
 */
import type { JobContext } from "../../src/app/engine.ts";
import { NotifyJobs } from "../../src/app/notify-jobs.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import type { Config } from "../../src/config/config.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { type Commit, createCommit } from "../../src/poll/commit.ts";
import { readFleet } from "../../src/store/read-fleet.ts";
import type { Store } from "../../src/store/store.ts";
import type { Connections } from "./connections.ts";
import { openModelRuntime } from "./runtime.ts";
import { createModelSenders, type Send } from "./senders.ts";
import { noService } from "./service.ts";
import { QueueMemory } from "./virtual-queues.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface NotifySide {
  /** `commit.evaluation(transitions, write)`; `write` calls `store.shards.commit` or `commitShard`. */
  readonly commit: Commit;
  readonly store: Store;
  readonly notify: NotifyJobs;
  /** Nothing was lost before: alerts are sent as they come, without the summary of a cold start. */
  close(): Promise<void>;
}

export async function openNotifySide(options: {
  readonly config: Config;
  readonly connections: Connections;
  readonly time: VirtualTime;
  /** Of every key. */
  readonly prefix: string;
  readonly send: Send;
}): Promise<NotifySide> {
  const { config, connections, time, prefix, send } = options;
  const memory = new QueueMemory(time);
  const runtime = await openModelRuntime({ connections, queues: memory, prefix, ignored: ["digest"] });
  const { store, redis, queues, log } = runtime;
  await redis.hset(store.keys.started, { state: "summed", since: 0 });
  const senders = createModelSenders(config, send);
  const { list: integrations } = senders;
  const wake = async (due: ReadonlyMap<string, Instant>) => {
    for (const [integration, at] of due)
      memory.addAt("deliver", at, { id: `${integration} ${at}`, data: { integration } });
  };
  const { rules, route, watch } = config;
  const assigned = createAssigned();
  const commit = createCommit({ log, route, integrations, wake });
  const context: JobContext = {
    ...store,
    ...runtime,
    config,
    senders,
    service: noService,
    heartbeat: undefined,
    integrations,
    assigned,
    wake,
    commit,
    rules,
    watch,
    statusIntervalMs: watch.statusIntervalMs,
    fleet: () => readFleet({ watch, store, clock: runtime.clock, shardNumbers: assigned.shards() }),
    mayCommit: async () => true,
  };
  const notify = new NotifyJobs(context);
  await notify.start();
  return {
    commit,
    store,
    notify,
    async close() {
      notify.stop();
      await queues.close();
      connections.drop(redis);
    },
  };
}
