import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { keysUnder } from "../../src/store/keys.ts";
import { startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { startSlackSink } from "../support/slack-sink.ts";
import { until } from "../support/until.ts";

const keys = keysUnder("lenswatch");

async function withRedis<T>(watch: Watch, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(watch.redis.url);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

async function disposableSink() {
  const sink = await startSlackSink();
  return { sink, [Symbol.asyncDispose]: () => sink.close() };
}

const receivers = (...urls: string[]) => `
  - name: ops
    slack_configs: [ ${urls.map((url) => `{ api_url: "${url}" }`).join(", ")} ]`;

function firstCamera(watch: Watch) {
  const [camera] = watch.simulator.world.recordings;
  if (!camera) throw new Error("no camera");
  return camera;
}

async function restart(watch: Watch, change: (config: string) => string): Promise<void> {
  await watch.app.stop();
  watch.config = change(watch.config);
  await watch.start();
}

/** Everything said is written down: nothing is due before the next reminder. */
const atRest = (watch: Watch) =>
  until("all is written down", () =>
    withRedis(watch, async (redis) => {
      const [, score] = await redis.zrange(keys.due("ops/slack/0"), 0, "0", "WITHSCORES");
      return score !== undefined && Number(score) > Date.now() + 3_600_000;
    }),
  );

describeWithRedis("a restart with another configuration", () => {
  it.concurrent("a new integration is notified of what fires already; the others get nothing again, and all get the end", async () => {
    await using added = await disposableSink();
    await using watch = await startWatch();
    watch.config = watch.config.replace(
      /\nreceivers:[\s\S]*?\nsmtp:/,
      `\nreceivers: ${receivers(watch.slack.url)}\nsmtp:`,
    );
    const camera = firstCamera(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await atRest(watch);
    await restart(watch, (config) =>
      config.replace(receivers(watch.slack.url), receivers(watch.slack.url, added.sink.url)),
    );
    expect((await added.sink.next()).shown).toContain(camera.name);
    watch.simulator.world.setStatus(camera.id, "online");
    for (const sink of [watch.slack, added.sink]) expect((await sink.next()).text).toContain("recovered");
    expect([watch.slack.messages.length, added.sink.messages.length]).toEqual([2, 2]);
  });

  it.concurrent("a removed rule resolves its alert, with the reason, once", async () => {
    await using watch = await startWatch();
    const camera = firstCamera(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await atRest(watch);
    await restart(watch, (config) =>
      config.replace(/ {2}- alert: RecordingOffline[\s\S]*?(?= {2}- alert: ServiceUnreachable)/, ""),
    );
    const end = await watch.slack.next();
    expect(end.text).not.toContain("recovered");
    expect(end.shown).toMatch(/rule/i);
    await until("nothing of it is left", () =>
      withRedis(watch, async (redis) => (await redis.hlen(keys.alerts)) === 0),
    );
    expect(watch.slack.messages).toHaveLength(2);
  });

  it.concurrent("an integration that was removed for a while is sent the end it missed when it is back", async () => {
    await using watch = await startWatch();
    const both = watch.config;
    const camera = firstCamera(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await Promise.all([watch.slack.next(), watch.mail.next()]);
    await atRest(watch);
    await restart(watch, (config) => config.replace(/ {4}slack_configs: .*\n/, ""));
    watch.simulator.world.setStatus(camera.id, "online");
    expect((await watch.mail.next()).subject).toContain("recovered");
    expect(watch.slack.messages).toHaveLength(1);
    await restart(watch, () => both);
    expect((await watch.slack.next()).text).toContain("recovered");
    expect([watch.slack.messages.length, watch.mail.messages.length]).toEqual([2, 2]);
  });

  it.concurrent("a digest missed while nobody was there is sent after the start, once", async () => {
    await using watch = await startWatch();
    const digest = `
digests:
  - { name: daily, cron: "0 8 * * *", timezone: UTC, period: 1d, to: [ boss@example.com ] }
`;
    await restart(watch, (config) => config + digest);
    const due = () => withRedis(watch, (redis) => redis.hget(keys.digestsDue, "daily"));
    await until("it is scheduled", async () => (await due()) !== null);
    await watch.app.stop();
    await withRedis(watch, async (redis) => {
      const entry = JSON.parse((await redis.hget(keys.digestsDue, "daily")) ?? "") as { dueAt: number };
      await redis.hset(keys.digestsDue, "daily", JSON.stringify({ ...entry, dueAt: entry.dueAt - 86_400_000 }));
    });
    await watch.start();
    expect((await watch.mail.next()).rcpts).toEqual(["boss@example.com"]);
    await restart(watch, (config) => config);
    await until("it is scheduled anew", async () => JSON.parse((await due()) ?? "{}").dueAt > Date.now());
    expect(watch.mail.messages).toHaveLength(1);
  });
});

describeWithRedis("a Redis emptied in the middle", () => {
  it.concurrent("the service goes on being judged", async () => {
    await using watch = await startWatch();
    await withRedis(watch, (redis) => redis.flushall());
    await until("the service is judged again", () =>
      withRedis(watch, async (redis) => (await redis.hget(keys.attempts, "fleet")) !== null),
    );
    watch.simulator.faults.set("no_reply", {});
    const isBlind = ({ text }: { text: string }) => /Analytics service unreachable/.test(text);
    const { starts } = watch.slack;
    await Promise.any([watch.slack.waitFor(isBlind), starts.waitFor(isBlind)]);
  });
});
