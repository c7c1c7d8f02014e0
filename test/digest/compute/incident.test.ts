import { expect, test } from "vitest";
import { incidentOf } from "../../../src/digest/compute/incident.ts";
import { rule } from "../../health/shard-history.ts";

const rules = [
  rule("CameraDark", { kind: "status", status: "offline" }),
  rule("RecordingOffline", { kind: "status", status: "degraded" }),
  rule("Gone", { kind: "missing" }),
  rule("ShopDark", { kind: "location_offline", atLeast: 1, clearBelow: 0.8, minRecordings: 2 }),
];

test.each([
  ["CameraDark", "CameraDark", "offline"],
  ["RecordingOffline", "RecordingOffline", "other"],
  ["Gone", "Gone", "missing"],
  ["ShopDark", "ShopDark", "location_offline"],
  ["removed", "RecordingOffline", "offline"],
  ["removed", "SomethingElse", "other"],
  ["removed", "constructor", "other"],
] as const)("an alert of the rule %s named %s is %s", (ruleId, alertname, kind) => {
  const subject = { kind: "recording", id: "a" } as const;
  const incident = incidentOf({ ruleId, labels: { alertname }, subject, startsAt: 1, endsAt: 2 }, rules);
  expect(incident).toMatchObject({ alertname, kind, recordingId: "a", locationId: undefined, endsAt: 2 });
});

test("an alert of a location has no recording", () => {
  const subject = { kind: "location", id: "leeds" } as const;
  expect(incidentOf({ ruleId: "ShopDark", labels: {}, subject, startsAt: 1 }, rules)).toMatchObject({
    alertname: "ShopDark",
    recordingId: undefined,
    locationId: "leeds",
    endsAt: undefined,
  });
});
