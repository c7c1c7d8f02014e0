/** A clock that runs as the machine's and can jump ahead, so that hours pass in seconds. */
import { randomUUID } from "node:crypto";
import { Queue, QueueEvents } from "bullmq";
import { Redis } from "ioredis";
import type { Clock } from "../../src/lib/clock.ts";
import { keysUnder } from "../../src/store/keys.ts";
import type { Stage } from "./app.ts";

interface LeapingClock extends Clock {
  leap(ms: number): void;
}

/** The daemon sets its clock by Redis every minute; tests end before. */
export function leapingClock(): LeapingClock {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    leap(ms) {
      ahead += ms;
    },
  };
}

export interface Sweeps extends AsyncDisposable {
  /** Sweeps the only shard until the current state is evaluated and committed. */
  now(): Promise<void>;
}

/** Sweeps beside the scheduled ones, asked for as any replica would. */
export async function sweepsOf({ simulator, redis }: Pick<Stage, "simulator" | "redis">): Promise<Sweeps> {
  const prefix = keysUnder("lenswatch").queuePrefix;
  const connect = () => new Redis(redis.url, { maxRetriesPerRequest: null });
  const [connection, listening] = [connect(), connect()];
  const queue = new Queue("sweep", { prefix, connection });
  const events = new QueueEvents("sweep", { prefix, connection: listening });
  await events.waitUntilReady();
  const waiting = new Map<string, () => void>();
  const finish = ({ jobId }: { jobId: string }) => {
    waiting.get(jobId)?.();
    waiting.delete(jobId);
  };
  events.on("completed", finish);
  events.on("failed", finish);
  let asked = 0;
  const count = ({ endpoint }: { endpoint: string }) => {
    if (endpoint === "status/uptime") asked++;
  };
  simulator.events.on("request", count);
  return {
    async now() {
      const before = asked;
      const [scheduler] = await queue.getJobSchedulers(0, -1);
      const shard = Number(scheduler?.key.replace("shard-", ""));
      // One shard is swept by one at a time: the second question comes after the first answer is remembered.
      while (asked < before + 2) {
        const jobId = randomUUID();
        const over = new Promise<void>((resolve) => waiting.set(jobId, resolve));
        await queue.add("sweep", { shard }, { jobId });
        await over;
      }
    },
    async [Symbol.asyncDispose]() {
      simulator.events.off("request", count);
      await events.close();
      await queue.close();
      connection.disconnect();
      listening.disconnect();
    },
  };
}
