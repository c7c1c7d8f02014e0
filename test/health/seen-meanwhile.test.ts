import { expect, test } from "vitest";
import { HOUR, MINUTE, offlineRule, START, Story } from "./shard-history.ts";

test("a recording that was last seen five minutes ago has not been offline for six hours", () => {
  const story = new Story(offlineRule({ forMs: 2 * MINUTE }));
  story.sweep({ a: { status: "online", lastSeenAt: START } });
  story.sweep({ a: { status: "offline", lastSeenAt: START + 10_000 } });
  story.pass(6 * HOUR);
  const seen = story.now - 5 * MINUTE;
  const heard = story.sweepFor(3 * MINUTE, { a: { status: "offline", lastSeenAt: seen } });
  expect(heard).toEqual(["firing RecordingOffline/recording/a"]);
  expect(story.alertState("a", "RecordingOffline")?.startsAt).toBe(seen);
});
