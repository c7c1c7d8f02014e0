/** The state of a cold start, and the summary that is sent after one. */
import type { Redis } from "ioredis";
import { coldStartGroup, coldStartLabels, type StoredStart } from "../alerting/cold-start.ts";
import { settingsOf } from "../alerting/group.ts";
import type { Instant } from "../lib/clock.ts";
import { destinationsIn, destined, GroupWork, partsOf } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { type Check, newId, type Transact } from "./transact.ts";

const ALERTS_PER_CALL = 200;

interface Summing {
  readonly now: Instant;
  readonly integrations: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** The last page makes it due. */
  readonly isLast: boolean;
  readonly only: Check | undefined;
}

const AT_ONCE = { groupWaitMs: 0, groupIntervalMs: 0, repeatIntervalMs: 0 };

export function createColdStartStore(redis: Redis, keys: Keys, { transact }: Transact) {
  /** False where the summary was made already, or `only` does not hold. The same page twice changes nothing more. */
  async function addToSummary(
    page: readonly string[],
    { now, integrations, labels, isLast, only }: Summing,
  ): Promise<boolean> {
    for (;;) {
      if ((await redis.hget(keys.started, "state")) !== "gathering") return false;
      const starts = new Map(integrations.map((id) => [id, destined(id, coldStartGroup)]));
      const work = new GroupWork(redis, keys);
      const places = await destinationsIn(redis, keys, page);
      await work.load([...starts.values(), ...[...places.values()].flat()]);
      for (const [id, start] of starts) {
        work.configure(start, settingsOf({ ...AT_ONCE, labels }));
        if (isLast) work.due(start, now);
        work.writes.push(["SADD", keys.integrations, id]);
      }
      for (const [episode, all] of places)
        for (const place of all) {
          const start = starts.get(partsOf(place).integration);
          const isDirect = work.head(place)?.escalateAfterMs === undefined;
          if (start !== undefined && place !== start && isDirect) work.join(start, episode, 0);
        }
      if (isLast) work.writes.push(["HSET", keys.started, "state", "summed"]);
      const checks = [{ place: [keys.started, "state"] as const, version: "gathering" }, ...(only ? [only] : [])];
      const outcome = await transact(work.transaction(newId(), checks));
      if (outcome.kind !== "conflict") return true;
      if (outcome.place === only?.place) return false;
    }
  }

  return {
    /**
     * Begins to gather where the store is empty, and gives when that was. Until the summary is made (`gathering`),
     * nothing is claimed (`due.ts`).
     */
    async begin(now: Instant): Promise<{ gathering: boolean; since: Instant }> {
      const [, , [state, since]] = await Promise.all([
        redis.hsetnx(keys.started, "since", now),
        redis.hsetnx(keys.started, "state", "gathering"),
        redis.hmget(keys.started, "state", "since"),
      ]);
      // Redis may have been emptied between two of these.
      return { gathering: state === "gathering", since: Number(since ?? now) };
    },

    /**
     * Makes the summary of these alerts due now: each integration gets its own, of those routed to it. False where it
     * was made already, or `only` does not hold.
     */
    async sum(
      integrations: readonly string[],
      alerts: readonly string[],
      facts: StoredStart,
      now: Instant,
      only?: Check,
    ): Promise<boolean> {
      const labels = coldStartLabels(facts);
      for (let from = 0; ; from += ALERTS_PER_CALL) {
        const page = alerts.slice(from, from + ALERTS_PER_CALL);
        const isLast = from + ALERTS_PER_CALL >= alerts.length;
        const isMade = await addToSummary(page, { now, integrations, labels, isLast, only });
        if (isLast || !isMade) return isMade;
      }
    },
  };
}
