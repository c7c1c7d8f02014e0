/** Silences, whose matchers are compiled once. */
import type { Redis } from "ioredis";
import { type MatchOperator, matchersCost, storedMatcher } from "../alerting/matcher.ts";
import { requestBudget } from "../alerting/pattern.ts";
import {
  askAtOf,
  MOST_SILENCE_CHARACTERS,
  SILENCE_KEPT_MS,
  type Silence,
  silenceSize,
  silenceState,
} from "../alerting/silence.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import { destinationsIn, GroupWork } from "./group-work.ts";
import { createParsedHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { earliestWakes, type Releases, releasing, type Wakes } from "./releases.ts";
import { newId, type Transact, type Write } from "./transact.ts";

interface Row extends Omit<Silence, "matchers"> {
  readonly matchers: readonly (readonly [name: string, operator: MatchOperator, value: string])[];
}

/** Written only where the silences are stored as `before` has them, in their order; undefined for not at all. */
interface SilenceChange {
  readonly before: readonly (Silence | undefined)[];
  /** Episodes that the silences match. */
  readonly touched?: readonly string[];
}

/** Redis answers nothing else during a call: the most episodes that one touches. */
const TOUCHED = 500;

export function createSilenceStore(redis: Redis, keys: Keys, { transact }: Transact, releases: Releases, log?: Logger) {
  const readAll = createParsedHash(redis, keys.silences, (text) => decode(text, log));

  /** The roots that name these episodes are brought up to date, and their groups are looked at when it is to be asked about. */
  async function touch(episodes: readonly string[], now: Instant, askAt: Instant | undefined): Promise<Wakes> {
    const wakes: Wakes[] = [];
    for (const page of chunksOf(episodes, TOUCHED)) {
      const destinations = [...new Set([...(await destinationsIn(redis, keys, page)).values()].flat())];
      const [read, work] = [new GroupWork(redis, keys), new GroupWork(redis, keys)];
      await read.load(destinations);
      for (const destination of destinations) {
        work.touch(destination, now, read.head(destination));
        if (askAt !== undefined) work.due(destination, askAt);
      }
      await transact(work.transaction());
      wakes.push(work.wakes);
    }
    return earliestWakes(...wakes);
  }

  return {
    /** All silences but those that expired longer ago than they are kept, in any order. */
    async read(now: Instant): Promise<readonly Silence[]> {
      return [...(await readAll()).values()].filter((one) => one !== undefined).filter((one) => !isForgotten(one, now));
    },

    /**
     * Writes them in one step; groups that one of them suppressed something in become due: gives when, by integration.
     * Undefined where nothing was written, as one of them is not stored as before.
     */
    async write(
      silences: readonly Silence[],
      now: Instant,
      change?: SilenceChange,
    ): Promise<ReadonlyMap<string, Instant> | undefined> {
      const forget = forgettable(await readAll(), now);
      const times = silences.flatMap((one) => askAtOf(one) ?? []).filter((at) => at > now);
      const askAt = times.length > 0 ? Math.min(...times) : undefined;
      const rows = silences.map((silence, i) => ({
        id: silence.id,
        text: encode(silence),
        before: change && stored(change.before[i]),
      }));
      const ids = rows.map(({ id }) => id);
      const known = ids.length > 0 ? await redis.hmget(keys.silences, ...ids) : [];
      // Nothing is written where all are stored already, as by a call sent twice.
      const id = newId();
      const ended = { causes: ids, isPaced: false };
      if (rows.some(({ text }, i) => text !== (known[i] ?? ""))) {
        const checks = rows.flatMap(({ id: silence, before }) =>
          before === undefined ? [] : [{ place: [keys.silences, silence] as const, version: before }],
        );
        const writes: Write[] = [
          ["HSET", keys.silences, ...rows.flatMap(({ id: silence, text }) => [silence, text])],
          ...(forget.length > 0 ? [["HDEL", keys.silences, ...forget] as const] : []),
          ...releasing(keys, id, ended),
        ];
        if ((await transact({ id, checks, writes })).kind === "conflict") return undefined;
      } else await transact({ id, checks: [], writes: releasing(keys, id, ended) });
      return earliestWakes(await releases.release(id, ended, now), await touch(change?.touched ?? [], now, askAt));
    },
  };
}

function isForgotten({ endsAt }: Silence, now: Instant): boolean {
  return endsAt + SILENCE_KEPT_MS <= now;
}

function stored(silence: Silence | undefined): string {
  return silence ? encode(silence) : "";
}

/** Ids of those that cannot be read or are expired for long, and of the oldest expired ones beyond what is kept. */
function forgettable(known: ReadonlyMap<string, Silence | undefined>, now: Instant): string[] {
  const silences = [...known.values()].filter((one) => one !== undefined).sort((a, b) => b.endsAt - a.endsAt);
  let characters = 0;
  const kept = silences.filter((one) => {
    if (silenceState(one, now) !== "expired") return true;
    characters += silenceSize(one);
    return !isForgotten(one, now) && characters <= MOST_SILENCE_CHARACTERS;
  });
  const ids = new Set(kept.map(({ id }) => id));
  return [...known.keys()].filter((id) => !ids.has(id));
}

function encode(silence: Silence): string {
  const matchers = silence.matchers.map(({ name, operator, value }) => [name, operator, value] as const);
  return JSON.stringify({ ...silence, matchers } satisfies Row);
}

/** A row that cannot be read suppresses nothing: an alert too many is better than one too few. */
function decode(text: string, log: Logger | undefined): Silence | undefined {
  try {
    const row = JSON.parse(text) as Row;
    const matchers = row.matchers.map((parts) => storedMatcher(...parts));
    if (matchers.some((one) => matchersCost([one]) > requestBudget().left))
      log?.warn(
        { silence: row.id },
        "a silence suppresses nothing, its regular expressions are too large: set it again",
      );
    const hasTexts = [row.id, row.createdBy, row.comment].every((one) => typeof one === "string");
    const isWhole = hasTexts && Number.isFinite(row.startsAt) && Number.isFinite(row.endsAt) && matchers.length > 0;
    return isWhole ? { ...row, matchers } : undefined;
  } catch {
    return undefined;
  }
}
