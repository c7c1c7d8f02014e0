import { expect, test } from "vitest";
import { HOUR, MINUTE, offlineRule, Story, uptimeRule } from "./shard-history.ts";

test.each([0, 4])(
  "an outage of two hours that was an alert explains LowUptime, also after one of %d minutes",
  (minutes) => {
    const story = new Story(offlineRule({ forMs: 2 * MINUTE, keepFiringForMs: 5 * MINUTE }), uptimeRule());
    story.sweep({ a: "online" });
    const heard = story.sweepFor(2 * HOUR, { a: "offline" });
    story.uptimes.set("a", 22 / 24);
    heard.push(...story.sweepFor(HOUR, { a: "online" }), ...story.sweepFor(minutes * MINUTE, { a: "offline" }));
    heard.push(...story.sweepFor(10 * HOUR, { a: "online" }));
    expect(heard).not.toContain("firing LowUptime/recording/a");
  },
);
