/**
 * A decision too large for one call, which would stop Redis meanwhile: its calls are written down, put in force in one
 * step, then made one by one. The calls that a crash leaves are made by the next claim, before anything else.
 */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import type { Script } from "./redis.ts";

export type Call = { readonly script: "settle" | "postpone"; readonly args: object };

const UNUSED_MS = 600_000;
/** Read and sent without waiting for the replies of those before. */
const AT_ONCE = 10;

export function createJournal(redis: Redis, keys: Keys, scripts: Readonly<Record<Call["script"], Script>>) {
  /** Makes what is left of the calls in force. */
  async function finish(integration: string): Promise<void> {
    for (;;) {
      const texts = await redis.lrange(keys.settling(integration), 0, AT_ONCE - 1);
      if (texts.length === 0) return;
      const calls = texts.map((text) => JSON.parse(text) as Call);
      await Promise.all(calls.map(({ script, args }) => scripts[script](keys.claim(integration), args)));
    }
  }

  return {
    finish,
    /** Makes all of these calls or, where this fails before they are in force, none. `gather` as in `claim.lua`. */
    async run(
      integration: string,
      token: string,
      calls: Iterable<Call>,
      gather: { readonly until: Instant; readonly ms: number },
    ): Promise<void> {
      const draft = `${keys.settling(integration)}:${token}`;
      await redis.del(draft);
      let page = 0;
      for (const { script, args } of calls) {
        const call: Call = { script, args: { ...args, page: `${token}/${page++}/${script}` } };
        await redis.rpush(draft, JSON.stringify(call));
      }
      await redis.pexpire(draft, UNUSED_MS);
      for (let inForce = false; !inForce; ) {
        await finish(integration);
        const transaction = redis.multi().persist(draft).renamenx(draft, keys.settling(integration));
        if (gather.ms > 0) transaction.set(keys.storm(integration), gather.until, "PX", gather.ms);
        const replies = (await transaction.exec()) ?? [];
        inForce = replies[1]?.[1] === 1;
      }
      await finish(integration);
    },
  };
}
