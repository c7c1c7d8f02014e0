/** A note never repeats the title or the line above it. */

import { describe, expect, test } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { evaluateSelf } from "../../src/health/evaluate-self.ts";
import { locationEvaluator } from "../../src/health/location-evaluator.ts";
import type { Condition, Rule } from "../../src/health/model.ts";
import { recordingEvaluator } from "../../src/health/recording-evaluator.ts";
import { problemKindOf } from "../../src/health/rule.ts";
import type { Inventory } from "../../src/health/shard-state.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { messageOf } from "../../src/notify/message.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { renderRoot } from "../../src/notify/slack/conversation.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { renderTeams } from "../../src/notify/teams.ts";
import { aRecording, aRecordingState } from "../support/fixtures.ts";
import { limitsBroken, type SlackBody } from "../support/slack-sink.ts";
import { alertOf, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const labels = { recording: "Till 3", location: "Leeds", location_id: "leeds" };
const inventory: Inventory = {
  recording: (id) => aRecording(id, { name: "Till 3", locationId: "leeds", cameraServer: "" }),
  location: (id) => ({ id, name: "Leeds", timezone: "Europe/London" }),
};
/** With a quality and an uptime of 40 %. */
const poorly = recordingEvaluator(
  {
    state: aRecordingState("t3", { locationId: "leeds", readAt: NOW, averageQuality: 0.4 }),
    read: true,
    missing: false,
  },
  {
    now: NOW,
    intervalMs: 30_000,
    inventory,
    uptime: () => 0.4,
    inSchedule: () => true,
    scheduleOf: () => undefined,
    scheduleBegan: () => undefined,
  },
);
const ruleOf = (when: Condition, annotations = {}): Rule => ({
  id: "Own",
  alert: "Own",
  when,
  forMs: 0,
  keepFiringForMs: 0,
  respectSchedule: true,
  labels: {},
  annotations,
});

function notesOf(alert: NotifiedAlert): readonly string[] {
  return messageOf(notificationOf({ firing: [alert] }), 10).sections[0]?.entries[0]?.notes ?? [];
}

describe("the generated annotations of a rule with any name", () => {
  const notesOfRecording = (when: Condition, own = {}) => {
    const rule = ruleOf(when, own);
    const { annotations } = poorly.describe(rule, NOW);
    const { restated } = poorly.facts(rule);
    const facts = { timezone: "Europe/London", problem: problemKindOf(when), restated };
    return notesOf(alertOf("Till 3", { labels, annotations, facts }));
  };

  test.each<[string, Condition, string[]]>([
    ["offline", { kind: "status", status: "offline" }, []],
    [
      "of low quality",
      { kind: "average_quality", below: 0.7, clearAbove: 0.8 },
      ["Average quality was 40 %, below 70 %, when this began; the alert ends at 80 %."],
    ],
    [
      "of low uptime",
      { kind: "overall_uptime", below: 0.955, clearAbove: 0.97, overMs: 86_400_000 },
      ["Uptime over 1d was 40 % (segments missing), below 95.5 %, when this began; the alert ends at 97 %."],
    ],
  ])("do not repeat that a recording is %s", (_, when, notes) => {
    expect(notesOfRecording(when)).toEqual(notes);
  });

  test("stay beside the description that a rule sets", () => {
    const when = { kind: "average_quality", below: 0.7, clearAbove: 0.8 } as const;
    expect(notesOfRecording(when, { description: "Clean the lens." })).toEqual([
      "Quality of Till 3 at Leeds is below 70 %",
      "Clean the lens.",
    ]);
  });

  const ofLocation = (own = {}) => {
    const when = { kind: "location_offline", atLeast: 1, clearBelow: 0.8, minRecordings: 2 } as const;
    const rule = ruleOf(when, own);
    const evaluator = locationEvaluator("leeds", undefined, inventory);
    const { annotations } = evaluator.describe(rule, NOW);
    const facts = { timezone: "Europe/London", problem: problemKindOf(when), restated: evaluator.facts(rule).restated };
    return otherAlert("location", "leeds", labels, { annotations, facts });
  };

  test("leave out how many recordings of a location were offline at first", () => {
    expect(notesOf(ofLocation())).toEqual([]);
    expect(notesOf(ofLocation({ description: "Call the manager." }))).toEqual(["Call the manager."]);
  });
});

describe("an unreachable service", () => {
  const rule = ruleOf({ kind: "service", state: "unreachable" });
  const error = "It answered 503.";
  const failing = { goodAt: NOW - 600_000, attemptedAt: NOW, error };
  const evidence = { shards: [failing], inventory: failing, uptimes: [failing], integrations: [] };
  const context = {
    now: NOW,
    rules: [rule],
    intervalMs: 30_000,
    uptimeIntervalMs: 300_000,
    inventoryIntervalMs: 3_600_000,
    requestTimeoutMs: 0,
  };

  test("is stated by the title, and not by a note too", () => {
    const [transition] = evaluateSelf({}, evidence, context).transitions;
    const alert = transition?.alert;
    expect(alert?.annotations.summary).toBe("The analytics service is unreachable");
    const { labels = {}, annotations = {}, facts } = alert ?? {};
    const notes = notesOf(otherAlert("service", "analytics", labels, { annotations, ...(facts && { facts }) }));
    expect(notes).toEqual([expect.stringContaining(error)]);
    expect(notes).not.toContain(annotations.summary);
  });
});

test("a reminder is marked in its title", () => {
  const { title, lead } = messageOf(
    notificationOf({ reason: "reminder", firing: [alertOf("A", { isNew: false })] }),
    5,
  );
  expect(title).toMatch(/^🔴 Reminder: /);
  expect(lead).toEqual([]);
});

describe("notes that several recordings of one location share", () => {
  const impact = "the location usually counts 970 entries on a Friday";
  const dark = (name: string, zones: string, changes: Partial<NotifiedAlert> = {}) =>
    alertOf(name, { annotations: { description: "Camera server 7.", zones, impact }, ...changes });
  const firing = [dark("A", "Ground"), dark("B", "First", { isNew: false }), dark("C", "Second")];
  const occurrences = (text: string, of: string) => text.split(of).length - 1;

  test("appear once in Slack, within its limits, beside the notes of each recording", () => {
    const body = renderSlack(notificationOf({ reason: "more", firing })) as SlackBody;
    expect(limitsBroken(body)).toEqual([]);
    const text = JSON.stringify(body.attachments);
    expect([impact, "Camera server 7.", "Zone "].map((part) => occurrences(text, part))).toEqual([1, 1, 3]);
  });

  test("appear once in each form of a mail", () => {
    const [from, to] = ["a@b.example", "c@d.example"];
    const mail = renderEmail(notificationOf({ firing }), { from, sender: from, to: [to], recipient: to });
    expect(occurrences(mail.text, impact)).toBe(1);
    expect(occurrences(mail.html?.split("&#847;").at(-1) ?? "", impact)).toBe(1);
  });

  test("belong to the entry of a single recording", () => {
    const message = messageOf(notificationOf({ firing: [dark("A", "Ground")] }), 5);
    expect(message.common).toEqual([]);
    expect(message.sections[0]?.entries[0]?.notes).toContain(`Impact: ${impact}`);
  });

  test("belong to each entry where there are several locations", () => {
    const york = { labels: { alertname: "RecordingOffline", location: "York", location_id: "york" } };
    const message = messageOf(notificationOf({ firing: [dark("A", "x"), dark("B", "y", york)] }), 5);
    expect(message.common).toEqual([]);
    expect(message.sections[0]?.entries.map(({ notes }) => notes.at(-2))).toEqual([
      `Impact: ${impact}`,
      `Impact: ${impact}`,
    ]);
  });

  test("are cut where they do not fit into a Slack message", () => {
    const annotations = { description: "&".repeat(400), impact };
    const body = renderSlack(notificationOf({ firing: ["A", "B"].map((name) => alertOf(name, { annotations })) }));
    expect(limitsBroken(body as SlackBody)).toEqual([]);
    expect(JSON.stringify(body)).not.toContain("&amp;&amp;");
  });
});

describe("on every channel", () => {
  const [from, to] = ["a@b.example", "c@d.example"];
  const everyForm = (notification: Notification) => [
    renderEmail(notification, { from, sender: from, to: [to], recipient: to }).text,
    ...[renderSlack, renderRoot, renderTeams, (of: Notification) => renderPagerDuty(of, { sendResolved: true })].map(
      (render) => JSON.stringify(render(notification), null, 1),
    ),
  ];

  test("a single alert has its name in the title alone, and no empty name", () => {
    for (const text of everyForm(
      notificationOf({ firing: [alertOf("Leeds Briggate Quay")], externalUrl: undefined }),
    )) {
      const lines = text.split("\n").filter((line) => line.includes("Since 14:05"));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => /Quay offline\S*.*Quay|["\n] ?[:·] Since|\*\*/.test(line))).toEqual([]);
    }
  });

  test("a heading counts its alerts once", () => {
    const firing = [alertOf("A", { isNew: false }), alertOf("B")];
    for (const text of everyForm(notificationOf({ reason: "more", firing }))) expect(text).not.toMatch(/\(1\) \(1\)/);
  });
});
