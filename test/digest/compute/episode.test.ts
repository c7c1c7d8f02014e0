import { expect, test } from "vitest";
import { parseMatchers } from "../../../src/alerting/matcher.ts";
import { digestEpisode, otherAlerts } from "../../../src/digest/compute/episode.ts";
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
  const episode = digestEpisode({ ruleId, labels: { alertname }, subject, startsAt: 1, endsAt: 2 }, rules);
  expect(episode).toMatchObject({ alertname, kind, recordingId: "a", locationId: undefined, endsAt: 2 });
});

test("an alert about recordings that share a label counts in the digests that its labels match", () => {
  const subject = { kind: "group", id: "camera_server/edge-7" } as const;
  const labels = { alertname: "CameraServerOffline", camera_server: "edge-7", organisation: "Acme" };
  const episode = digestEpisode({ ruleId: "x", labels, subject, startsAt: 1, endsAt: 3 }, rules);
  expect(episode).toMatchObject({ kind: "other", recordingId: undefined, locationId: undefined });
  const scope = (text: string) =>
    ({ episodes: [episode], period: { from: 0, to: 10, label: "" }, now: 10, matchers: parseMatchers(text) }) as never;
  expect(otherAlerts(scope("organisation=Acme"), new Map(), new Map())).toMatchObject([
    { alertname: "CameraServerOffline", count: 1 },
  ]);
  expect(otherAlerts(scope("organisation=Other"), new Map(), new Map())).toEqual([]);
});

test("an alert of a location has no recording", () => {
  const subject = { kind: "location", id: "leeds" } as const;
  expect(digestEpisode({ ruleId: "ShopDark", labels: {}, subject, startsAt: 1 }, rules)).toMatchObject({
    alertname: "ShopDark",
    recordingId: undefined,
    locationId: "leeds",
    endsAt: undefined,
  });
});
