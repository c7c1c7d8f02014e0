import { expect, test } from "vitest";
import { HOUR, INTERVAL, MINUTE, offlineRule, START, Story, uptimeRule } from "../health/shard-history.ts";

test.each([1, 4])("an uptime of 0.7 is low, also of a camera that is %d minutes late each morning", (late) => {
  const story = new Story(offlineRule({ forMs: 2 * MINUTE, keepFiringForMs: 5 * MINUTE }), uptimeRule());
  const heard: string[] = [];
  let seen = START;
  for (let day = 0; day < 5; day++) {
    if (day === 2) story.uptimes.set("a", 0.7);
    for (let ms = 0; ms < 24 * HOUR; ms += INTERVAL) {
      // START is 08:00; open for 14 hours.
      story.inSchedule = ms < 14 * HOUR;
      const isOffline = !story.inSchedule || ms < late * MINUTE;
      if (!isOffline) seen = story.now + INTERVAL;
      heard.push(...story.sweep({ a: { status: isOffline ? "offline" : "online", lastSeenAt: seen } }));
    }
  }
  expect(heard).toContain("firing LowUptime/recording/a");
});
