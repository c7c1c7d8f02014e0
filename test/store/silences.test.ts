import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { createMatcher } from "../../src/alerting/matcher.ts";
import { SILENCE_KEPT_MS, type Silence } from "../../src/alerting/silence.ts";
import { type Logger, silentLogger } from "../../src/lib/log.ts";
import { keysUnder } from "../../src/store/keys.ts";
import { createSilenceStore } from "../../src/store/silences.ts";
import { createTransact } from "../../src/store/transact.ts";
import { aSilence } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { HOUR, useTestStore } from "./fixtures.ts";

const NOW = Date.UTC(2026, 10, 20, 14, 5);

const silence = (changes: Partial<Silence> = {}): Silence =>
  aSilence({
    id: randomUUID(),
    matchers: [createMatcher("location_id", "=", "north")],
    startsAt: NOW,
    endsAt: NOW + HOUR,
    updatedAt: NOW,
    ...changes,
  });

describeWithRedis("stored silences", () => {
  const testStore = useTestStore();
  const idsOf = (all: readonly Silence[]) => all.map(({ id }) => id).sort();
  const storeWith = (log?: Logger) => {
    const { redis, prefix, store } = testStore();
    const keys = keysUnder(prefix);
    return createSilenceStore(redis, keys, createTransact(redis, keys), store.releases, log);
  };
  const open = () => {
    const { redis, prefix } = testStore();
    const { silences } = keysUnder(prefix);
    return { redis, silences, store: storeWith() };
  };

  it("are not forgotten because others are set and read in the same moment", async () => {
    const { redis, silences, store } = open();
    const theirs = silence();
    await store.write([theirs], NOW);
    const text = (await redis.hget(silences, theirs.id)) ?? "";
    await redis.del(silences);
    const ours = silence();
    // In this order at Redis, and answered together: ours is about to be written, theirs is, somebody reads.
    const writing = store.write([ours], NOW);
    await Promise.all([redis.hset(silences, theirs.id, text), store.read(NOW), writing]);
    expect(idsOf(await store.read(NOW))).toEqual(idsOf([ours, theirs]));
  });

  it("are dropped when they have been over for as long as they are kept", async () => {
    const { redis, silences, store } = open();
    const old = silence();
    await store.write([old], NOW);
    const later = NOW + HOUR + SILENCE_KEPT_MS;
    const fresh = silence({ startsAt: later, endsAt: later + HOUR });
    expect(idsOf(await store.read(later - 1))).toEqual([old.id]);
    expect(await store.read(later)).toEqual([]);
    await store.write([fresh], later);
    expect(await redis.hkeys(silences)).toEqual([fresh.id]);
  });

  it.each([
    "rubbish",
    "{}",
    '{"matchers":[["a","=~","("]],"startsAt":1,"endsAt":9e15}',
    '{"matchers":[],"startsAt":1}',
  ])("hold what they can where a neighbour wrote %j among them, and are rid of it at the next change", async (text) => {
    const { redis, silences, store } = open();
    const [ours, next] = [silence(), silence()];
    await store.write([ours], NOW);
    await redis.hset(silences, "broken", text);
    expect(idsOf(await store.read(NOW))).toEqual([ours.id]);
    await store.write([next], NOW);
    expect((await redis.hkeys(silences)).sort()).toEqual(idsOf([ours, next]));
  });

  it("with expressions of any size delay no reading, match nothing, and are logged", async () => {
    const { redis, silences } = open();
    const warned: unknown[] = [];
    const log = { ...silentLogger, warn: (...line: unknown[]) => void warned.push(line) } as Logger;
    const matchers = [["x", "=~", "(a?){1000}".repeat(360)]];
    const hostile = { ...silence(), matchers };
    await redis.hset(silences, hostile.id, JSON.stringify(hostile));
    const store = storeWith(log);
    const began = process.cpuUsage();
    const [read] = await store.read(NOW);
    expect(read?.matchers.map(({ matches }) => matches("aaa"))).toEqual([false]);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(500);
    await store.read(NOW);
    expect(warned).toEqual([[{ silence: hostile.id }, expect.stringContaining("suppresses nothing")]]);
  });

  it("that are expired are forgotten, the oldest first, beyond a megabyte", async () => {
    const { redis, silences, store } = open();
    const all = Array.from({ length: 12 }, (_, i) => silence({ comment: "x".repeat(100_000), endsAt: NOW + i }));
    await store.write(all, NOW);
    await store.write([silence()], NOW + 100);
    const left = await redis.hkeys(silences);
    expect(all.map(({ id }) => left.includes(id))).toEqual(all.map((_, i) => i >= 3));
  });
});
