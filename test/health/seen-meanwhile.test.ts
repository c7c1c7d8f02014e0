import { describe, expect, test } from "vitest";
import { HOUR, INTERVAL, MINUTE, offlineRule, rule, SECOND, START, Story } from "./shard-history.ts";

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

describe("an alert that fires", () => {
  const story = () => new Story(offlineRule({ forMs: 2 * MINUTE, keepFiringForMs: 5 * MINUTE }));
  const offline = (lastSeenAt: number) => ({ a: { status: "offline", lastSeenAt } }) as const;

  test.each([0, 1])(
    "ends where its recording was seen hours later, offline again (seen online first: %d)",
    (isBack) => {
      const one = story();
      one.sweep({ a: "online" });
      one.sweepFor(10 * MINUTE, offline(START));
      const wasBack = one.now + INTERVAL;
      if (isBack) one.sweep({ a: "online" });
      one.pass(6 * HOUR);
      const seen = one.now - 5 * MINUTE;
      expect(one.sweep(offline(seen))).toEqual(["resolved RecordingOffline/recording/a recovered"]);
      expect(one.alert).toMatchObject({ startsAt: START, endsAt: isBack ? wasBack : seen });
      expect(one.sweepFor(2 * MINUTE, offline(seen))).toEqual(["firing RecordingOffline/recording/a"]);
      expect(one.alert.startsAt).toBe(seen);
    },
  );

  test.each([
    ["its recording cannot have been well for keep_firing_for", 5 * MINUTE],
    ["readings come in time, whatever they say of the last contact", INTERVAL],
  ])("goes on where %s", (_, gapMs) => {
    const one = story();
    one.sweep({ a: "online" });
    one.sweepFor(10 * MINUTE, offline(START));
    for (let i = 0; i < 20; i++) {
      one.pass(gapMs - INTERVAL);
      expect(one.sweep(offline(one.now + INTERVAL - SECOND))).toEqual([]);
    }
    expect(one.alertState("a", "RecordingOffline")?.startsAt).toBe(START);
  });

  test("ends where its recording was online for minutes before readings came late, and seen after keep_firing_for", () => {
    const one = story();
    one.sweep({ a: "online" });
    one.sweepFor(10 * MINUTE, offline(START));
    const wasBack = one.now + INTERVAL;
    one.sweepFor(3 * MINUTE, { a: "online" });
    one.pass(4 * MINUTE);
    expect(one.sweep(offline(one.now))).toEqual(["resolved RecordingOffline/recording/a recovered"]);
    expect(one.alert.endsAt).toBe(wasBack);
  });

  test("goes on with the flapping that it is part of", () => {
    const flapping = rule(
      "RecordingFlapping",
      { kind: "flapping", high: 0.15, low: 0.1 },
      { keepFiringForMs: 10 * HOUR },
    );
    const one = new Story(flapping, offlineRule());
    one.sweepFor(15 * MINUTE, { a: "online" });
    const said = [1, 2, 3, 4].flatMap(() => [...one.sweep(offline(one.now)), ...one.sweep({ a: "online" })]);
    expect(said).toContain("firing RecordingFlapping/recording/a");
    one.pass(6 * HOUR);
    expect(one.sweep(offline(one.now)).filter((did) => !did.startsWith("updated"))).toEqual([]);
  });
});
