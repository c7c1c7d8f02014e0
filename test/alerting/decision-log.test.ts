import { expect, test } from "vitest";
import { sentenceOf } from "../../src/alerting/decision-log.ts";
import { notifyErrorCodes } from "../../src/alerting/notification.ts";
import { suppressionReasons } from "../../src/alerting/suppression.ts";
import { decisionReasons } from "../../src/health/evaluation.ts";

const at = { ruleId: "RecordingOffline", integration: "ops/slack/0" };

test.each([
  [{ ruleId: undefined, reason: "observed_offline" }, "seen offline"],
  [
    { ruleId: "RecordingOffline", reason: "pending" },
    "RecordingOffline: the condition holds; it fires once `for` has passed",
  ],
  [{ ruleId: undefined, reason: "no_longer_watched" }, "not watched any more"],
  [
    { ruleId: "LowUptime", reason: "no_longer_watched" },
    "LowUptime: ended, what it spoke of is not watched any more",
  ],
  [{ ...at, reason: "notified", detail: "first" }, "RecordingOffline: told to ops/slack/0"],
  [
    { ...at, reason: "notified", detail: "more" },
    "RecordingOffline: told to ops/slack/0, as news of its group",
  ],
  [
    { ...at, reason: "notified", detail: "started" },
    "RecordingOffline: told to ops/slack/0, in the summary of a start without memory",
  ],
  [
    { ...at, reason: "notified_end", detail: "rule_removed" },
    "RecordingOffline: its end told to ops/slack/0: rule removed",
  ],
  [
    { ...at, reason: "reminded", detail: "3" },
    "RecordingOffline: told again to ops/slack/0 as a reminder (3 so far, the last one now)",
  ],
  [
    { ...at, reason: "failed", detail: "timeout" },
    "RecordingOffline: not told to ops/slack/0 yet, tried again: it did not answer in time",
  ],
  [
    { ...at, reason: "inhibited", detail: "LocationOffline/location/shop@1772438400000" },
    "RecordingOffline: held back from ops/slack/0 while another alert explains it: LocationOffline/location/shop",
  ],
  [
    { ...at, reason: "acknowledged", detail: "dana" },
    "RecordingOffline: no reminder to ops/slack/0: acknowledged by dana",
  ],
  [
    { ...at, reason: "held_by_the_moon", detail: "full" },
    "RecordingOffline: held by the moon at ops/slack/0 (full)",
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

test("every hold has words of its own", () => {
  const said = suppressionReasons.map((reason) => sentenceOf({ ...at, reason, detail: "x" }));
  expect(said.filter((words) => words.endsWith("(x)"))).toEqual([]);
});

test("every way of failing has words of its own", () => {
  const said = notifyErrorCodes.map((detail) => sentenceOf({ ...at, reason: "failed", detail }));
  expect(new Set(said).size).toBe(notifyErrorCodes.length);
});
