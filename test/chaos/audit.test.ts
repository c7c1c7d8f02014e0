import { describe, expect, it } from "vitest";
import { noticesOfApp, readPayload } from "../../bench/chaos/notices.ts";
import { type KnownSuppression, withdrawnTogether } from "../../bench/chaos/suppressions.ts";
import { appLog, judged, kinds, type Scenario, second } from "./scenario.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** An outage of 20 s, its beginning and its end as they should be notified. */
const outage = "10-30";
const notified = "13+10 33-10";

describe("the audit of a chaos run", () => {
  it("accepts an outage that was notified and resolved", () => {
    const found = judged({ offline: outage, sent: notified });
    expect(found.verdicts).toEqual([]);
    expect(found).toMatchObject({ outages: 1, mustBeNotified: 1, notices: 2, doubled: { messages: 0 } });
    expect(found.delays).toEqual([
      expect.objectContaining({ ms: 3_040, kind: "firing", undisturbed: true }),
      expect.objectContaining({ ms: 3_040, kind: "recovered", undisturbed: true }),
    ]);
  });

  it.each<[string, string, Scenario]>([
    ["an outage never notified", "lost", { offline: outage }],
    ["the second of two outages", "lost", { offline: "10-30 60-80", sent: notified }],
    ["the first of two outages", "lost", { offline: "10-30 60-80", sent: "63+60 83-60" }],
    ["an end never notified", "unresolved", { offline: outage, sent: "13+10" }],
    ["an end missing before the next", "unresolved", { offline: "10-30 60-80", sent: "13+10 63+60 83-60" }],
    ["an alert without an outage", "false", { sent: "13+10 20-10" }],
    ["an alert that began while it was online", "false lost", { offline: outage, sent: "60+57 63-57" }],
    ["a notification as firing long after the end", "false", { offline: outage, sent: "60+10 61-10" }],
    ["a reminder after the end", "false", { offline: outage, sent: "13+10 60+10 61-10" }],
    ["a recovery notified while offline", "false", { offline: "10-60", sent: notified }],
    ["a notification before `for` was over", "false", { offline: outage, sent: "11+10 33-10" }],
    ["an outage notified as two alerts", "doubled", { offline: outage, sent: "13+10 33-10 34+11 36-11" }],
    ["a beginning repeated", "doubled", { offline: outage, sent: "13+10 20+10 33-10" }],
    ["an end repeated", "doubled", { offline: outage, sent: "13+10 33-10 50-10" }],
    ["an end repeated beside news", "doubled", { offline: "10-30 45-60", sent: "13+10 33-10 48-10,48+45 63-45" }],
    ["a beginning repeated after its end", "doubled false", { offline: outage, sent: "13+10 33-10 40+10 41-10" }],
    ["an alert about the service never resolved", "unresolved", { self: "13+10" }],
    ["an alert about the service repeated", "doubled", { self: "13+10 15+10 20-10" }],
    ["an integration it is not routed to", "false", { offline: outage, sent: notified, integrations: [] }],
    ["a notification while silenced", "false", { offline: outage, silenced: "5-25", sent: notified }],
    ["a reminder while silenced", "doubled false", { offline: outage, silenced: "14-60", sent: "13+10 25+10 33-10" }],
    ["what fires when its silence ends", "lost", { offline: "10-60", silenced: "5-25" }],
    ["a reminder while acknowledged", "false", { offline: "10-60", acknowledged: "15-200", sent: "13+10 40+10 63-10" }],
    ["a silenced alert never resolved", "unresolved", { offline: outage, silenced: "14-300", sent: "13+10" }],
    ["late notifications where nothing failed", "late late", { offline: outage, sent: notified, lateMs: 3_000 }],
  ])("sees %s", (_, expected, scenario) => {
    expect(kinds(scenario)).toBe(expected);
  });

  it.each<[string, Scenario]>([
    ["an outage that was over when the receiver was back", { offline: outage, sent: "60-10" }],
    ["the alert of either of two outages, one of which is required", { offline: "10-11 13-30", sent: "16+13 33-13" }],
    ["no notification of an outage shorter than `for`", { offline: "10-12" }],
    ["no notification of an outage that was not evaluated", { offline: outage, unjudged: "9-31" }],
    ["no notification of an outage that was not read", { offline: outage, unreachable: "9-31" }],
    ["one alert over two outages with an unread moment between", { offline: "10-30 31-50", sent: "13+10 53-10" }],
    ["an end and the next beginning in one message", { offline: "10-30 32-50", sent: "13+10 35-10,35+32 53-32" }],
    ["a reminder that is due", { offline: "10-60", sent: "13+10 33+10 63-10" }],
    ["an outage that ended during its silence", { offline: outage, silenced: "5-60" }],
    ["a notification as soon as a silence is over", { offline: "10-60", silenced: "5-25", sent: "25.2+10 63-10" }],
    ["an end while it is silenced", { offline: outage, silenced: "14-200", sent: notified }],
    ["an outage to the end of the run", { offline: "10-300", sent: "13+10 40+10" }],
    ["late notifications after a failure", { offline: outage, sent: notified, lateMs: 3_000, crashes: [12, 32] }],
  ])("accepts %s", (_, scenario) => {
    expect(kinds(scenario)).toBe("");
  });

  it("counts undisturbed answers, those evaluated, what was rightly not notified, and delays after a silence", () => {
    expect(judged({ unreachable: "100-110", unjudged: "200-249" }).answers).toEqual({ sure: 289, judged: 242 });
    expect(judged({ offline: outage, silenced: "5-60" })).toMatchObject({ excused: 1, mustBeNotified: 0 });
    expect(judged({ offline: "10-60", silenced: "5-25", sent: "26+10" }).delays[0]?.ms).toBe(1_040);
  });

  it("excuses one repeated message for each kill, and only of the message in flight then", () => {
    const twice = { offline: outage, sent: "13+10 20+10 33-10" };
    expect(judged({ ...twice, crashes: [13.3] })).toMatchObject({ verdicts: [], doubled: { messages: 1, excused: 1 } });
    expect(kinds({ ...twice, crashes: [19] })).toBe("doubled");
    const thrice = { offline: outage, sent: "13+10 13.5+10 20+10 33-10" };
    expect(kinds({ ...thrice, crashes: [13.6] })).toBe("doubled");
    expect(kinds({ ...thrice, crashes: [13.3, 13.6] })).toBe("");
    // What could not be committed before Redis was back.
    const slow = { offline: outage, sent: "13+10 26+10 33-10" };
    expect(kinds({ ...slow, redisDown: "12-22", crashes: [12, 20] })).toBe("");
    expect(kinds({ ...slow, crashes: [20] })).toBe("doubled");
    // A summary in flight, whose groups are notified again one by one.
    const summary = { offline: "10-30 10.2-30", sent: "13+10,13+10.2 20+10 21+10.2 33-10,33-10.2" };
    expect(judged({ ...summary, crashes: [13.3] }).doubled).toEqual({ messages: 2, excused: 2 });
  });

  it("has acknowledgements of one recording end together: a withdrawn one takes an earlier one with it", () => {
    const ack = (maybeFrom: number, surelyUntil: number, recordingIds = ["a"]): KnownSuppression => {
      return { kind: "ack", recordingIds, maybeFrom, surelyFrom: maybeFrom, surelyUntil, maybeUntil: surelyUntil };
    };
    const until = withdrawnTogether([ack(10, NEVER, ["a", "b"]), ack(20, 30), ack(40, NEVER)]);
    expect(until.map(({ recordingIds, surelyUntil }) => `${recordingIds} ${surelyUntil}`)).toEqual([
      "a 30",
      "b Infinity",
      "a 30",
      "a Infinity",
    ]);
  });
});

describe("the audit of the Slack app", () => {
  it.each<[string, string, ReturnType<typeof appLog>]>([
    ["accepts each beginning and each end once", "", appLog("3+till 33-till", {})],
    ["sees a beginning posted again", "repeated", appLog("3+till 16+till 33-till")],
    ["sees an end posted again, in a summary", "repeated", appLog("3+till 33-till 40-till,+door")],
    ["sees a root that stays red", "stale", appLog("3+till 33-till", { text: "🔴 Till 3 offline" })],
    ["sees buttons that stay", "stale", appLog("3+till 33-till", { hasButtons: true })],
    ["sees a root closed too soon", "stale", appLog("3+till,+door 33-till", {})],
    ["sees a post about no alert", "unreadable", appLog("3+till 33-till 34+other")],
  ])("%s", (_, expected, app) => {
    const found = judged({ app }).verdicts.filter(({ kind }) => kind !== "false" && kind !== "lost");
    expect(found.map(({ kind }) => kind).join()).toBe(expected);
  });

  it("reads posts and payloads as notices", () => {
    const about = { rule: "RecordingOffline", recordingId: "c1", startsAt: second(0) };
    const app = { ...about, integration: "app/0" };
    expect(noticesOfApp(appLog("3+till 33-till")).notices).toEqual([
      { ...app, at: second(3), message: 1_000, status: "firing", endsAt: undefined },
      { ...app, at: second(33), message: 1_001, status: "resolved", endsAt: second(30) },
    ]);
    const iso = (n: number) => new Date(second(n)).toISOString();
    const labels = { alertname: "RecordingOffline", recording_id: "c1" };
    const alerts = [{ status: "resolved", labels, startsAt: iso(0), endsAt: iso(30) }];
    const post = { path: "/webhook/3", headers: {}, text: JSON.stringify({ alerts }), receivedAt: second(33) };
    const notice = { ...about, integration: "webhook/3", at: second(33), message: 7, status: "resolved" };
    expect(readPayload(post, 7)).toEqual([{ ...notice, endsAt: second(30) }]);
  });
});

describe("the audit of incidents and escalations", () => {
  type Event = readonly [at: number, action: "trigger" | "acknowledge" | "resolve", key?: string, timestamp?: string];
  it.each<[string, string, readonly Event[], number]>([
    [
      "accepts an incident that was resolved",
      "",
      [
        [3, "trigger"],
        [9, "trigger"],
        [33, "resolve"],
      ],
      30,
    ],
    ["accepts one of what still fires", "", [[3, "trigger"]], NEVER],
    [
      "sees one never resolved",
      "unresolved",
      [
        [3, "trigger"],
        [20, "acknowledge"],
      ],
      30,
    ],
    [
      "accepts one of its own for what is new",
      "",
      [
        [3, "trigger"],
        [9, "trigger", "k2", "14:06"],
        [33, "resolve"],
        [33, "resolve", "k2"],
      ],
      30,
    ],
    [
      "sees two of one outage",
      "doubled",
      [
        [3, "trigger"],
        [9, "trigger", "k2"],
        [33, "resolve"],
        [33, "resolve", "k2"],
      ],
      30,
    ],
  ])("%s", (_, expected, events, endsAt) => {
    const incidents = events.map(([at, action, key = "k1", timestamp = "14:05"]) => {
      const trigger = { summary: "Till 3 offline", source: "Leeds", timestamp };
      return { at: second(at), integration: "pagerduty/0", action, key, ...(action === "trigger" && trigger) };
    });
    const app = appLog("3+till", undefined, endsAt);
    const episodes = new Map([...app.episodes].filter(([id]) => id === "till"));
    expect(kinds({ incidents, app: { ...app, posts: [], episodes } })).toBe(expected);
  });

  it.each<[string, string, string, number, string?]>([
    ["accepts one escalated and ended", "", "9+0 93-0", 90],
    ["accepts one over too soon", "", "", 20],
    ["accepts one acknowledged for a while", "", "", 90, "5-30"],
    ["accepts one notified late, as over", "", "40-0", 30],
    ["sees one missing", "lost", "", 90],
    ["sees one without its end", "unresolved", "9+0", 90],
    ["sees its end twice", "doubled", "9+0 93-0 99-0", 90],
    ["sees one while acknowledged", "false", "40+0 93-0", 90, "5-60"],
    ["sees one before its step", "false", "9-0", 4],
  ])("%s", (_, expected, phone, endsAt, acknowledged) => {
    const app = appLog("3+till", undefined, endsAt);
    const scenario = { offline: `0-${endsAt}`, phone, app, integrations: [], ...(acknowledged && { acknowledged }) };
    const found = judged(scenario).verdicts.filter(({ integration }) => integration === "phone/0");
    expect(found.map(({ kind }) => kind).join()).toBe(expected);
  });
});
