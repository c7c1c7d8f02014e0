import { describe, expect, test } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { messageOf } from "../../src/notify/message.ts";
import { alertOf, endedOf, MINUTE, NOW, notificationOf } from "./fixtures.ts";

const FLAPPING = { labels: { alertname: "RecordingFlapping" } };
const facts = (more: Partial<NotifiedAlert["facts"]>) => ({
  timezone: "Europe/London",
  problem: "flapping" as const,
  ...more,
});
const begun = (name: string) =>
  alertOf(name, {
    ...FLAPPING,
    startsAt: NOW - 9 * MINUTE,
    facts: facts({ changes: 6, changesSince: NOW - 9 * MINUTE, status: "online", averageQuality: 0.9 }),
  });
const steady = (name: string, status: "online" | "offline" | "degraded", more: Partial<NotifiedAlert> = {}) =>
  endedOf(name, {
    ...FLAPPING,
    startsAt: NOW - 40 * MINUTE,
    endsAt: NOW,
    facts: facts({ status, statusSince: NOW - 12 * MINUTE, changes: 4 }),
    ...more,
  });
const said = (changes: Partial<Notification>) => messageOf(notificationOf(changes), 50);
const lines = (changes: Partial<Notification>) =>
  said(changes).sections.flatMap(({ entries }) =>
    entries.map((entry) => [entry.name, entry.facts].filter((part) => part !== "").join(": ")),
  );

describe("the message about a flapping recording", () => {
  test("how often it changed, and since when", () => {
    expect(said({ firing: [begun("Till 3")] }).title).toBe("🔴 Till 3 flapping · Leeds Briggate");
    expect(lines({ firing: [begun("Till 3")] })).toEqual(["6 changes in 9 m, since 14:08 GMT (9 m)"]);
  });

  test("in a reminder, how often lately and since when in all", () => {
    const long = { ...begun("Till 3"), startsAt: NOW - 240 * MINUTE, isNew: false };
    expect(lines({ reason: "reminder", firing: [long] })).toEqual(["6 changes in 9 m, since 10:17 GMT (4 h)"]);
  });

  test.each([
    ["online", "✅", "recovered"],
    ["offline", "⚪", "info"],
    ["degraded", "⚪", "info"],
  ] as const)("once it is steady, that it is %s", (status, sign, tone) => {
    const message = said({ reason: "resolved", resolved: [steady("Till 3", status)] });
    expect(message.title).toBe(`${sign} Till 3 steady again, ${status} · Leeds Briggate — after 40 m`);
    expect(message.tone).toBe(tone);
    expect(lines({ reason: "resolved", resolved: [steady("Till 3", status)] })).toEqual([
      `${status[0]?.toUpperCase()}${status.slice(1)} since 14:05 GMT (12 m) · was flapping 13:37–14:17 GMT`,
    ]);
  });

  test("of several, how many are in which state", () => {
    const resolved = [steady("Till 3", "online"), steady("Till 4", "offline"), steady("Till 5", "online")];
    expect(said({ reason: "resolved", resolved }).title).toBe(
      "⚪ Steady again: 2 recordings online, 1 offline · Leeds Briggate — after 40 m",
    );
  });

  test("together with the end of the outage from before it flapped", () => {
    const both = { reason: "resolved" as const, resolved: [endedOf("Till 3"), steady("Till 3", "online")] };
    expect(said(both).title).toBe("✅ Till 3 recovered · Leeds Briggate — after up to 40 m");
    expect(said(both).tone).toBe("recovered");
    expect(lines(both)).toHaveLength(2);
    const worse = { ...both, resolved: [endedOf("Till 3"), steady("Till 3", "degraded")] };
    expect(said(worse).title).toBe("⚪ Till 3 recovered · Leeds Briggate — after up to 40 m, 1 recording degraded");
    expect(said(worse).tone).toBe("info");
  });

  test("beside one that is offline still, that it is steady and not that it recovered", () => {
    const dark = alertOf("Till 3", { isNew: false });
    const message = said({ reason: "resolved", firing: [dark], resolved: [steady("Till 3", "offline")] });
    expect(message.title).toBe("🔴 Till 3 still offline · Leeds Briggate — 1 steady again");
    expect(message.sections.map(({ heading }) => heading)).toEqual(["Still firing (1)", "Resolved (1)"]);
  });

  test("no state, where it is only watched no more", () => {
    const gone = steady("Till 3", "online", { endReason: "no_longer_watched" });
    const message = { reason: "resolved" as const, resolved: [gone] };
    expect(said(message).title).toBe("⚪ Till 3 no longer watched · Leeds Briggate — flapping when last read");
    expect(lines(message)).toEqual(["Flapping 13:37–14:17 GMT (40 m)"]);
  });
});
