import { expect, it } from "vitest";
import type { LogLine } from "../../src/alerting/decision-log.ts";
import { keysUnder } from "../../src/store/keys.ts";
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

describeWithRedis("the episode log", () => {
  const testStore = useTestStore();
  const write = (...lines: LogLine[]) => testStore().store.log.write(lines);
  const read = (since = 0) => testStore().store.log.read([camera], since);
  const reasons = async () => (await read()).map(({ reason }) => reason);
  const keys = () => keysUnder(testStore().prefix);

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

  it("gives a decision of every sweep once, until there is another", async () => {
    const ignored = (at: number) => line(at, "no_location", { ruleId: undefined });
    for (let sweep = 0; sweep < 5; sweep++) await write(ignored(T0 + sweep));
    expect(await read()).toEqual([ignored(T0)]);
    expect(await read(T0 + 1)).toEqual([]);
    await write(line(T0 + 9, "observed_online", { ruleId: undefined }), ignored(T0 + 10), ignored(T0 + 11));
    expect(await reasons()).toEqual(["no_location", "observed_online", "no_location"]);
  });

  it("is written once by a delivery whose script is sent twice, also after its lease", async () => {
    const { store } = testStore();
    const slackHere = integration(slack);
    const alert = firing("cam");
    await commit(T0, fires(alert, to(slack)));
    const now = T0 + MINUTE;
    await store.groups.claim(slackHere, "t", now, 13 * SECOND);
    const notified = [{ alert, notifiedAt: now, groupId: "g" }];
    const lines = [
      line(now, "notified", { integration: slack, detail: "first" }),
      line(now, "reminded", { integration: slack }),
    ];
    const outcome = { now, sent: true, notified, over: [], unnotified: [], nextAt: now + HOUR, lines };
    await store.groups.settle(slackHere, "t", [{ group: "g", settle: outcome }]);
    await write(line(now + SECOND, "resolved"));
    await store.groups.settle(slackHere, "t", [{ group: "g", settle: outcome }]);
    expect((await read()).map(({ at, reason, detail }) => [at - now, reason, detail])).toEqual([
      [0, "notified", "first"],
      [0, "reminded", "1"],
      [SECOND, "resolved", undefined],
    ]);
  });

  it("prunes what is older than the history, in a list that grows and in one that is quiet", async () => {
    const { redis, store } = testStore();
    const quiet = { kind: "recording", id: "quiet" } as const;
    const days = [0, 0, 1, 92].map((day, i) => line(T0 + day * DAY + i, "firing"));
    await write(...days, line(T0, "pending", { subject: quiet }));
    await store.log.prune(T0 + 90 * DAY);
    expect(await read()).toEqual(days);
    await store.log.prune(T0 + 92 * DAY);
    expect(await read()).toEqual(days.slice(3));
    expect(await testStore().keys()).toEqual(["log:recording/cam", "logs"]);
    await write(line(T0 + 92 * DAY - 1, "late"));
    await store.log.prune(T0 + 182 * DAY);
    expect(await redis.zrange(keys().logs, 0, "-1")).toEqual(["recording/cam"]);
    await store.log.prune(T0 + 183 * DAY);
    expect(await testStore().keys()).toEqual([]);
  });

  it("takes the history it is configured with", async () => {
    const { log } = createStore(testStore().redis, testStore().prefix, { historyMs: HOUR });
    await log.write([line(T0, "pending"), line(T0 + 2 * HOUR, "firing")]);
    await log.prune(T0 + 2 * HOUR);
    expect(await reasons()).toEqual(["firing"]);
  });

  it("keeps the newest 500 lines of a busy subject", async () => {
    const lines = Array.from({ length: 620 }, (_, i) => line(T0 + i, i % 2 ? "firing" : "resolved"));
    await write(...lines);
    expect(await read()).toEqual(lines.slice(-500));
    expect(await testStore().redis.llen(keys().log("recording/cam"))).toBe(500);
  });

  it("prunes to as many lines as asked for: an equal share each, and not the subjects that are quiet longest", async () => {
    const { store } = testStore();
    const subjects = Array.from({ length: 6 }, (_, i) => ({ kind: "recording", id: `${i}` }) as const);
    const left = async () =>
      Promise.all(subjects.map(async (subject) => (await store.log.read([subject], 0)).map(({ at }) => at - T0)));
    const upTo = (last: number, count: number) => Array.from({ length: count }, (_, i) => last - count + 1 + i);
    for (const [i, subject] of subjects.entries()) {
      await write(...upTo(100 + i, 30).map((at) => line(T0 + at, "firing", { subject })));
    }
    await store.log.prune(T0 + HOUR, 6 * 30);
    expect(await left()).toEqual(subjects.map((_, i) => upTo(100 + i, 30)));
    await store.log.prune(T0 + HOUR, 6 * 20);
    expect(await left()).toEqual(subjects.map((_, i) => upTo(100 + i, 20)));
    await store.log.prune(T0 + HOUR, 40);
    expect(await left()).toEqual([[], [], [102], [102, 103], [102, 103, 104], [102, 103, 104, 105]]);
    expect(await testStore().keys()).toEqual([...["2", "3", "4", "5"].map((id) => `log:recording/${id}`), "logs"]);
  });
});
