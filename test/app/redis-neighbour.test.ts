/** Another client with write access to the Redis can silence lenswatch, but neither end it nor lose its own keys. */
import { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";
import { pictured, prepareWatch, startWatch, type Watch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { dumpRedis } from "../support/redis-dump.ts";
import type { SlackMessage } from "../support/slack-sink.ts";
import { until } from "../support/until.ts";

const RUBBISH = ["", "x", "{", "[]", '{"v":999}', '{"__proto__":{"x":1}}', "\u0000\ud83d", "9".repeat(400)];
const OURS = "{lenswatch}:*";
const PATHS = ["/", "/?show=locations", "/api/v1/recordings", "/api/v1/incidents", "/api/v2/alerts", "/metrics"];

type Spoil = (redis: Redis, key: string, rubbish: string) => Promise<unknown>;

/** Values of the same type with invalid content. */
const spoilValues: Spoil = async (redis, key, rubbish) => {
  switch (await redis.type(key)) {
    case "hash":
      return redis.hset(key, Object.fromEntries((await redis.hkeys(key)).map((field) => [field, rubbish])));
    case "list":
      return redis.lset(key, 0, rubbish);
    case "set":
      return redis.sadd(key, rubbish);
    case "zset":
      return redis.zadd(key, "1", rubbish);
    case "string":
      return redis.set(key, rubbish);
    default:
      return undefined;
  }
};

/** A value of another type than expected. */
const spoilTypes: Spoil = async (redis, key) => {
  const isString = (await redis.type(key)) === "string";
  await redis.del(key);
  return isString ? redis.rpush(key, "x") : redis.set(key, "x");
};

async function spoilAll(redis: Redis, spoil: Spoil): Promise<number> {
  const keys = await redis.keys(OURS);
  // Keys that the daemon repaired meanwhile are overwritten again in the next round.
  for (const [i, key] of keys.entries()) {
    await spoil(redis, key, RUBBISH[i % RUBBISH.length] ?? "").catch(() => undefined);
  }
  return keys.length;
}

describeWithRedis("another client of the same Redis", () => {
  let watch: Watch;
  afterAll(() => watch.close());

  it("a reader of all keys finds names, states and addresses, but no secret", async () => {
    const secrets = ["canary-client-secret", "canary-smtp-password", "canary-admin-token", "canary-read-token"];
    watch = await startWatch({
      simulator: { clientSecret: "canary-client-secret" },
      http: `http: { listen: "127.0.0.1:0", admin_token: canary-admin-token, read_token: canary-read-token }`,
      adjust: (config) => ({
        ...config,
        smtp: config.smtp && { ...config.smtp, username: "u", password: "canary-smtp-password" },
      }),
    });
    const { simulator, slack, app } = watch;
    const camera = simulator.world.locations[0]?.recordings[0];
    if (!camera) throw new Error("no camera");
    simulator.world.setStatus(camera.id, "offline");
    await slack.waitFor(({ shown }) => shown.includes(camera.name));
    const silenced = await fetch(`${app.address}/api/v2/silences`, {
      method: "POST",
      headers: { authorization: "Bearer canary-admin-token", "content-type": "application/json" },
      body: JSON.stringify({
        matchers: [{ name: "alertname", value: "x", isRegex: false }],
        startsAt: new Date().toISOString(),
        endsAt: new Date(Date.now() + 60_000).toISOString(),
        createdBy: "dana",
        comment: "rewiring",
      }),
    });
    expect(silenced.status).toBe(200);
    const { url } = watch.redis;
    await until("the notification is in the log", async () => (await dumpRedis(url)).includes("nflog:ops/slack"));
    const all = await dumpRedis(url);
    for (const known of [camera.name, "offline", "ops@example.com", "rewiring"]) expect(all).toContain(known);
    secrets.push(new URL(slack.url).pathname, new URL(url).password);
    expect(secrets.filter((secret) => secret.length > 1 && all.includes(secret))).toEqual([]);
    expect(all).not.toMatch(/eyJ[\w-]+\.[\w-]+\./);
  });

  it("a writer can suppress notifications: a silence it stores is applied", async () => {
    const redis = new Redis(watch.redis.url);
    const silence = {
      id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
      matchers: [["alertname", "=", "RecordingOffline"]],
      startsAt: Date.now() - 1_000,
      endsAt: Date.now() + 600_000,
      updatedAt: Date.now(),
      createdBy: "eve",
      comment: "",
      annotations: {},
    };
    await redis.hset("{lenswatch}:silences", silence.id, JSON.stringify(silence));
    redis.disconnect();
    const camera = watch.simulator.world.locations[1]?.recordings[0];
    if (!camera) throw new Error("no camera");
    watch.simulator.world.setStatus(camera.id, "offline");
    const headers = { authorization: "Bearer canary-read-token" };
    await until("it is suppressed", async () => {
      const alerts = (await (await fetch(`${watch.app.address}/api/v2/alerts`, { headers })).json()) as {
        status: { silencedBy: string[] };
      }[];
      return alerts.some(({ status }) => status.silencedBy.includes(silence.id));
    });
    expect(watch.slack.messages.filter(({ shown }) => shown.includes(camera.name))).toEqual([]);
  });

  it("a writer of invalid data cannot end the process: every request is answered, and state is built again", async () => {
    await using stage = await prepareWatch();
    const redis = new Redis(stage.redis.url);
    await redis.mset("lenswatch:theirs", "1", "{theirs}:lenswatch", "2");
    const daemon = await startDaemon(stage.config);
    const { address } = await daemon.logged("listening");
    await pictured(stage);
    const [camera, other] = stage.simulator.world.locations.map(({ recordings }) => recordings[0]);
    if (!camera || !other) throw new Error("no cameras");
    stage.simulator.world.setStatus(camera.id, "offline");
    await stage.slack.waitFor(({ shown }) => shown.includes(camera.name));

    for (const spoil of [spoilValues, spoilTypes]) {
      expect(await spoilAll(redis, spoil)).toBeGreaterThan(20);
      for (const path of PATHS) {
        const answer = await fetch(address + path);
        expect([200, 404, 500, 503], `${path}: ${answer.status}`).toContain(answer.status);
        await answer.text();
      }
      expect((await fetch(`${address}/healthz`)).status).toBe(200);
    }
    const { length } = stage.slack.messages;
    await redis.flushall();
    await redis.mset("lenswatch:theirs", "1", "{theirs}:lenswatch", "2");
    const isAgain = (one: SlackMessage) =>
      stage.slack.messages.indexOf(one) >= length && one.shown.includes(camera.name);
    await Promise.any([
      stage.slack.starts.waitFor(({ shown }) => shown.includes(camera.name)),
      stage.slack.waitFor(isAgain),
    ]);
    stage.simulator.world.setStatus(other.id, "offline");
    await stage.slack.waitFor(({ shown }) => shown.includes(other.name));
    await until("nothing of theirs was touched", async () => {
      const theirs = (await redis.keys("*")).filter((key) => !key.startsWith("{lenswatch}"));
      return theirs.sort().join() === "lenswatch:theirs,{theirs}:lenswatch";
    });
    redis.disconnect();
    expect(await daemon.end("SIGTERM")).toBe(0);
  });
});
