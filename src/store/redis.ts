/**
 * The connection to Redis: reconnecting for ever with jittered back-off, commands waiting for it meanwhile, one
 * sentence in the log when it goes and one when it is back.
 */
import { readFileSync } from "node:fs";
import type { ChainableCommander, Redis } from "ioredis";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { type Logger, scrub } from "../lib/log.ts";
import { StoreError } from "./errors.ts";
import { createClient, type RedisPlace } from "./redis-client.ts";

/** A connection of that name, not connected yet; says in the log when Redis goes and when it is back. */
export function connectRedis(place: RedisPlace, log: Logger, name: string): Redis {
  const redis = createClient(place, name);
  let failing = false;
  redis.on("error", (error) => {
    if (failing) return;
    failing = true;
    const err = new Error(scrub(toError(error).message));
    log.warn(
      { err },
      "Redis cannot be reached; trying again until it can. Check redis.url and that it is running",
    );
  });
  redis.on("ready", () => {
    if (failing) log.info("Redis is reachable again");
    failing = false;
  });
  return redis;
}

/** Connects a one-shot command's connection: throws StoreError `unavailable` instead of trying for ever. */
export async function connected(redis: Redis): Promise<void> {
  try {
    await redis.connect();
  } catch (thrown) {
    redis.disconnect();
    const cause = new Error(scrub(toError(thrown).message));
    throw new StoreError("unavailable", "Redis cannot be reached; check redis.url and that it is running.", {
      cause,
    });
  }
}

/** Runs a Lua script: one key, then arguments. The reply is what the script's head says. */
export interface Script {
  (key: string, ...args: (string | number)[]): Promise<unknown>;
  /** Puts the call into a transaction instead. */
  queue(transaction: ChainableCommander, key: string, ...args: (string | number)[]): void;
}

/**
 * A script of `scripts/`, sent by hash once Redis knows it. `withGroups` puts the shared part of groups.lua before
 * it, whose first argument is the key prefix; `withLog`, after that, the one of log.lua.
 */
export function loadScript(
  redis: Redis,
  name: string,
  options: { withGroups?: boolean; withLog?: boolean } = {},
): Script {
  const read = (file: string) => readFileSync(new URL(`./scripts/${file}.lua`, import.meta.url), "utf8");
  const parts = [...(options.withGroups ? ["groups"] : []), ...(options.withLog ? ["log"] : []), name];
  const lua = parts.map(read).join("\n");
  const command = `lenswatch_${name}`;
  redis.defineCommand(command, { numberOfKeys: 1, lua });
  type Run = (...args: (string | number)[]) => Promise<unknown>;
  const on = (target: object) => (Reflect.get(target, command) as Run).bind(target);
  const run = on(redis);
  return Object.assign((key: string, ...args: (string | number)[]) => run(key, ...args), {
    queue: (transaction: object, key: string, ...args: (string | number)[]) =>
      void on(transaction)(key, ...args),
  });
}

/** Redis' own clock, ms: the one clock all replicas share. */
export async function redisNow(redis: Pick<Redis, "time">): Promise<Instant> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}

/**
 * Corrects `clock` by Redis `TIME`, no further than the answer proves: it was read after the question was sent and
 * before it came back. One that was long on its way (Redis was gone, or stood still) says little and moves little.
 */
export async function followRedisClock(
  redis: Pick<Redis, "time">,
  clock: Clock & { correct(other: Instant): void },
  elapsed: () => number = () => performance.now(),
): Promise<void> {
  const sent = elapsed();
  const earliest = await redisNow(redis);
  const latest = earliest + elapsed() - sent;
  const here = clock.now();
  if (here < earliest) clock.correct(earliest);
  else if (here > latest) clock.correct(latest);
}
