/** Acknowledgements, each of one episode. */
import type { Redis } from "ioredis";
import type { StoredAcknowledgement } from "../alerting/acknowledgement.ts";
import type { LogLine } from "../alerting/decision-log.ts";
import { released } from "../alerting/group.ts";
import type { Instant } from "../lib/clock.ts";
import { logWrites } from "./decision-log.ts";
import { type Destined, GroupWork, isFiring } from "./group-work.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { newId, type Transact } from "./transact.ts";

/** A changed acknowledgement, with the line of the decision log about it. */
export interface AckChange {
  readonly after: StoredAcknowledgement;
  readonly line: LogLine;
  /** It ends earlier than the one stored would have. */
  readonly isEarlier: boolean;
}

export function createAckStore(redis: Redis, keys: Keys, { transact }: Transact) {
  /**
   * An alert that was never notified is late from now on where it ends earlier; its groups are looked at when its ETA
   * is over; roots show it in any case.
   */
  function release(
    work: GroupWork,
    destination: Destined,
    now: Instant,
    { isEarlier, after: { eta } }: AckChange,
  ): void {
    const head = work.head(destination);
    if (!head) return;
    work.touch(destination, now, head);
    const at = isEarlier ? now : eta;
    if (at === undefined) return;
    if (isEarlier) work.put(destination, released(head, now, false));
    work.due(destination, at);
  }

  return {
    /** By episode id, those that ran out too. It goes with its episode. */
    read: createJsonHash<StoredAcknowledgement>(redis, keys.acks).readAll,

    /**
     * Changes the acknowledgement of an episode that fires; `changeOf` gives undefined to leave the stored one as it is.
     * Gives when its groups are due, by integration; undefined where it does not fire.
     */
    async change(
      episode: string,
      now: Instant,
      changeOf: (stored: StoredAcknowledgement | undefined) => AckChange | undefined,
    ): Promise<ReadonlyMap<string, Instant> | undefined> {
      const id = newId();
      for (;;) {
        const [before = null, alert = null] = await Promise.all([
          redis.hget(keys.acks, episode),
          redis.hget(keys.alerts, episode),
        ]);
        const change = changeOf(before === null ? undefined : (JSON.parse(before) as StoredAcknowledgement));
        if (!change) return new Map();
        if (!isFiring(alert ?? undefined)) return undefined;
        const work = new GroupWork(redis, keys, id);
        const destinations = await redis.smembers(keys.in(episode));
        await work.load(destinations);
        for (const destination of destinations) release(work, destination, now, change);
        work.writes.push(["HSET", keys.acks, episode, JSON.stringify(change.after)], ...logWrites(keys, [change.line]));
        const checks = [
          { place: [keys.acks, episode] as const, version: before ?? "" },
          { place: [keys.alerts, episode] as const, version: alert ?? "" },
        ];
        if ((await transact(work.transaction(checks))).kind !== "conflict") return work.wakes;
      }
    },
  };
}
