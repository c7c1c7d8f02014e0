/** Silences, in one hash. Matchers are compiled once; one that is over is dropped after its time of grace. */
import type { Redis } from "ioredis";
import { createMatcher } from "../alerting/matcher.ts";
import type { MatchOperator } from "../alerting/route.ts";
import { SILENCE_KEPT_MS, type Silence, silenceState } from "../alerting/silence.ts";
import type { Instant } from "../lib/clock.ts";
import { toWake } from "./destination.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

interface Row extends Omit<Silence, "matchers"> {
  readonly matchers: readonly (readonly [name: string, operator: MatchOperator, value: string])[];
}

export function createSilenceStore(redis: Redis, keys: Keys) {
  const write = loadScript(redis, "silence", { withGroups: true });
  let parsed = new Map<string, { readonly text: string; readonly silence: Silence | undefined }>();

  /** A row that cannot be read holds nothing back: what it would hold had better be told. */
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
    /** All that are not over for longer than they are kept, in any order. */
    async read(now: Instant): Promise<readonly Silence[]> {
      return (await readAll()).flatMap(([, one]) => (one && !isForgotten(one, now) ? [one] : []));
    },

    /** Writes them in one step; where one of them held something back, it is looked at again: gives what is due when. */
    async write(silences: readonly Silence[], now: Instant): Promise<Map<string, Instant>> {
      const known = await readAll();
      const gone = known.flatMap(([id, one]) => (!one || isForgotten(one, now) ? [id] : []));
      const rows = silences.map((silence) => [
        silence.id,
        encode(silence),
        silenceState(silence, now) === "expired" ? 1 : 0,
      ]);
      const args = [keys.prefix, now, JSON.stringify(rows), JSON.stringify(gone)];
      return toWake((await write(keys.silences, ...args)) as string[]);
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
