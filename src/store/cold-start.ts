/** The states of the store and of each integration, which both begin with a summary. */
import type { Redis } from "ioredis";
import { coldStartGroup, coldStartLabels, type StoredStart } from "../alerting/cold-start.ts";
import { settingsOf } from "../alerting/group.ts";
import type { Instant } from "../lib/clock.ts";
import { destinationsIn, destined, GroupWork, partsOf } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import type { Check, Transact } from "./transact.ts";

const ALERTS_PER_CALL = 200;

interface Summing {
  readonly now: Instant;
  readonly integrations: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** The state of the store that it is for: Redis may be emptied meanwhile. */
  readonly state: "gathering" | "summed";
  /** The last page makes it due. */
  readonly isLast: boolean;
  readonly only: Check | undefined;
}

/** Where alerts are gathered for a summary, and since when the store is not empty. */
interface Gathering {
  readonly gathering: "all" | "added" | undefined;
  readonly since: Instant;
}

const AT_ONCE = { groupWaitMs: 0, groupIntervalMs: 0, repeatIntervalMs: 0 };

export function createColdStartStore(redis: Redis, keys: Keys, { transact }: Transact) {
  /** False where the summary was made already, or `only` does not hold. The same page twice changes nothing more. */
  async function addToSummary(
    page: readonly string[],
    { now, integrations, labels, state, isLast, only }: Summing,
  ): Promise<boolean> {
    for (;;) {
      const fields = ["state", ...integrations];
      const known = await redis.hmget(keys.started, ...fields);
      const left = fields.filter((_, i) => known[i] !== "summed");
      if (known[0] !== state || left.length === 0) return false;
      const starts = new Map(left.filter((id) => id !== "state").map((id) => [id, destined(id, coldStartGroup)]));
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
      if (isLast) for (const field of left) work.writes.push(["HSET", keys.started, field, "summed"]);
      const states = fields.map((field, i) => ({ place: [keys.started, field] as const, version: known[i] ?? "" }));
      const outcome = await transact(work.transaction([...states, ...(only ? [only] : [])]));
      if (outcome.kind !== "conflict") return true;
      if (outcome.place === only?.place) return false;
    }
  }

  return {
    /**
     * Begins to gather where the store is empty, `all`, or where it does not know these integrations, `added`; gives
     * when it was empty. Until the summary is made, nothing is claimed there (`due.ts`).
     */
    async begin(now: Instant, integrations: readonly string[] = []): Promise<Gathering> {
      const fields = ["since", "state", ...integrations];
      const read = () => redis.hmget(keys.started, ...fields);
      const known = await read();
      const absent = fields.filter((_, i) => known[i] === null);
      const set = absent.map((field) => redis.hsetnx(keys.started, field, field === "since" ? now : "gathering"));
      await Promise.all(set);
      // Redis may have been emptied between two of these.
      const [since, state, ...own] = absent.length > 0 ? await read() : known;
      const gathering = state === "gathering" ? "all" : own.includes("gathering") ? "added" : undefined;
      return { gathering, since: Number(since ?? now) };
    },

    /**
     * Makes the summary of these alerts due now: each integration that had none gets its own, of those routed to it.
     * False where all were made already, or `only` does not hold.
     */
    async sum(
      integrations: readonly string[],
      alerts: readonly string[],
      facts: StoredStart,
      now: Instant,
      only?: Check,
    ): Promise<boolean> {
      const labels = coldStartLabels(facts);
      const state = facts.added ? "summed" : "gathering";
      for (let from = 0; ; from += ALERTS_PER_CALL) {
        const page = alerts.slice(from, from + ALERTS_PER_CALL);
        const isLast = from + ALERTS_PER_CALL >= alerts.length;
        const isMade = await addToSummary(page, { now, integrations, labels, state, isLast, only });
        if (isLast || !isMade) return isMade;
      }
    },
  };
}
