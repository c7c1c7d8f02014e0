import { describe, expect, it } from "vitest";
import {
  type AppLog,
  type AppPost,
  type AppRoot,
  auditApp,
  type Episode,
  noticesOfApp,
} from "../../bench/chaos/app-posts.ts";
import { traceOf } from "../../src/alerting/conversation.ts";

const START = Date.UTC(2026, 10, 20, 14, 5);
const second = (n: number) => START + 1_000 * n;

const till: Episode = {
  id: "offline/till@1",
  recordingId: "c1",
  recording: "Leeds Till 3",
  locationId: "l1",
  location: "Leeds",
  isFlapping: false,
  startsAt: START,
  endsAt: second(30),
};
const door: Episode = { ...till, id: "offline/door@2", recordingId: "c2", recording: "Leeds Door", endsAt: undefined };
const begins = traceOf("+", till.id);
const ends = traceOf("-", till.id);

function post(at: number, traces: readonly string[], text = "🔴 Till 3 offline"): AppPost {
  return { at: second(at), integration: "app/0", conversation: "a1", traces, text, number: at };
}

function log(posts: readonly AppPost[], roots: readonly Partial<AppRoot>[] = []): AppLog {
  const root = {
    at: second(3),
    integration: "app/0",
    conversation: "a1",
    text: "✅ Till 3 recovered",
    hasButtons: false,
  };
  const episodes = new Map([till, door].map((one) => [one.id, one]));
  return { posts, roots: roots.map((one) => ({ ...root, ...one })), episodes };
}

describe("what the Slack app posted", () => {
  it("is a notice for each alert that a post is about", () => {
    const { notices, unreadable } = noticesOfApp(log([post(3, [begins]), post(33, [ends]), post(34, ["0123456789"])]));
    const common = { integration: "app/0", subject: "Leeds Till 3", beganMinute: 5 };
    expect(notices).toEqual([
      { ...common, at: second(3), message: 3, kind: "firing", lastedMs: 3_000 },
      { ...common, at: second(33), message: 33, kind: "recovered", lastedMs: 30_000 },
    ]);
    expect(unreadable).toEqual([expect.stringContaining("0123456789, which is no alert")]);
    expect(noticesOfApp(log([post(33, [ends])])).notices[0]?.kind).toBe("late");
  });

  it("reads a reminder, which is news of nothing", () => {
    const text = "🔴 Reminder: Leeds Till 3 still offline — 12 s\nSince 14:05:00 UTC (12 s)";
    expect(noticesOfApp(log([post(12, [], text)])).notices).toMatchObject([{ kind: "still", subject: "Leeds Till 3" }]);
  });

  it.each<[string, string[], AppLog]>([
    ["accepts each beginning and each end once", [], log([post(3, [begins]), post(33, [ends])], [{}])],
    ["sees a beginning posted again", ["repeated"], log([post(3, [begins]), post(16, [begins]), post(33, [ends])])],
    [
      "sees an end posted again, in a summary",
      ["repeated"],
      log([post(3, [begins]), post(33, [ends]), post(40, [ends])]),
    ],
    [
      "sees a root that stays red",
      ["stale"],
      log([post(3, [begins]), post(33, [ends])], [{ text: "🔴 Till 3 offline" }]),
    ],
    ["sees buttons that stay", ["stale"], log([post(3, [begins]), post(33, [ends])], [{ hasButtons: true }])],
    ["sees a root closed too soon", ["stale"], log([post(3, [begins, traceOf("+", door.id)]), post(33, [ends])], [{}])],
  ])("%s", (_, kinds, of) => {
    expect(auditApp(of).map(({ kind }) => kind)).toEqual(kinds);
  });
});
