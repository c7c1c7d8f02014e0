/**
 * Causes of suppression that ended. The write that ends one notes it; the groups that it suppressed something in become
 * due after that, so that a group whose settlement found the cause in force is among them.
 */
import type { Redis } from "ioredis";
import { released } from "../alerting/group.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { GroupWork } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import type { Transact, Write } from "./transact.ts";

export type Wakes = ReadonlyMap<string, Instant>;

/** Causes that ended in one transaction. */
interface Ended {
  readonly causes: readonly string[];
  /** They are alerts, whose groups wait for their `group_interval`. */
  readonly isPaced: boolean;
}

/** The most groups of one transaction. */
const PAGE = 200;

/** The earliest of both for each integration. */
export function earliestWakes(...all: readonly Wakes[]): Map<string, Instant> {
  const wakes = new Map<string, Instant>();
  for (const [integration, at] of all.flatMap((one) => [...one]))
    wakes.set(integration, Math.min(at, wakes.get(integration) ?? at));
  return wakes;
}

/** The write that notes the end of causes under the id of its transaction. */
export function releasing(keys: Keys, id: string, ended: Ended): Write[] {
  return ended.causes.length === 0 ? [] : [["HSET", keys.released, id, JSON.stringify(ended)]];
}

export type Releases = ReturnType<typeof createReleases>;

export function createReleases(redis: Redis, keys: Keys, { transact }: Transact) {
  /** Makes due what the cause suppressed. */
  async function releaseGroups(cause: string, now: Instant, isPaced: boolean): Promise<Wakes> {
    const wakes: Wakes[] = [];
    for (const page of chunksOf(await redis.smembers(keys.suppressed(cause)), PAGE)) {
      for (let isDone = false; !isDone; ) {
        const work = new GroupWork(redis, keys);
        await work.load(page);
        for (const destination of page) {
          const head = work.head(destination);
          if (!head) continue;
          const next = released(head, now, isPaced);
          work.put(destination, next);
          work.due(destination, next.releasedAt ?? now);
        }
        work.writes.push(["SREM", keys.suppressed(cause), ...page]);
        isDone = (await transact(work.transaction())).kind !== "conflict";
        if (isDone) wakes.push(work.wakes);
      }
    }
    return earliestWakes(...wakes);
  }

  /** Makes due what the causes suppressed whose end is noted under this id. */
  async function release(id: string, { causes, isPaced }: Ended, now: Instant): Promise<Wakes> {
    const wakes: Wakes[] = [];
    for (const page of chunksOf(causes, PAGE)) {
      // Most suppressed nothing.
      const hasAny = (await redis.exists(...page.map(keys.suppressed))) > 0;
      for (const cause of hasAny ? page : []) wakes.push(await releaseGroups(cause, now, isPaced));
    }
    if (causes.length > 0) await redis.hdel(keys.released, id);
    return earliestWakes(...wakes);
  }

  return {
    release,

    /** The same of all that is noted: of processes that died. */
    async reconcile(now: Instant): Promise<Wakes> {
      const noted = Object.entries(await redis.hgetall(keys.released));
      return earliestWakes(...(await Promise.all(noted.map(([id, text]) => release(id, JSON.parse(text), now)))));
    },

    /** Makes due what waited for this shard to be read. */
    read: async (subject: string | undefined, now: Instant): Promise<Wakes> =>
      subject !== undefined && (await redis.exists(keys.suppressed(subject))) > 0
        ? releaseGroups(subject, now, false)
        : new Map(),
  };
}
