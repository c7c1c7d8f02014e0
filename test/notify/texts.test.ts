/** Words that were unclear, wrong in number, or said twice. */
import { expect, it } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { messageOf } from "../../src/notify/message.ts";
import { mrkdwn } from "../../src/notify/slack/mrkdwn.ts";
import { alertOf, endedOf, MINUTE, notificationOf, otherAlert } from "./fixtures.ts";

const message = (changes: Partial<Notification>) => messageOf(notificationOf(changes), 50);
const low = (name: string) =>
  alertOf(name, { isNew: false, facts: { timezone: "Europe/London", problem: "low_quality", averageQuality: 0.5 } });
const removed = (name: string) => ({ ...endedOf(name), endReason: "rule_removed" }) as const;
const place = { location_id: "1", location: "Leeds Briggate" };
const location = (facts: Partial<NotifiedAlert["facts"]>, more: Partial<NotifiedAlert> = {}) =>
  otherAlert("location", "1", { alertname: "X", ...place }, { facts: { timezone: "UTC", ...facts }, ...more });

it.each<[string, Partial<Notification>]>([
  [
    "⚪ 2 recordings: rule removed · Leeds Briggate — offline when last read",
    { resolved: [removed("A"), removed("B")] },
  ],
  ["⚪ A: rule removed · Leeds Briggate — offline when last read", { resolved: [removed("A")] }],
  [
    "⚪ A: most locations counted far fewer visitors than usual · Leeds Briggate — counts too low when last read",
    {
      resolved: [
        { ...endedOf("A"), endReason: "dropped_together", facts: { timezone: "Europe/London", problem: "counts_low" } },
      ],
    },
  ],
  ["🔴 Leeds Briggate: counts too low", { firing: [location({ problem: "counts_low" })] }],
  [
    "🔴 A still with low quality · Leeds Briggate — no longer offline",
    { firing: [low("A")], resolved: [endedOf("A")] },
  ],
  [
    "🔴 2 recordings still with low quality · Leeds Briggate — 1 no longer offline, 1 recovered",
    { firing: [low("A"), low("B")], resolved: [endedOf("A"), endedOf("C")] },
  ],
])("its title is %s", (title, changes) => {
  expect(message(changes).title).toBe(title);
});

it("an escalation says its time as other durations are said", () => {
  const { lead } = message({ firing: [alertOf("A")], receiver: "phone", escalatedAfterMs: 90 * MINUTE });
  expect(lead).toContain("Escalated to phone: not acknowledged for 1 h 30 m.");
});

it("numbers have their thousands apart", () => {
  const { sections } = message({
    firing: [alertOf("A")],
    resolved: [
      location(
        { problem: "location_offline", offline: 12_345, of: 20_000 },
        { state: "resolved", endReason: "recovered", isNew: false },
      ),
    ],
  });
  expect(sections.flatMap(({ entries }) => entries.map(({ facts }) => facts)).join("\n")).toContain(
    "12,345 of 20,000 recordings still offline",
  );
});

it("the recordings that an alert covers are not counted where fewer have an alert than are offline", () => {
  const offline = { problem: "location_offline", offline: 4, of: 4, offlineNames: ["Door", "Entrance"] } as const;
  const notes = (recordings: number) =>
    message({
      firing: [location(offline, { standsFor: { recordings, locations: 0, names: ["Entrance"] } })],
    }).sections.flatMap(({ entries }) => entries.flatMap((one) => one.notes));
  expect(notes(1)).toEqual(["Offline: Door, Entrance and 2 more"]);
  expect(notes(4)).toEqual(["Covers 4 recordings: Entrance and 3 more"]);
});

it("a time is searchable in Slack, and no name is an emoji", () => {
  expect(mrkdwn("since 14:16:20 GMT")).toBe("since 14:16:20 GMT");
  expect(mrkdwn(":fire:")).not.toContain(":fire:");
  expect(mrkdwn(":+1: a:100:b")).not.toMatch(/:\+1:|:100:/);
});
