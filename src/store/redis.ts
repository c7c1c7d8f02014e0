/** The connection to Redis: reconnects for ever, logs its loss once and its return once; pipelines. */
import type { ChainableCommander, Redis } from "ioredis";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { type Logger, scrub } from "../lib/log.ts";
import { StoreError } from "./errors.ts";
import { createClient, type RedisPlace } from "./redis-client.ts";

/** A connection of that name, not connected yet; logs when Redis becomes unreachable and when it is back. */
export function connectRedis(place: RedisPlace, log: Logger, name: string): Redis {
  const redis = createClient(place, name);
  let failing = false;
  redis.on("error", (error) => {
    if (failing) return;
    failing = true;
    const err = new Error(scrub(toError(error).message));
    log.warn({ err }, "Redis is unreachable, retrying. Check redis.url and that it is running");
  });
  redis.on("ready", () => {
    if (failing) log.info("Redis is reachable again");
    failing = false;
  });
  return redis;
}

/** Connects once, for a command: throws StoreError `unavailable` instead of retrying. */
export async function connected(redis: Redis): Promise<Redis> {
  try {
    await redis.connect();
    return redis;
  } catch (thrown) {
    redis.disconnect();
    const cause = new Error(scrub(toError(thrown).message));
    throw new StoreError("unavailable", "Redis cannot be reached; check redis.url and that it is running.", { cause });
  }
}

/** The text, with U+FFFD for each half of a surrogate pair, of a name that was cut inside an emoji; JSON has it as an escape. */
export function wellFormed(text: string): string {
  if (!text.includes("\\ud")) return text.toWellFormed();
  return text.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (found) => (found.startsWith("\\ud") ? "\ufffd" : found));
}

/** The replies of several commands in one round trip, in their order. Throws the first error among them. */
export async function pipelined<Reply>(redis: Redis, add: (batch: ChainableCommander) => void): Promise<Reply[]> {
  const batch = redis.pipeline();
  add(batch);
  return ((await batch.exec()) ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply as Reply;
  });
}

/**
 * Corrects `clock` by Redis `TIME`, the one clock all replicas share, no further than the answer proves: it was read
 * after the question was sent and before it came back. The longer it took, the less it corrects.
 */
export async function followRedisClock(
  redis: Pick<Redis, "time">,
  clock: Clock & { correct(other: Instant): void },
  elapsed: () => number = () => performance.now(),
): Promise<void> {
  const sent = elapsed();
  const [seconds, microseconds] = await redis.time();
  const earliest = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  const latest = earliest + elapsed() - sent;
  const here = clock.now();
  if (here < earliest) clock.correct(earliest);
  else if (here > latest) clock.correct(latest);
}

export type Timed = readonly [member: string, at: Instant];

/** The members of a sorted set with their times, as Redis gives them. */
export function timesIn(flat: readonly string[]): Timed[] {
  return flat.flatMap((member, i) => (i % 2 === 0 ? [[member, Number(flat[i + 1])] as const] : []));
}
