/** Logs of writes, by which a process that has all of something in memory reads no more than what others changed. */
import type { Redis } from "ioredis";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import type { Write } from "./transact.ts";

/** A process further behind than this many writes reads everything again. */
const LOGGED = 200;
const FEW = 16;

/** The writes that log a change under the id of its transaction. */
export function logging(key: string, id: string, change: unknown): Write[] {
  return [
    ["LPUSH", key, JSON.stringify(change), id],
    ["LTRIM", key, 0, 2 * LOGGED - 1],
  ];
}

/** `read` is given the changes since the last time; undefined: everything is to be read. */
export function createFollower<Change>(
  redis: Redis,
  key: string,
  read: (changes: readonly Change[] | undefined) => Promise<void>,
) {
  /** The id of the last write that was read; undefined before anything was. */
  let known: string | undefined;

  async function follow(): Promise<void> {
    // Before what is read: a write meanwhile is read again.
    const newest = (await redis.lindex(key, 0)) ?? "";
    if (newest === known) return;
    for (const most of known === undefined ? [] : [FEW, LOGGED]) {
      const log = await redis.lrange(key, 0, 2 * most - 1);
      const since = log.indexOf(known ?? "");
      if (since < 0) continue;
      await read(log.slice(0, since).flatMap((text, i) => (i % 2 === 1 ? [JSON.parse(text) as Change] : [])));
      known = log[0];
      return;
    }
    await read(undefined);
    known = newest;
  }

  return {
    follow: oneAtATime(follow),

    /** An own write after that one need not be read again. */
    wrote(id: string, after: string): void {
      if (known === after) known = id;
    },
  };
}
