import { expect, test } from "vitest";
import { sentenceOf } from "../../src/alerting/decision-log.ts";
import { notifyErrorCodes, suppressionReasons } from "../../src/alerting/model.ts";
import { decisionReasons } from "../../src/health/evaluation.ts";
import { timesSeenAt } from "../../src/lib/when.ts";

const sent = { ruleId: "RecordingOffline", integration: "ops/slack/0" };
const at = (instant: number) => timesSeenAt(0, "Europe/Berlin").at(instant, "UTC");

test.each([
  [{ ruleId: undefined, reason: "observed_offline" }, "seen offline"],
  [{ ruleId: "RecordingOffline", reason: "pending" }, "RecordingOffline: condition met, fires after `for`"],
  [
    { ruleId: "RecordingOffline", reason: "pending", detail: "2 m" },
    "RecordingOffline: condition met, fires after `for` (2 m)",
  ],
  [{ ruleId: undefined, reason: "no_longer_watched" }, "no longer watched"],
  [{ ruleId: "LowUptime", reason: "no_longer_watched" }, "LowUptime: resolved, no longer watched"],
  [{ ...sent, reason: "notified", detail: "first" }, "RecordingOffline: notified Slack (ops)"],
  [{ ...sent, reason: "notified", detail: "more" }, "RecordingOffline: notified Slack (ops), with its group"],
  [
    { ...sent, reason: "notified", detail: "started" },
    "RecordingOffline: notified Slack (ops), in the summary of a cold start",
  ],
  [
    { ...sent, reason: "notified_end", detail: "rule_removed" },
    "RecordingOffline: notified Slack (ops) of its end: rule removed",
  ],
  [{ ...sent, reason: "reminded", detail: "3" }, "RecordingOffline: reminder sent to Slack (ops) (3 so far)"],
  [
    { ...sent, reason: "failed", detail: "timeout" },
    "RecordingOffline: not sent to Slack (ops) yet, retrying: no answer in time",
  ],
  [
    { ...sent, reason: "inhibited", detail: "LocationOffline (Leeds)" },
    "RecordingOffline: inhibited by LocationOffline (Leeds); not sent to Slack (ops)",
  ],
  [
    { ...sent, reason: "acknowledged", detail: "dana" },
    "RecordingOffline: acknowledged by dana; no reminder sent to Slack (ops)",
  ],
  [{ ...sent, reason: "escalation", until: 3_600_000 }, "RecordingOffline: escalates to Slack (ops) at 02:00 CET"],
  [{ ...sent, reason: "notified", detail: "escalated" }, "RecordingOffline: escalated to Slack (ops)"],
  [
    { ...sent, reason: "not_escalated", detail: "acknowledged by dana" },
    "RecordingOffline: not escalated to Slack (ops): acknowledged by dana",
  ],
  [
    { ...sent, reason: "stopped_by_the_moon", detail: "full" },
    "RecordingOffline: stopped by the moon at Slack (ops) (full)",
  ],
  [{ ruleId: undefined, reason: "constructor" }, "constructor"],
])("%j reads %j", (line, words) => {
  expect(sentenceOf(line, at)).toBe(words);
});

test("every decision has words of its own", () => {
  const plain = decisionReasons.filter((reason) => {
    const spelled = reason.replaceAll("_", " ");
    const said = [undefined, "R"].map((ruleId) => sentenceOf({ ruleId, reason }, at));
    return said.every((words) => words === spelled || words === `R: ${spelled}`);
  });
  expect(plain).toEqual([]);
});

test("every suppression reason has words of its own", () => {
  const said = suppressionReasons.map((reason) => sentenceOf({ ...sent, reason, detail: "x" }, at));
  expect(said.filter((words) => words.endsWith("(x)"))).toEqual([]);
});

test("every way of failing has words of its own", () => {
  const said = notifyErrorCodes.map((detail) => sentenceOf({ ...sent, reason: "failed", detail }, at));
  expect(new Set(said).size).toBe(notifyErrorCodes.length);
});
