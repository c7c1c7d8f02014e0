import { describe, expect, test } from "vitest";
import { sinceWhen } from "../../src/health/shard-state.ts";
import { INTERVAL, MINUTE, START, Story } from "./shard-history.ts";

const NOW = START + 10 * MINUTE;

describe("since when", () => {
  const online = (lastSeenAt: number | undefined) => ({ status: "online" as const, since: START, lastSeenAt });
  const rows: [string, Parameters<typeof sinceWhen>[0], number | undefined, number][] = [
    ["it went dark at its last contact", online(NOW - 5 * MINUTE), NOW - 2 * MINUTE, NOW - 2 * MINUTE],
    ["also when that is the very contact we saw", online(NOW - 2 * MINUTE), NOW - 2 * MINUTE, NOW - 2 * MINUTE],
    ["a contact before the last online one is not believed", online(NOW - MINUTE), NOW - 2 * MINUTE, NOW],
    ["first seen dark, it went dark at its last contact", undefined, NOW - 300 * MINUTE, NOW - 300 * MINUTE],
    ["without a last contact, when first seen dark", online(NOW - MINUTE), undefined, NOW],
    ["a contact up to 60 s in the future is a clock's error", online(undefined), NOW + MINUTE, NOW],
    ["a contact further in the future is not believed", online(undefined), NOW + MINUTE + 1, NOW],
    ["the epoch is no contact", undefined, 0, NOW],
  ];
  test.each(rows)("%s", (_, previous, lastSeenAt, expected) => {
    expect(sinceWhen(previous, { status: "offline", lastSeenAt }, NOW)).toBe(expected);
  });

  test("it stays while the status stays, unless it was seen since then", () => {
    const previous = { status: "offline" as const, since: START, lastSeenAt: undefined };
    for (const [lastSeenAt, since] of [
      [undefined, START],
      [START + 1_000, START],
      [NOW - MINUTE, NOW - MINUTE],
      [NOW + 10 * MINUTE, START],
    ] as const)
      expect(sinceWhen(previous, { status: "offline", lastSeenAt }, NOW)).toBe(since);
    const online = { ...previous, status: "online" as const };
    expect(sinceWhen(online, { status: "online", lastSeenAt: NOW - MINUTE }, NOW)).toBe(START);
  });

  test("online and degraded begin when first seen", () => {
    const previous = { status: "offline" as const, since: START, lastSeenAt: undefined };
    for (const status of ["online", "degraded"] as const) {
      expect(sinceWhen(previous, { status, lastSeenAt: NOW - MINUTE }, NOW)).toBe(NOW);
    }
  });

  test("an outage that began while nobody looked is as old as its last contact", () => {
    const story = new Story();
    story.sweep({ a: { lastSeenAt: START } });
    story.pass(60 * MINUTE);
    story.sweep({ a: { status: "offline", lastSeenAt: START + 10 * MINUTE } });
    expect(story.state.recordings.get("a")).toMatchObject({
      status: "offline",
      since: START + 10 * MINUTE,
      readAt: story.now,
      lastSeenAt: START + 10 * MINUTE,
      onlineSeenAt: START,
    });
  });

  test("an online row without a contact keeps the last one seen online", () => {
    const story = new Story();
    story.sweep({ a: { lastSeenAt: START + 10_000 } });
    story.sweep({ a: "degraded" });
    expect(story.state.recordings.get("a")).toMatchObject({
      status: "degraded",
      since: START + 2 * INTERVAL,
      lastSeenAt: undefined,
      onlineSeenAt: START + 10_000,
    });
  });

  test("an online row without a contact keeps the last one, also where nothing else changed", () => {
    const story = new Story();
    story.sweep({ a: { lastSeenAt: START + 10_000 } });
    story.sweep({ a: "online" });
    expect(story.state.recordings.get("a")).toMatchObject({ lastSeenAt: undefined, onlineSeenAt: START + 10_000 });
    story.sweep({ a: { status: "offline", lastSeenAt: START } });
    expect(story.state.recordings.get("a")?.since, "a contact before that is not believed").toBe(story.now);
  });

  test("one that is back after it was missing is present, though nothing else changed", () => {
    const story = new Story();
    story.sweep({ a: "online", b: "online" });
    story.sweep({ b: "online" });
    expect(story.state.recordings.get("a")?.absentSince).toBe(START + INTERVAL);
    story.sweep({ a: "online", b: "online" });
    expect(story.state.recordings.get("a")?.absentSince).toBeUndefined();
  });
});
