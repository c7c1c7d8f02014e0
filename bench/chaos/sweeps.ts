/** Which answers of the service were evaluated, from the times that the daemon commits to Redis. */
import type { Redis } from "ioredis";
import { z } from "zod";
import type { Instant } from "../../src/lib/clock.ts";
import { keysUnder } from "../../src/store/keys.ts";

/** More often than anything is swept. */
const POLL_MS = 200;

const Attempt = z.string().transform((text) => z.object({ goodAt: z.number() }).parse(JSON.parse(text)));

export interface Sweeps {
  /** By location: when an answer about it was evaluated and committed, oldest first. */
  byLocation(): ReadonlyMap<string, readonly Instant[]>;
  close(): void;
}

/** Polls Redis from now on, also after failures. `open` connects to the current master. */
export function watchSweeps(open: () => Redis): Sweeps {
  const keys = keysUnder("lenswatch");
  const judged = new Map<string, Instant[]>();
  const shardOf = new Map<string, string>();
  let redis = connect();
  let polling = false;

  function connect(): Redis {
    const connection = open();
    connection.on("error", () => {});
    return connection;
  }

  async function poll(): Promise<void> {
    const [attempts, assigned] = await Promise.all([redis.hgetall(keys.attempts), redis.hgetall(keys.assignments)]);
    for (const [location, shard] of Object.entries(assigned)) shardOf.set(location, shard);
    for (const [subject, text] of Object.entries(attempts)) {
      if (!subject.startsWith("shard:")) continue;
      const { goodAt } = Attempt.parse(text);
      const known = judged.get(subject) ?? [];
      if (goodAt > (known.at(-1) ?? 0)) known.push(goodAt);
      judged.set(subject, known);
    }
  }

  const timer = setInterval(() => {
    if (polling) return;
    polling = true;
    poll()
      .catch(() => {
        redis.disconnect();
        redis = connect();
      })
      .finally(() => {
        polling = false;
      });
  }, POLL_MS);

  return {
    byLocation: () => new Map([...shardOf].map(([location, shard]) => [location, judged.get(`shard:${shard}`) ?? []])),
    close() {
      clearInterval(timer);
      redis.disconnect();
    },
  };
}
