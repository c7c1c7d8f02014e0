import { expect, test } from "vitest";
import { MINUTE, offlineRule, Story } from "./shard-history.ts";

test("an alert of a recording that has been outside its schedule for nine days is over", () => {
  const story = new Story(offlineRule({ forMs: 2 * MINUTE }));
  story.sweepFor(5 * MINUTE, { a: "offline" });
  story.inSchedule = false;
  for (let i = 0; i < 7 * 24; i++) story.sweep({ a: "offline" }, {}, 60 * MINUTE);
  expect(story.alertState("a", "RecordingOffline")?.state).toBe("firing");
  for (let i = 0; i < 2 * 24; i++) story.sweep({ a: "offline" }, {}, 60 * MINUTE);
  expect(story.alertState("a", "RecordingOffline")).toBeUndefined();
});
