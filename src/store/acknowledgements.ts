/** Acknowledgements, each of one episode. */
import type { Redis } from "ioredis";
import type { StoredAcknowledgement } from "../alerting/acknowledgement.ts";
import type { LogLine } from "../alerting/decision-log.ts";
import type { Instant } from "../lib/clock.ts";
import { logWrites } from "./decision-log.ts";
import { toWakes } from "./groups.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

/** A changed acknowledgement, with the line of the decision log about it. */
export interface AckChange {
  readonly after: StoredAcknowledgement;
  readonly line: LogLine;
  /** It ends earlier than the one stored would have. */
  readonly isEarlier: boolean;
}

export function createAckStore(redis: Redis, keys: Keys) {
  const script = loadScript(redis, keys, "acknowledge", "groups", "log");
  return {
    /** By episode id, those that ran out too. The end of the episode deletes it (`scripts/commit.lua`). */
    read: createJsonHash<StoredAcknowledgement>(redis, keys.acks).readAll,

    /**
     * Changes the acknowledgement of an episode that fires; `changeOf` gives undefined to leave the stored one as it is.
     * Gives when its groups are due, by integration; undefined where it does not fire.
     */
    async change(
      episode: string,
      now: Instant,
      changeOf: (stored: StoredAcknowledgement | undefined) => AckChange | undefined,
    ): Promise<Map<string, Instant> | undefined> {
      for (;;) {
        const before = (await redis.hget(keys.acks, episode)) ?? "";
        const change = changeOf(before === "" ? undefined : (JSON.parse(before) as StoredAcknowledgement));
        if (!change) return new Map();
        const { after, line, isEarlier } = change;
        const texts = { acknowledgement: JSON.stringify(after), before };
        const log = logWrites(keys, [line]);
        const reply = await script(keys.acks, { episode, now, isEarlier, ...texts, log });
        if (reply !== -1) return reply === 0 ? undefined : toWakes(reply);
      }
    },
  };
}
