import { describe, expect, test } from "vitest";
import {
  degradedRule,
  emptyShard,
  HOUR,
  INTERVAL,
  MINUTE,
  missingRule,
  offlineRule,
  qualityRule,
  recording,
  rule,
  START,
  Story,
  uptimeRule,
} from "./shard-history.ts";

const KEY = "RecordingOffline/recording/a";

describe("a recording that goes dark", () => {
  test("is pending for two minutes, fires once, keeps firing for one and resolves once", () => {
    const story = new Story(offlineRule({ forMs: 2 * MINUTE, keepFiringForMs: MINUTE }));
    expect(story.sweep({ a: "online" })).toEqual([]);
    expect(story.reasons()).toEqual([]);
    expect(story.sweep({ a: "offline" })).toEqual([]);
    expect(story.reasons()).toEqual(["observed_offline", "RecordingOffline:pending"]);
    expect(story.last.decisions.at(-1)?.detail).toBe("2 m");
    expect(story.sweepFor(90_000, { a: "offline" }), "90 s held").toEqual([]);
    expect(story.reasons(), "nothing changed").toEqual([]);
    expect(story.sweep({ a: "offline" }), "120 s held").toEqual([`firing ${KEY}`]);
    expect(story.reasons()).toEqual(["RecordingOffline:firing"]);
    expect(story.sweepFor(10 * MINUTE, { a: "offline" })).toEqual([]);
    expect(story.sweep({ a: "online" })).toEqual([`updated ${KEY}`]);
    expect(story.reasons()).toEqual(["observed_online", "RecordingOffline:clearing"]);
    expect(story.sweep({ a: "online" }), "30 s clear").toEqual([]);
    expect(story.sweep({ a: "online" }), "60 s clear").toEqual([`resolved ${KEY} recovered`]);
    expect(story.alertState("a", "RecordingOffline")).toBeUndefined();
    expect(story.state.recordings.get("a")?.alerts).toBeUndefined();
  });

  test("that blinks back during keep_firing_for stays one episode", () => {
    const story = new Story(offlineRule({ keepFiringForMs: MINUTE }));
    story.sweep({ a: "offline" });
    const { id } = story.alert;
    expect(story.sweepFor(60_000, { a: "online" })).toEqual([`updated ${KEY}`]);
    expect(story.alertState("a", "RecordingOffline")?.facts.clearing).toBe(true);
    expect(story.sweep({ a: "offline" })).toEqual([`updated ${KEY}`]);
    expect(story.alertState("a", "RecordingOffline")?.facts.clearing).toBeUndefined();
    expect(story.reasons()).toContain("RecordingOffline:clearing_ended");
    expect(story.sweepFor(90_000, { a: "online" })).toEqual([`updated ${KEY}`, `resolved ${KEY} recovered`]);
    expect(story.alert.id).toBe(id);
  });

  test("says when it was found to fire, when it was back, and when each was written", () => {
    const story = new Story(offlineRule({ forMs: MINUTE, keepFiringForMs: MINUTE }));
    story.sweep({ a: "online" });
    story.sweepFor(90_000, { a: { status: "offline", lastSeenAt: START + 20_000 } });
    const firedAt = story.now;
    expect(story.alert).toMatchObject({
      id: `${KEY}@${firedAt}`,
      key: KEY,
      state: "firing",
      startsAt: START + 20_000,
      firedAt,
      updatedAt: firedAt,
    });
    expect(story.alert.endsAt).toBeUndefined();
    story.sweep({ a: "online" });
    const backAt = story.now;
    story.sweepFor(60_000, { a: "online" });
    expect(story.alert).toMatchObject({
      id: `${KEY}@${firedAt}`,
      state: "resolved",
      startsAt: START + 20_000,
      endsAt: backAt,
      updatedAt: story.now,
      endReason: "recovered",
    });
  });
});

describe("being blind", () => {
  test("failed sweeps neither add to `for` nor resolve", () => {
    const story = new Story(offlineRule({ forMs: 2 * MINUTE }));
    story.sweepFor(90_000, { a: "offline" });
    story.pass(HOUR);
    expect(story.sweep({ a: "offline" }), "60 s held, an hour unknown").toEqual([]);
    expect(story.sweep({ a: "offline" })).toEqual([]);
    expect(story.sweep({ a: "offline" })).toEqual([`firing ${KEY}`]);
    expect(story.alert.startsAt, "the problem is as old as it is").toBe(START + INTERVAL);
  });

  test.each([
    ["a status nobody knows", { a: "unknown" } as const, {}],
    ["a row that cannot be read", {}, { unreadable: ["a"] }],
    ["a row dropped whose recording cannot be told", {}, { unidentified: 1 }],
  ])("%s changes nothing", (_, rows, more) => {
    const story = new Story(offlineRule(), missingRule());
    story.sweep({ a: { status: "offline", lastSeenAt: START, averageQuality: 0.5 } });
    const before = story.state.recordings.get("a");
    expect(story.sweep(rows, more)).toEqual([]);
    expect(story.reasons()).toEqual([]);
    const { alerts, ...after } = story.state.recordings.get("a") ?? {};
    expect(after).toEqual({ ...before, alerts: undefined });
    expect(alerts).toEqual(before?.alerts);
    expect(story.sweep({ a: "online" })).toEqual([`resolved ${KEY} recovered`]);
  });

  test.each([
    ["LowQuality", qualityRule(), { averageQuality: 0.5 }, {}],
    ["LowQuality", qualityRule(), { averageQuality: 0.5 }, { status: "offline", averageQuality: 0.5 }],
    ["LowUptime", uptimeRule(), {}, {}],
    ["RecordingDegraded", degradedRule(), { status: "degraded" }, { status: "offline" }],
  ] as const)("%s ends a day after its evidence", (name, own, poor, without) => {
    const story = new Story(own);
    story.uptimes.set("a", 0.5);
    expect(story.sweep({ a: poor })).toEqual([`firing ${name}/recording/a`]);
    story.uptimes.clear();
    expect(story.sweepFor(23 * HOUR, { a: without })).toEqual([]);
    story.pass(48 * HOUR);
    expect(story.sweepFor(HOUR, { a: without }), "time without sweeps does not count").toEqual([]);
    expect(story.sweep({ a: without })).toEqual([`resolved ${name}/recording/a no_longer_watched`]);
    expect(story.state.recordings.has("a")).toBe(true);
  });

  test.each([
    ["whose status nobody knows", { a: "unknown" } as const, {}],
    ["whose row cannot be read", {}, { unreadable: ["a"] }],
  ])(
    "an alert of a recording %s goes on while it is in each answer, and until it is forgotten once it is not",
    (_, rows, more) => {
      const story = new Story(offlineRule());
      story.forgetAfterMs = 72 * HOUR;
      expect(story.sweep({ a: "offline" })).toEqual([`firing ${KEY}`]);
      for (let i = 0; i < 300; i++) expect(story.sweep(rows, more, 10 * MINUTE)).toEqual([]);
      expect(story.sweepFor(71 * HOUR, {})).toEqual([]);
      expect(story.sweepFor(HOUR, {})).toEqual([`resolved ${KEY} no_longer_watched`]);
    },
  );

  test("evidence in between begins the day anew, and a pending alert ends as well", () => {
    const story = new Story(qualityRule({ forMs: HOUR }));
    story.sweep({ a: { averageQuality: 0.5 } });
    story.sweepFor(23 * HOUR, { a: {} });
    story.sweep({ a: { averageQuality: 0.5 } });
    story.sweepFor(24 * HOUR - INTERVAL, { a: {} });
    expect(story.alertState("a", "LowQuality")?.state).toBe("pending");
    expect(story.sweep({ a: {} })).toEqual([]);
    expect(story.alertState("a", "LowQuality")).toBeUndefined();
  });

  test("a recording first seen with an unknown status is known, and has no status", () => {
    const story = new Story(offlineRule());
    expect(story.sweep({ a: "unknown" })).toEqual([]);
    expect(story.state.recordings.get("a")).toMatchObject({ status: undefined, readAt: 0, absentSince: undefined });
    expect(story.sweep({ a: "offline" })).toEqual([`firing ${KEY}`]);
  });
});

describe("degraded", () => {
  test("does not recover by going dark", () => {
    const story = new Story(degradedRule(), offlineRule());
    story.sweep({ a: "degraded" });
    expect(story.sweep({ a: "offline" })).toEqual([`firing ${KEY}`]);
    expect(story.sweep({ a: "degraded" })).toEqual([`resolved ${KEY} recovered`]);
    expect(story.sweep({ a: "online" })).toEqual(["resolved RecordingDegraded/recording/a recovered"]);
  });
});

describe("quality", () => {
  const at = (averageQuality: number | undefined) => ({ a: { averageQuality } });

  test("fires below the threshold, keeps its state in between, ends at the upper one", () => {
    const story = new Story(qualityRule());
    expect(story.sweep(at(0.7)), "0.7 is not below 0.7").toEqual([]);
    expect(story.sweep(at(0.69))).toEqual(["firing LowQuality/recording/a"]);
    expect(story.sweep(at(0.6899)), "in between").toEqual([]);
    expect(story.sweep(at(0.7999))).toEqual(["updated LowQuality/recording/a"]);
    expect(story.sweep(at(0.8))).toEqual(["resolved LowQuality/recording/a recovered"]);
    expect(story.sweep(at(0.75)), "in between, from above").toEqual([]);
  });

  test("is as it is now wherever the alert is shown, to a per cent; what it was at first stays in its description", () => {
    const story = new Story(qualityRule());
    story.sweep(at(0.66));
    for (const quality of [0.658, 0.6499, 0.5, 0.505, 0.49, 0.66, 0.71]) {
      story.sweep(at(quality));
      const shown = story.alertState("a", "LowQuality")?.facts.averageQuality ?? 0;
      expect(Math.abs(shown - quality)).toBeLessThan(0.01);
    }
    expect(story.alertState("a", "LowQuality")?.annotations.description).toContain(
      "was 66 %, below 70 %, when this began",
    );
  });

  test("is not judged while offline, and not without a figure", () => {
    const story = new Story(qualityRule());
    expect(story.sweep({ a: { status: "offline", averageQuality: 0 } })).toEqual([]);
    expect(story.sweep({ a: { status: "degraded", averageQuality: 0.1 } })).toEqual(["firing LowQuality/recording/a"]);
    expect(story.sweep({ a: { status: "offline", averageQuality: 0.99 } })).toEqual([]);
    expect(story.sweep(at(undefined))).toEqual([]);
    expect(story.sweep(at(0.99))).toEqual(["resolved LowQuality/recording/a recovered"]);
  });

  test("a lower threshold of one rule does not hide another rule's", () => {
    const strict = qualityRule({
      id: "Strict",
      alert: "Strict",
      when: { kind: "average_quality", below: 0.9, clearAbove: 0.9 },
    });
    const story = new Story(qualityRule(), strict);
    story.sweep(at(0.99));
    expect(story.sweep(at(0.85))).toEqual(["firing Strict/recording/a"]);
  });
});

describe("online, and nothing arrives", () => {
  const notUploading = () =>
    rule("RecordingNotUploading", { kind: "segments_received", below: 0.05, clearAbove: 0.5, overMs: HOUR });

  test("fires and ends by the figure, and waits without one or while it is not online", () => {
    const story = new Story(notUploading());
    expect(story.sweep({ a: "online" })).toEqual([]);
    story.uptimes.set("a", 0.02);
    expect(story.sweep({ a: "online" })).toEqual(["firing RecordingNotUploading/recording/a"]);
    expect(story.alert.facts).toMatchObject({ problem: "not_uploading", arrived: 0.02 });
    expect(story.alert.startsAt, "of hours long before it came online nothing is said").toBe(START + INTERVAL);
    expect(story.alert.annotations.description).toBe(
      "The share of expected segments that arrived, over 1h, was 2 %, below 5 %, when this began; the alert ends at 50 %.",
    );
    story.uptimes.set("a", 0.4);
    expect(story.sweep({ a: "online" }), "in between").toEqual(["updated RecordingNotUploading/recording/a"]);
    story.uptimes.set("a", 1);
    expect(story.sweep({ a: "offline" }), "offline is no evidence").toEqual([]);
    expect(story.sweep({ a: "online" })).toEqual(["resolved RecordingNotUploading/recording/a recovered"]);
  });

  test("begins no later than the hour without segments", () => {
    const story = new Story(notUploading());
    story.sweepFor(3 * HOUR, { a: "online" });
    story.uptimes.set("a", 0);
    story.sweep({ a: "online" });
    expect(story.now - story.alert.startsAt).toBe(75 * MINUTE);
  });

  test("the hours that it lost are no news as low uptime afterwards", () => {
    const story = new Story(notUploading(), uptimeRule());
    const at = { online: 1, uptime: 1 };
    story.context = () => ({
      ...Story.prototype.context.call(story),
      uptime: (_, figure) => (typeof figure === "number" ? at.uptime : at.online),
    });
    story.sweepFor(3 * HOUR, { a: "online" });
    at.online = 0;
    expect(story.sweep({ a: "online" })).toEqual(["firing RecordingNotUploading/recording/a"]);
    at.online = 1;
    at.uptime = 0.93;
    expect(story.sweep({ a: "online" })).toEqual(["resolved RecordingNotUploading/recording/a recovered"]);
    expect(story.sweepFor(HOUR, { a: "online" })).toEqual([]);
  });

  test("a recording that was last seen too long ago fires, online and with a time only", () => {
    const story = new Story(rule("NotSeen", { kind: "last_seen", olderThanMs: 15 * MINUTE }));
    const lastSeenAt = START;
    story.sweepFor(14 * MINUTE, { a: { lastSeenAt }, b: {}, c: { status: "offline", lastSeenAt } });
    expect(story.sweepFor(2 * MINUTE, { a: { lastSeenAt }, b: {}, c: { status: "offline", lastSeenAt } })).toEqual([
      "firing NotSeen/recording/a",
    ]);
    expect(story.alertState("a", "NotSeen")?.startsAt).toBe(START);
    expect(story.sweep({ a: {} }), "no evidence").toEqual([]);
    expect(story.sweep({ a: { lastSeenAt: story.now } })).toEqual(["resolved NotSeen/recording/a recovered"]);
  });
});

describe("uptime", () => {
  test("fires and ends by the figure, and waits without one", () => {
    const story = new Story(uptimeRule());
    expect(story.sweep({ a: "online" }), "no figure").toEqual([]);
    story.uptimes.set("a", 0.94);
    expect(story.sweep({ a: "online" })).toEqual(["firing LowUptime/recording/a"]);
    expect(story.alert.facts.overallUptime).toBe(0.94);
    story.uptimes.delete("a");
    expect(story.sweep({ a: "online" }), "no figure is no recovery").toEqual([]);
    story.uptimes.set("a", 0.96);
    expect(story.sweep({ a: "online" }), "in between").toEqual(["updated LowUptime/recording/a"]);
    story.uptimes.set("a", 0.97);
    expect(story.sweep({ a: "online" })).toEqual(["resolved LowUptime/recording/a recovered"]);
  });

  test.for([
    ["that was an alert of its own does not begin within the window after it", 45 * MINUTE, 0],
    ["too short to explain it begins", 20 * MINUTE, 1],
  ] as const)("low for an outage %s", ([, outageMs, times]) => {
    const story = new Story(offlineRule({ forMs: 2 * MINUTE }), uptimeRule());
    story.sweep({ a: "online" });
    story.sweepFor(outageMs, { a: "offline" });
    story.uptimes.set("a", 0.94);
    const moved = [...story.sweepFor(23 * HOUR, { a: "online" })];
    expect(moved.filter((one) => one === "firing LowUptime/recording/a")).toHaveLength(times);
    expect(story.sweepFor(2.2 * HOUR, { a: "online" }), "still low").toEqual(
      times === 0 ? ["firing LowUptime/recording/a"] : [],
    );
  });

  test("low after an outage that nobody was notified of begins at once", () => {
    const story = new Story(uptimeRule());
    story.sweep({ a: "online" });
    story.sweepFor(45 * MINUTE, { a: "offline" });
    story.uptimes.set("a", 0.94);
    expect(story.sweep({ a: "online" })).toEqual(["firing LowUptime/recording/a"]);
  });
});

describe("outside the schedule", () => {
  test("nothing fires, and what fires is paused, not resolved", () => {
    const story = new Story(offlineRule());
    story.inSchedule = false;
    expect(story.sweep({ a: "offline" })).toEqual([]);
    story.inSchedule = true;
    expect(story.sweep({ a: "offline" })).toEqual([`firing ${KEY}`]);
    story.inSchedule = false;
    expect(story.sweep({ a: "online" })).toEqual([`updated ${KEY}`]);
    expect(story.alert.facts).toMatchObject({ paused: true, schedule: "outside" });
    expect(story.reasons()).toEqual(["observed_online", "RecordingOffline:outside_schedule"]);
    expect(story.sweep({ a: "online" }), "said once").toEqual([]);
    story.inSchedule = true;
    expect(story.sweep({ a: "online" })).toEqual([`resolved ${KEY} recovered`]);
  });
});

describe("outside the schedule, more closely", () => {
  test("a pending alert waits, and counts only time within", () => {
    const story = new Story(offlineRule({ forMs: 2 * MINUTE }));
    story.sweepFor(90_000, { a: "offline" });
    story.inSchedule = false;
    expect(story.sweepFor(12 * HOUR, { a: "offline" })).toEqual([]);
    story.inSchedule = true;
    expect(story.sweep({ a: "offline" }), "the night does not count").toEqual([]);
    expect(story.reasons()).toEqual(["RecordingOffline:within_schedule"]);
    expect(story.sweepFor(90_000, { a: "offline" })).toEqual([`firing ${KEY}`]);
  });

  test("what fires goes on when the schedule begins anew", () => {
    const story = new Story(offlineRule());
    story.sweep({ a: "offline" });
    const { id } = story.alert;
    story.inSchedule = false;
    expect(story.sweepFor(12 * HOUR, { a: "offline" })).toEqual([`updated ${KEY}`]);
    story.inSchedule = true;
    expect(story.sweep({ a: "offline" })).toEqual([`updated ${KEY}`]);
    expect(story.alert).toMatchObject({ id, state: "firing" });
    expect(story.alert.facts.paused).toBeUndefined();
  });

  test("a rule that does not respect it judges all the same, and says where it stands", () => {
    const story = new Story(offlineRule({ respectSchedule: false }));
    story.inSchedule = false;
    expect(story.sweep({ a: "offline" })).toEqual([`firing ${KEY}`]);
    expect(story.alert.facts).toMatchObject({ schedule: "outside" });
    expect(story.alert.facts.paused).toBeUndefined();
    expect(story.sweep({ a: "online" })).toEqual([`resolved ${KEY} recovered`]);
  });

  test("where the schedule is not known it is reported, and the alert says so", () => {
    const story = new Story(offlineRule());
    story.schedules.set("a", "unknown");
    expect(story.sweep({ a: "offline" })).toEqual([`firing ${KEY}`]);
    expect(story.alert.facts.schedule).toBe("unknown");
  });

  test("an outage from before the schedule began says when it began", () => {
    const story = new Story(offlineRule());
    story.inSchedule = false;
    story.sweep({ a: "offline" });
    story.pass(12 * HOUR);
    story.inSchedule = true;
    story.scheduleBegan = story.now;
    story.sweep({ a: "offline" });
    expect(story.alert.annotations.description).toMatch(
      / Its uploading schedule began at 2026-03-02 20:00 UTC; before, it was not expected to upload\.$/,
    );
  });

  test("states outside of it are not counted as flapping, unless the rule does not ask", () => {
    for (const [respectSchedule, notified] of [
      [true, 0],
      [false, 1],
    ] as const) {
      const story = new Story(
        rule("RecordingFlapping", { kind: "flapping", high: 0.3, low: 0.2 }, { respectSchedule }),
      );
      story.inSchedule = false;
      let fired = 0;
      for (let minute = 0; minute < 10; minute++) {
        const said = story.sweepFor(MINUTE, { a: minute % 2 === 0 ? "online" : "offline" });
        fired += said.filter((one) => one.startsWith("firing")).length;
      }
      expect(fired).toBe(notified);
    }
  });
});

describe("labels and annotations", () => {
  test("name what is known under the rule's own, leave out what is not, and are generated otherwise", async () => {
    const labels = { severity: "critical", team: "" };
    const annotations = { summary: "Call Dana", runbook_url: "https://example.com/r" };
    const story = new Story(offlineRule({ labels, annotations }), qualityRule(), uptimeRule());
    story.recordings.set("a", recording("a", { organisation: "" }));
    story.recordings.set("c", recording("c", { name: "" }));
    story.locations.set("L1", { id: "L1", name: "Leeds Briggate", timezone: undefined });
    story.uptimes.set("b", 0.5);
    story.sweep({ a: { status: "offline", lastSeenAt: START }, b: { averageQuality: 0.65 }, c: "offline" });
    const told = story.last.transitions.map(({ alert }) => {
      return { key: alert.key, labels: alert.labels, annotations: alert.annotations, timezone: alert.facts.timezone };
    });
    await expect(`${JSON.stringify(told, undefined, 1)}\n`).toMatchFileSnapshot("labels.txt");
  });

  test("are frozen from pending until resolved", () => {
    const story = new Story(offlineRule({ forMs: MINUTE, labels: { severity: "critical" } }));
    story.recordings.set("a", recording("a"));
    story.sweep({ a: "offline" });
    story.recordings.set("a", recording("a", { name: "Renamed" }));
    story.rules = [offlineRule({ forMs: MINUTE, labels: { severity: "warning" } })];
    story.sweepFor(MINUTE, { a: "offline" });
    const fired = story.alert;
    expect(fired.labels).toMatchObject({ recording: "Camera a", severity: "critical" });
    story.sweep({ a: "online" });
    expect(story.alert.labels).toEqual(fired.labels);
    expect(story.alert.annotations).toEqual(fired.annotations);
  });
});

describe("which recordings are judged", () => {
  test("rows of other locations and excluded ones are ignored", () => {
    const story = new Story(offlineRule());
    story.locationIds = ["L1", "L3"];
    story.excluded = new Set(["b", "L3"]);
    story.sweep({
      a: { status: "offline", locationId: "elsewhere" },
      b: "offline",
      c: { status: "offline", locationId: "L3" },
    });
    expect(story.last.transitions).toEqual([]);
    expect(story.state.recordings.size).toBe(0);
    expect([...story.state.locations.keys()]).toEqual(["L1"]);
  });

  test("a row without a location falls back on what was known, then on the inventory", () => {
    const story = new Story(offlineRule());
    story.locationIds = ["L1", "L2"];
    story.recordings.set("b", recording("b", { locationId: "L2" }));
    story.sweep({ a: "online" });
    story.sweep({ a: { locationId: undefined }, b: { locationId: undefined }, c: { locationId: undefined } });
    expect(story.state.recordings.get("a")?.locationId).toBe("L1");
    expect(story.state.recordings.get("b")?.locationId).toBe("L2");
    expect(story.state.recordings.has("c")).toBe(false);
    expect(story.last.decisions).toEqual([
      { subject: { kind: "recording", id: "c" }, ruleId: undefined, reason: "no_location", at: story.now },
    ]);
  });

  test("one that moved to another location keeps its identity and its alert", () => {
    const story = new Story(offlineRule());
    story.locationIds = ["L1", "L2"];
    story.sweep({ a: "offline" });
    expect(story.sweep({ a: { status: "offline", locationId: "L2" } })).toEqual([]);
    expect(story.reasons()).toEqual(["moved"]);
    expect(story.state.recordings.get("a")?.locationId).toBe("L2");
    expect(story.sweep({ a: { status: "online", locationId: "L2" } })).toEqual([`resolved ${KEY} recovered`]);
    expect(story.alert.labels.location_id, "frozen").toBe("L1");
  });

  test("of two rows of one recording the first counts", () => {
    const story = new Story(offlineRule());
    story.sweep({ a: "online" });
    const rows = ["offline", "online"] as const;
    const readings = rows.map((status) => ({
      recordingId: "a",
      locationId: "L1",
      status,
      lastSeenAt: undefined,
      averageQuality: undefined,
    }));
    story.pass(INTERVAL);
    expect(story.judge({ readings, unreadable: ["a"], unidentified: 0 })).toEqual([`firing ${KEY}`]);
    expect(story.state.recordings.get("a")?.status).toBe("offline");
  });
});

describe("alerts that end without recovering", () => {
  test("a location that leaves the list ends its alerts as no longer watched", () => {
    const story = new Story(offlineRule());
    story.locationIds = ["L1", "L2"];
    story.sweep({ a: "offline", b: { status: "offline", locationId: "L2" } });
    story.locationIds = ["L2"];
    expect(story.sweep({ b: { status: "offline", locationId: "L2" } })).toEqual([`resolved ${KEY} no_longer_watched`]);
    expect([...story.state.recordings.keys()]).toEqual(["b"]);
  });

  test("so does a row that shows the recording at a location not watched, and an exclusion", () => {
    const story = new Story(offlineRule());
    story.sweep({ a: "offline", b: "offline" });
    story.excluded.add("b");
    expect(story.sweep({ a: { status: "offline", locationId: "elsewhere" }, b: "offline" }).sort()).toEqual([
      `resolved ${KEY} no_longer_watched`,
      "resolved RecordingOffline/recording/b no_longer_watched",
    ]);
    expect(story.state.recordings.size).toBe(0);
  });

  test("a shard left without locations ends what it knew, though it asked nothing", () => {
    const story = new Story(offlineRule());
    story.sweep({ a: "offline" });
    story.locationIds = [];
    expect(story.sweep({}, { unidentified: 1 })).toEqual([`resolved ${KEY} no_longer_watched`]);
    expect(story.state.recordings.size + story.state.locations.size).toBe(0);
  });

  test("a rule gone from the configuration ends its alerts, pending ones silently", () => {
    const story = new Story(offlineRule(), degradedRule({ forMs: HOUR }));
    story.sweep({ a: "offline", b: "degraded" });
    story.rules = [];
    expect(story.sweep({ a: "offline", b: "degraded" })).toEqual([`resolved ${KEY} rule_removed`]);
    expect(story.reasons()).toEqual(["RecordingOffline:rule_removed", "RecordingDegraded:rule_removed"]);
    expect(story.state.recordings.get("a")?.alerts).toBeUndefined();
  });

  describe("an alert whose rule is changed", () => {
    const quality = { kind: "average_quality", below: 0.7, clearAbove: 0.8 } as const;
    const KEY = "LowQuality/recording/a";
    const strict = qualityRule({ when: { ...quality, below: 0.5, clearAbove: 0.55 }, keepFiringForMs: MINUTE });

    test("so that its condition is no longer met does not end as recovered, whatever keep_firing_for is", () => {
      for (const keepFiringForMs of [0, MINUTE, HOUR]) {
        const story = new Story(qualityRule());
        story.sweep({ a: { averageQuality: 0.6 } });
        story.rules = [{ ...strict, keepFiringForMs }];
        const ends: string[] = [];
        for (let i = 0; i < 125; i++) ends.push(...story.sweep({ a: { averageQuality: 0.6 } }));
        expect(ends.at(-1)).toBe(`resolved ${KEY} rule_changed`);
        expect(ends.filter((one) => one.startsWith("resolved"))).toHaveLength(1);
      }
    });

    test("to another kind of condition does not end as recovered", () => {
      const story = new Story(qualityRule());
      story.sweep({ a: { averageQuality: 0.6 } });
      story.rules = [qualityRule({ when: { kind: "status", status: "offline" } })];
      expect(story.sweep({ a: { averageQuality: 0.6 } })).toEqual([`resolved ${KEY} rule_changed`]);
      expect(story.reasons()).toEqual(["LowQuality:rule_changed"]);
    });

    test("and was met again since recovers as any other", () => {
      const story = new Story(qualityRule());
      story.sweep({ a: { averageQuality: 0.4 } });
      story.rules = [strict];
      expect(story.sweep({ a: { averageQuality: 0.4 } })).toEqual([]);
      const ends: string[] = [];
      for (let i = 0; i < 5; i++) ends.push(...story.sweep({ a: { averageQuality: 0.9 } }));
      expect(ends).toEqual([`updated ${KEY}`, `resolved ${KEY} recovered`]);
    });

    test("in its labels, annotations or times only recovers as any other", () => {
      const story = new Story(qualityRule());
      story.sweep({ a: { averageQuality: 0.6 } });
      story.rules = [qualityRule({ labels: { severity: "info" }, annotations: { summary: "s" }, forMs: HOUR })];
      expect(story.sweep({ a: { averageQuality: 0.9 } })).toEqual([`resolved ${KEY} recovered`]);
    });
  });

  test("a rule named like an object's own property is a rule like any other", () => {
    const story = new Story(offlineRule({ id: "__proto__" }), qualityRule({ id: "constructor" }));
    expect(story.sweep({ a: "offline" })).toEqual(["firing __proto__/recording/a"]);
    expect(story.sweep({ a: "offline" })).toEqual([]);
    expect(story.sweep({ a: { averageQuality: 0.1 } })).toEqual([
      "resolved __proto__/recording/a recovered",
      "firing constructor/recording/a",
    ]);
  });
});

test("a healthy fleet makes no news at all", () => {
  const story = new Story(offlineRule(), degradedRule(), qualityRule(), uptimeRule(), missingRule());
  const rows = { a: { averageQuality: 0.9 }, b: { averageQuality: 0.7 } };
  for (let i = 0; i < 3; i++) {
    expect(story.sweep(rows)).toEqual([]);
    expect(story.reasons()).toEqual([]);
  }
  expect(emptyShard.recordings.size, "nothing leaks into the start state").toBe(0);
});
