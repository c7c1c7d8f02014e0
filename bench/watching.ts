/** Progress of a daemon, from its attempts stored in Redis. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { createStore } from "../src/store/store.ts";
import { RECORDINGS_PER_LOCATION } from "./stage.ts";

const LOCATIONS_PER_SHARD = 50;
const PREFIX = "lenswatch";
const LOOK_MS = 250;
/** The first uptimes of 100,000 recordings are 2,000 requests, at 20 a second. */
const PATIENCE_MS = 600_000;

export interface Watching {
  readonly shards: number;
  /** Every shard had a good sweep after `since`. */
  sweptWhole(since: number): Promise<void>;
  /** The same, and what was found at a cold start is summed up. */
  swept(since: number): Promise<void>;
  /** The uptime figures of every shard were read after `since`. */
  figured(since: number): Promise<void>;
  /** Gives every shard's uptime job at once, as its interval does. */
  refreshUptime(): Promise<void>;
  close(): Promise<void>;
}

/** Looks at the daemon that watches so many recordings through this Redis; waits for nothing longer than `patienceMs`. */
export function watchDaemon(redisUrl: string, recordings: number, patienceMs = PATIENCE_MS): Watching {
  const redis = new Redis(redisUrl);
  const store = createStore(redis, PREFIX);
  const shards = Math.ceil(recordings / RECORDINGS_PER_LOCATION / LOCATIONS_PER_SHARD);
  const isDone = async (subject: string, since: number) => {
    const attempts = await store.shards.attempts();
    const good = [...attempts].filter(([name, { goodAt }]) => name.startsWith(subject) && goodAt > since);
    return good.length >= shards;
  };
  const waitFor = async (what: string, isThere: () => Promise<boolean>) => {
    const deadline = Date.now() + patienceMs;
    while (!(await isThere())) {
      if (Date.now() > deadline) throw new Error(`${what}: not within ${patienceMs / 1000} s`);
      await sleep(LOOK_MS);
    }
  };
  const until = (subject: string, since: number) => waitFor(`all of ${subject}`, () => isDone(subject, since));
  const isSummed = async () => (await redis.hget(store.keys.started, "state")) === "summed";
  return {
    shards,
    sweptWhole: (since) => until("shard:", since),
    async swept(since) {
      await until("shard:", since);
      // A flip before the summary of the cold start is part of it, without its own message.
      await waitFor("the summary of the start", isSummed);
    },
    figured: (since) => until("uptime:", since),
    async refreshUptime() {
      // A shard without an attempt is due at once.
      await redis.hdel(store.keys.attempts, ...Array.from({ length: shards }, (_, shard) => `uptime:${shard}`));
    },
    async close() {
      redis.disconnect();
    },
  };
}
