/** Silences, whose matchers are compiled once, and acknowledgements, each of one episode. */
import type { Redis } from "ioredis";
import { createMatcher } from "../alerting/matcher.ts";
import type { MatchOperator } from "../alerting/route.ts";
import { SILENCE_KEPT_MS, type Silence, silenceState } from "../alerting/silence.ts";
import type { Instant } from "../lib/clock.ts";
import { toWakes } from "./groups.ts";
import { createJsonHash, createParsedHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

interface Row extends Omit<Silence, "matchers"> {
  readonly matchers: readonly (readonly [name: string, operator: MatchOperator, value: string])[];
}

export function createSilenceStore(redis: Redis, keys: Keys) {
  const write = loadScript(redis, keys, "silence", "groups");
  const readAll = createParsedHash(redis, keys.silences, decode);
  return {
    /** All silences but those that expired longer ago than they are kept, in any order. */
    async read(now: Instant): Promise<readonly Silence[]> {
      return [...(await readAll()).values()].filter((one) => one !== undefined).filter((one) => !isForgotten(one, now));
    },

    /** Writes them in one step; groups that one of them suppressed something in become due: gives when, by integration. */
    async write(silences: readonly Silence[], now: Instant): Promise<Map<string, Instant>> {
      const known = [...(await readAll())];
      const forget = known.flatMap(([id, one]) => (!one || isForgotten(one, now) ? [id] : []));
      const rows = silences.map((silence) => ({
        id: silence.id,
        text: encode(silence),
        isOver: silenceState(silence, now) === "expired",
      }));
      return toWakes(await write(keys.silences, { now, silences: rows, forget }));
    },
  };
}

function isForgotten({ endsAt }: Silence, now: Instant): boolean {
  return endsAt + SILENCE_KEPT_MS <= now;
}

function encode(silence: Silence): string {
  const matchers = silence.matchers.map(({ name, operator, value }) => [name, operator, value] as const);
  return JSON.stringify({ ...silence, matchers } satisfies Row);
}

/** A row that cannot be read suppresses nothing: an alert too many is better than one too few. */
function decode(text: string): Silence | undefined {
  try {
    const row = JSON.parse(text) as Row;
    const matchers = row.matchers.map((parts) => createMatcher(...parts));
    const isWhole = Number.isFinite(row.startsAt) && Number.isFinite(row.endsAt) && matchers.length > 0;
    return isWhole ? { ...row, matchers } : undefined;
  } catch {
    return undefined;
  }
}

export type StoredAcknowledgement = { readonly author: string; readonly comment: string; readonly at: Instant };

export function createAckStore(redis: Redis, keys: Keys) {
  const script = loadScript(redis, keys, "acknowledge");
  return {
    /** By episode id. The end of the episode deletes it (`scripts/commit.lua`). */
    read: createJsonHash<StoredAcknowledgement>(redis, keys.acks).readAll,

    /** Acknowledges those of the episodes that fire; gives them. A later acknowledgement replaces an earlier one. */
    async acknowledge(episodes: readonly string[], ack: StoredAcknowledgement): Promise<string[]> {
      const acknowledgement = JSON.stringify(ack);
      const done: string[] = [];
      for (const episode of episodes)
        if ((await script(keys.acks, { episode, acknowledgement })) === 1) done.push(episode);
      return done;
    },
  };
}
