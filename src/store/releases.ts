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
import { newId, parseRead, type Transact, type Write, writing } from "./transact.ts";

export type Wakes = ReadonlyMap<string, Instant>;

/** The most groups of one transaction. */
const PAGE = 200;

/** The earliest of both for each integration. */
export function earliestWakes(...all: readonly Wakes[]): Map<string, Instant> {
  const wakes = new Map<string, Instant>();
  for (const [integration, at] of all.flatMap((one) => [...one]))
    wakes.set(integration, Math.min(at, wakes.get(integration) ?? at));
  return wakes;
}

/** Notes the end of causes; `isPaced`: of alerts, whose groups wait for their `group_interval`. */
export function releasing(keys: Keys, id: string, causes: readonly string[], isPaced: boolean): Write[] {
  return causes.map((cause) => writing(id, [keys.released, cause], isPaced ? "paced" : ""));
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
        isDone = (await transact(work.transaction(newId()))).kind !== "conflict";
        if (isDone) wakes.push(work.wakes);
      }
    }
    return earliestWakes(...wakes);
  }

  return {
    /** Makes due what ended causes suppressed: these, or all that are noted. Gives when, by integration. */
    async reconcile(now: Instant, causes?: readonly string[]): Promise<Wakes> {
      const noted = causes ?? (await redis.hkeys(keys.released));
      const wakes: Wakes[] = [];
      for (const page of chunksOf(noted, PAGE)) {
        const texts = await redis.hmget(keys.released, ...page);
        const reads = page.map((cause, i) => parseRead([keys.released, cause], texts[i]));
        const ended = reads.filter(({ text }) => text !== undefined);
        // Most suppressed nothing.
        const hasAny = (await redis.exists(...page.map(keys.suppressed))) > 0;
        for (const [i, cause] of (hasAny ? page : []).entries()) {
          const { text } = reads[i] ?? {};
          if (text !== undefined) wakes.push(await releaseGroups(cause, now, text === "paced"));
        }
        // One that ended again meanwhile stays noted.
        const id = newId();
        if (ended.length > 0)
          await transact({ id, checks: ended, writes: ended.map(({ place }) => writing(id, place, undefined)) });
      }
      return earliestWakes(...wakes);
    },

    /** Makes due what waited for this shard to be read. */
    read: async (subject: string, now: Instant): Promise<Wakes> =>
      (await redis.exists(keys.suppressed(subject))) === 0 ? new Map() : releaseGroups(subject, now, false),
  };
}
