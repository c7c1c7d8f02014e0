/** Silences, in one hash. Matchers are compiled once; an expired silence is deleted after SILENCE_KEPT_MS. */
import type { Redis } from "ioredis";
import { createMatcher } from "../alerting/matcher.ts";
import type { MatchOperator } from "../alerting/route.ts";
import { SILENCE_KEPT_MS, type Silence, silenceState } from "../alerting/silence.ts";
import type { Instant } from "../lib/clock.ts";
import { toWakes } from "./encode.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

interface Row extends Omit<Silence, "matchers"> {
  readonly matchers: readonly (readonly [name: string, operator: MatchOperator, value: string])[];
}

export function createSilenceStore(redis: Redis, keys: Keys) {
  const write = loadScript(redis, keys, "silence", "groups");
  let parsed = new Map<string, { readonly text: string; readonly silence: Silence | undefined }>();

  /** A row that cannot be read suppresses nothing: an alert too many is better than one too few. */
  async function readAll(): Promise<(readonly [id: string, silence: Silence | undefined])[]> {
    const rows = Object.entries(await redis.hgetall(keys.silences));
    const before = parsed;
    parsed = new Map(
      rows.map(([id, text]) => {
        const known = before.get(id);
        return [id, known?.text === text ? known : { text, silence: decode(text) }];
      }),
    );
    return [...parsed].map(([id, { silence }]) => [id, silence]);
  }

  return {
    /** All silences but those that expired longer ago than they are kept, in any order. */
    async read(now: Instant): Promise<readonly Silence[]> {
      return (await readAll()).flatMap(([, one]) => (one && !isForgotten(one, now) ? [one] : []));
    },

    /** Writes them in one step; groups that one of them suppressed something in become due: gives when, by integration. */
    async write(silences: readonly Silence[], now: Instant): Promise<Map<string, Instant>> {
      const known = await readAll();
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
