import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { commit, fires, firing, T0, useTestStore } from "./fixtures.ts";

describeWithRedis("a text with half of an emoji in it", () => {
  const testStore = useTestStore();

  it.each([
    ["\ud800", "\ufffd"],
    ["cut \ud83d", "cut \ufffd"],
    ["\udc00 first", "\ufffd first"],
    ["a path\\ud800 and \\\ud800", "a path\\ud800 and \\\ufffd"],
    ["whole \u{1f3a5}", "whole \u{1f3a5}"],
  ])("%j is stored as %j with its alert, and fails no commit", async (text, stored) => {
    const { store } = testStore();
    const alert = { ...firing("a", T0, { location: text }), key: `RecordingOffline/recording/${text}` };
    await commit(T0, fires({ ...alert, annotations: { summary: text } }));
    const [read] = await store.shards.alerts();
    expect([read?.labels.location, read?.annotations.summary, read?.key]).toEqual([
      stored,
      stored,
      `RecordingOffline/recording/${stored}`,
    ]);
  });
});
