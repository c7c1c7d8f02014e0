import { expect, test } from "vitest";
import { HOUR, INTERVAL, MINUTE, offlineRule, Story } from "./shard-history.ts";

test.each([
  ["nothing is read", 0],
  ["it is outside its schedule", 1],
])("an outage of 10 minutes stays one, though %s for hours before it has resolved", (_, isNight) => {
  const story = new Story(offlineRule({ forMs: 2 * MINUTE, keepFiringForMs: 5 * MINUTE }));
  story.sweep({ a: "online" });
  story.sweepFor(10 * MINUTE, { a: "offline" });
  const back = story.now + INTERVAL;
  story.sweepFor(3 * MINUTE, { a: "online" });
  if (isNight) {
    story.inSchedule = false;
    story.sweepFor(10 * HOUR, { a: "offline" });
    story.inSchedule = true;
  } else story.pass(6 * HOUR);
  for (let i = 0; i < 6; i++) {
    story.sweep({ a: "online" });
    const ended = story.last.transitions.find(({ kind }) => kind === "resolved");
    if (ended) expect((ended.alert.endsAt ?? 0) - back).toBe(0);
  }
  expect.assertions(1);
});
