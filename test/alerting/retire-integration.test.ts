import { expect, test } from "vitest";
import type { GroupView } from "../../src/alerting/model.ts";
import { alertsAtRetirement, needsUpdate } from "../../src/alerting/needs-update.ts";
import type { Alert } from "../../src/health/alert.ts";
import { offlineAlert } from "../support/fixtures.ts";

const NOW = Date.UTC(2026, 2, 2, 8);

function alert(name: string, more: Partial<Alert> = {}): Alert {
  return offlineAlert(name, { id: name, key: name, startsAt: NOW - 60_000, ...more });
}

const unsure = new Map();

function farewell(alerts: readonly Alert[], notified: readonly Alert[], more: Partial<GroupView> = {}) {
  const log = new Map(notified.map((one) => [one.id, { alert: one, notifiedAt: NOW - 30_000, groupId: "g" }]));
  return needsUpdate({
    now: NOW,
    repeatIntervalMs: 3_600_000,
    sendResolved: true,
    dueSince: new Map(),
    alerts: alertsAtRetirement({ alerts, notified: log, unsure }, NOW),
    notified: log,
    unsure,
    ...more,
  });
}

const back = alert("back", { state: "resolved", endsAt: NOW - 5, updatedAt: NOW - 5, endReason: "recovered" });

test("what was told ends: as not sent here what still fires, as what it is what was over", () => {
  const dark = alert("dark");
  expect(farewell([dark, back], [dark, alert("back")])).toMatchObject({
    notify: "resolved",
    firing: [],
    resolved: [
      { id: "back", endReason: "recovered", endsAt: NOW - 5 },
      { id: "dark", endReason: "not_sent_here", endsAt: NOW },
    ],
    settled: ["back", "dark"],
  });
});

test("what was never told there is not spoken of, and stays for others to tell", () => {
  expect(farewell([alert("untold")], [])).toMatchObject({ notify: undefined, why: "empty", settled: [] });
});

test("who wants no ends gets none, and is done with all the same", () => {
  const dark = alert("dark");
  expect(farewell([dark], [dark], { sendResolved: false })).toMatchObject({
    notify: undefined,
    why: "send_resolved_off",
    settled: ["dark"],
  });
});
