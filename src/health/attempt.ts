/** Attempts to read something of the service: of each shard, of the location list, of figures. */
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Presence } from "./belief.ts";
import { SETTLING_MS } from "./uptime.ts";

/**
 * The state of requests for one thing. 0 where there was none; `error`: why the last one failed, or with an equally new
 * `goodAt` why a part of it was not understood, without secrets.
 */
export interface Attempt {
  readonly goodAt: Instant;
  readonly attemptedAt: Instant;
  readonly error?: string | undefined;
  /** A failure that is not the service's: what is stored cannot be read, or lenswatch failed with the answer. */
  readonly fault?: "unreadable" | "internal" | undefined;
  /** Since when the fleet is watched without a pause, or a shard is known here. */
  readonly since?: Instant | undefined;
  /** The time between good readings of a shard, ms, where more than one of the last was too late. */
  readonly lateMs?: number | undefined;
  /** Recordings of a shard; of its uptime those online of which segments were expected. */
  readonly known?: number | undefined;
  /** Known recordings that the answer lacks; of uptime those of which hardly any segments came. */
  readonly absent?: number | undefined;
  /**
   * Known recordings without a good reading in time, for another reason than that the answer lacks them, and locations
   * without an answer of which none is known.
   */
  readonly stale?: number | undefined;
  /**
   * When that was read which has alerts and was not read at `goodAt`, by id: recordings and locations of a shard, groups of
   * the fleet. Locations without an answer too.
   */
  readonly unread?: Readonly<Record<string, Instant>> | undefined;
  /** The last good sweep that counted other groups than the one before, and wrote them. */
  readonly groupsAt?: Instant | undefined;
}

export interface Attempts {
  /** A value for each assigned shard. */
  readonly shards: readonly Attempt[];
  readonly inventory: Attempt;
  /** A value for each shard, as those of counts. */
  readonly uptimes: readonly Attempt[];
  readonly counts?: readonly Attempt[] | undefined;
}

/** The attempts of these shards, of all by subject. */
export function attemptsOf(all: ReadonlyMap<string, Attempt>, shards: readonly number[]): Attempts {
  const at = (subject: string) => all.get(subject) ?? NEVER;
  const each = (what: string) => shards.map((shard) => at(`${what}:${shard}`));
  return { shards: each("shard"), inventory: at("inventory"), uptimes: each("uptime"), counts: each("counts") };
}

const NEVER: Attempt = { goodAt: 0, attemptedAt: 0 };

/**
 * The recordings of shards whose last reading of uptime was good and is of the hour of the newest one: earlier ones say
 * nothing about the bucket that has been finished since.
 */
export function segmentsOf(uptimes: readonly Attempt[]): Presence {
  const hourOf = ({ goodAt }: Attempt) => Math.floor((goodAt - SETTLING_MS) / HOUR_MS);
  const newest = Math.max(...uptimes.map(hourOf));
  return presenceOf(uptimes.filter((one) => hourOf(one) === newest));
}

/** The recordings of shards whose last sweep, or last reading of uptime, was good. */
export function presenceOf(shards: readonly Attempt[]): Presence {
  const read = shards.filter(({ goodAt, attemptedAt }) => goodAt >= attemptedAt);
  return {
    known: read.reduce((sum, { known = 0 }) => sum + known, 0),
    absent: read.reduce((sum, { absent = 0 }) => sum + absent, 0),
  };
}
