import { expect, it } from "vitest";
import type { LogLine } from "../../src/alerting/decision-log.ts";
import { createStore } from "../../src/store/store.ts";
import { describeWithRedis } from "../support/redis.ts";
import { commit, fires, firing, HOUR, integration, MINUTE, SECOND, T0, to, useTestStore } from "./fixtures.ts";

const DAY = 24 * HOUR;
const camera = { kind: "recording", id: "cam" } as const;
const slack = "ops/slack/0";

const line = (at: number, reason: string, more: Partial<LogLine> = {}): LogLine => ({
  subject: camera,
  at,
  ruleId: "RecordingOffline",
  reason,
  ...more,
});

describeWithRedis("the incident log", () => {
  const testStore = useTestStore();
  const write = (...lines: LogLine[]) => testStore().store.log.write(lines, lines.at(-1)?.at ?? T0);
  const read = (since = 0) => testStore().store.log.read([camera], since);
  const reasons = async () => (await read()).map(({ reason }) => reason);
  const rows = async () => Number(await testStore().redis.get(`{${testStore().prefix}}:log:rows`));

  it("gives lines back as they were written, oldest first, from a moment on", async () => {
    const lines = [
      line(T0, "observed_offline", { ruleId: undefined }),
      line(T0, "pending"),
      line(T0 + MINUTE, "firing"),
      line(T0 + 2 * MINUTE, "notified", { integration: slack, detail: "first" }),
    ];
    await write(...lines);
    expect(await read()).toEqual(lines);
    expect(await read(T0 + MINUTE)).toEqual(lines.slice(2));
  });

  it("reads several subjects as one log", async () => {
    const shop = { kind: "location", id: "shop" } as const;
    await write(line(T0, "pending"), line(T0 + SECOND, "firing", { subject: shop }), line(T0 + MINUTE, "firing"));
    const story = await testStore().store.log.read([camera, shop], 0);
    expect(story.map(({ subject, reason }) => [subject.kind, reason])).toEqual([
      ["recording", "pending"],
      ["location", "firing"],
      ["recording", "firing"],
    ]);
  });

  it("is written with the judgement it speaks of, or not at all", async () => {
    const { store } = testStore();
    const key = store.keys.shard(0);
    const input = { key, document: "{}", now: T0, changes: [], lines: [line(T0, "pending")] };
    await store.shards.commit({ ...input, expected: "" });
    const lost = await store.shards.commit({ ...input, expected: "", lines: [line(T0, "firing")] });
    expect(lost.outcome).toBe("lost");
    expect(await reasons()).toEqual(["pending"]);
  });

  it("stores a decision of every sweep once, until there is another", async () => {
    const ignored = (at: number) => line(at, "no_location", { ruleId: undefined });
    for (let sweep = 0; sweep < 5; sweep++) await write(ignored(T0 + sweep));
    expect(await reasons()).toEqual(["no_location"]);
    await write(line(T0 + 9, "observed_online", { ruleId: undefined }), ignored(T0 + 10), ignored(T0 + 11));
    expect(await reasons()).toEqual(["no_location", "observed_online", "no_location"]);
  });

  it("stores each kind of failure of an integration once, until a message is accepted", async () => {
    const failed = (at: number, detail: string, where = slack) => line(at, "failed", { integration: where, detail });
    for (let i = 0; i < 6; i++) {
      await write(failed(T0 + 10 * i, i % 2 ? "timeout" : "network"), failed(T0 + 10 * i + 1, "auth", "b/slack/0"));
    }
    await write(line(T0 + 100, "notified", { integration: slack }), failed(T0 + 101, "network"));
    expect((await read()).map(({ integration, detail }) => [integration, detail])).toEqual([
      [slack, "network"],
      ["b/slack/0", "auth"],
      [slack, "timeout"],
      [slack, undefined],
      [slack, "network"],
    ]);
  });

  it("counts reminders in one line, and a reminder written twice once", async () => {
    const reminded = (at: number) => line(at, "reminded", { integration: slack });
    await write(line(T0, "notified", { integration: slack, detail: "first" }));
    for (const hour of [4, 8, 12, 12]) await write(reminded(T0 + hour * HOUR));
    const story = await read();
    expect(story.map(({ reason, detail }) => [reason, detail])).toEqual([
      ["notified", "first"],
      ["reminded", "3"],
    ]);
    expect(story[1]?.at).toBe(T0 + 12 * HOUR);
    expect(await rows()).toBe(2);
  });

  it("is written once by a delivery whose script is sent twice, also after its lease", async () => {
    const { store } = testStore();
    const slackHere = integration(slack);
    const alert = firing("cam");
    await commit(T0, fires(alert, to(slack)));
    const now = T0 + MINUTE;
    await store.groups.claim(slackHere, "t", now, 13 * SECOND);
    const notified = [{ alert, notifiedAt: now, groupId: "g" }];
    const lines = [line(now, "notified", { integration: slack, detail: "first" })];
    const outcome = { now, sent: true, notified, over: [], unnotified: [], nextAt: now + HOUR, lines };
    await store.groups.settle(slackHere, "g", "t", outcome);
    await store.groups.settle(slackHere, "g", "t", outcome);
    expect(await read()).toEqual(lines);
  });

  it("forgets what is older than the history, in a list that grows and in one that is quiet", async () => {
    const quiet = { kind: "recording", id: "quiet" } as const;
    await write(line(T0, "pending"), line(T0 + DAY, "firing"), line(T0, "pending", { subject: quiet }));
    await write(line(T0 + 92 * DAY, "resolved"));
    expect(await reasons()).toEqual(["resolved"]);
    expect(await testStore().keys()).toEqual(["log:recording/cam", "log:rows", "logs"]);
    expect(await rows()).toBe(1);
  });

  it("takes the history it is configured with", async () => {
    const { log } = createStore(testStore().redis, testStore().prefix, { historyMs: HOUR });
    await log.write([line(T0, "pending")], T0);
    await log.write([line(T0 + 2 * HOUR, "firing")], T0 + 2 * HOUR);
    expect(await reasons()).toEqual(["firing"]);
  });

  it("keeps the newest 500 lines of a busy subject", async () => {
    const lines = Array.from({ length: 620 }, (_, i) => line(T0 + i, i % 2 ? "firing" : "resolved"));
    await write(...lines);
    const kept = await read();
    expect(kept.map(({ at }) => at)).toEqual(lines.slice(-500).map(({ at }) => at));
    expect(await rows()).toBe(500);
  });

  it("deletes the subject without a new line for the longest time once there are too many lines", async () => {
    const { redis, prefix } = testStore();
    const other = (id: string) => ({ kind: "recording", id }) as const;
    await write(line(T0, "pending", { subject: other("oldest") }));
    await write(line(T0 + SECOND, "pending", { subject: other("later") }));
    await redis.set(`{${prefix}}:log:rows`, 1_500_000);
    await write(line(T0 + MINUTE, "pending"));
    expect(await testStore().keys()).toEqual(["log:recording/cam", "log:recording/later", "log:rows", "logs"]);
    expect(await rows()).toBe(1_500_000);
  });
});
