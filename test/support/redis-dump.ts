/** All keys and values of a Redis as text, BullMQ's too. */
import { Redis } from "ioredis";

export async function dumpRedis(url: string): Promise<string> {
  const redis = new Redis(url);
  try {
    const lines: string[] = [];
    for (const key of await redis.keys("*")) {
      const type = await redis.type(key);
      lines.push(`${type} ${key}`, JSON.stringify(await contentOf(redis, key, type)));
    }
    return lines.join("\n");
  } finally {
    redis.disconnect();
  }
}

async function contentOf(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case "string":
      return redis.get(key);
    case "hash":
      return redis.hgetall(key);
    case "list":
      return redis.lrange(key, 0, -1);
    case "set":
      return redis.smembers(key);
    case "zset":
      return redis.zrange(key, "0", "-1", "WITHSCORES");
    case "stream":
      return redis.xrange(key, "-", "+");
    case "none":
      return null;
    default:
      throw new Error(`a type of Redis that is not read: ${type}`);
  }
}
