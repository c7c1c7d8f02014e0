import { expect, test } from "vitest";
import { sentenceOf } from "../../src/alerting/decision-log.ts";
import { notifyErrorCodes, suppressionReasons } from "../../src/alerting/model.ts";
import { decisionReasons } from "../../src/health/evaluation.ts";

const at = { ruleId: "RecordingOffline", integration: "ops/slack/0" };

test.each([
  [{ ruleId: undefined, reason: "observed_offline" }, "seen offline"],
  [{ ruleId: "RecordingOffline", reason: "pending" }, "RecordingOffline: condition met, fires after `for`"],
  [
    { ruleId: "RecordingOffline", reason: "pending", detail: "2 m" },
    "RecordingOffline: condition met, fires after `for` (2 m)",
  ],
  [{ ruleId: undefined, reason: "no_longer_watched" }, "no longer watched"],
  [{ ruleId: "LowUptime", reason: "no_longer_watched" }, "LowUptime: resolved, no longer watched"],
  [{ ...at, reason: "notified", detail: "first" }, "RecordingOffline: notified ops/slack/0"],
  [{ ...at, reason: "notified", detail: "more" }, "RecordingOffline: notified ops/slack/0, with its group"],
  [
    { ...at, reason: "notified", detail: "started" },
    "RecordingOffline: notified ops/slack/0, in the summary of a cold start",
  ],
  [
    { ...at, reason: "notified_end", detail: "rule_removed" },
    "RecordingOffline: notified ops/slack/0 of its end: rule removed",
  ],
  [{ ...at, reason: "reminded", detail: "3" }, "RecordingOffline: reminder sent to ops/slack/0 (3 so far)"],
  [
    { ...at, reason: "failed", detail: "timeout" },
    "RecordingOffline: not sent to ops/slack/0 yet, retrying: no answer in time",
  ],
  [
    { ...at, reason: "inhibited", detail: "LocationOffline/location/shop@1772438400000" },
    "RecordingOffline: inhibited by LocationOffline/location/shop; not sent to ops/slack/0",
  ],
  [
    { ...at, reason: "acknowledged", detail: "dana" },
    "RecordingOffline: acknowledged by dana; no reminder sent to ops/slack/0",
  ],
  [
    { ...at, reason: "escalation", detail: "2026-11-22 03:15 UTC" },
    "RecordingOffline: escalates to ops/slack/0 at 2026-11-22 03:15 UTC",
  ],
  [{ ...at, reason: "notified", detail: "escalated" }, "RecordingOffline: escalated to ops/slack/0"],
  [
    { ...at, reason: "not_escalated", detail: "acknowledged by dana" },
    "RecordingOffline: not escalated to ops/slack/0: acknowledged by dana",
  ],
  [
    { ...at, reason: "stopped_by_the_moon", detail: "full" },
    "RecordingOffline: stopped by the moon at ops/slack/0 (full)",
  ],
  [{ ruleId: undefined, reason: "constructor" }, "constructor"],
])("%j reads %j", (line, words) => {
  expect(sentenceOf(line)).toBe(words);
});

test("every decision has words of its own", () => {
  const plain = decisionReasons.filter((reason) => {
    const spelled = reason.replaceAll("_", " ");
    const said = [undefined, "R"].map((ruleId) => sentenceOf({ ruleId, reason }));
    return said.every((words) => words === spelled || words === `R: ${spelled}`);
  });
  expect(plain).toEqual([]);
});

test("every suppression reason has words of its own", () => {
  const said = suppressionReasons.map((reason) => sentenceOf({ ...at, reason, detail: "x" }));
  expect(said.filter((words) => words.endsWith("(x)"))).toEqual([]);
});

test("every way of failing has words of its own", () => {
  const said = notifyErrorCodes.map((detail) => sentenceOf({ ...at, reason: "failed", detail }));
  expect(new Set(said).size).toBe(notifyErrorCodes.length);
});
