import { expect, test } from "vitest";
import { type LogLine, sentenceOf } from "../../src/alerting/decision-log.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { type Silence, undoneSilence } from "../../src/alerting/silence.ts";
import { withSuppressionLines } from "../../src/alerting/suppression-lines.ts";
import { timesSeenAt } from "../../src/lib/when.ts";
import { aSilence } from "../support/fixtures.ts";

const T0 = Date.UTC(2026, 6, 1, 8);
const HOUR = 3_600_000;
const till = { kind: "recording", id: "r1" } as const;
const leeds = { kind: "location", id: "l1" } as const;
const labels = { location_id: "l1", location: "Leeds", timezone: "Europe/London" };
const subjects = [
  [till, { ...labels, recording_id: "r1", recording: "Till", organisation: "Shops" }],
  [leeds, labels],
  [{ kind: "service", id: "service" }, {}],
] as const;

const line = (at: number, reason: string, more: Partial<LogLine> = {}): LogLine => ({
  subject: till,
  at: T0 + at * HOUR,
  ruleId: "RecordingOffline",
  reason,
  ...more,
});
const acked = (at: number, until?: number, eta?: number) =>
  line(at, "ack_set", { detail: "ana: x", until: until && T0 + until * HOUR, eta: eta && T0 + eta * HOUR });

const silence = (matchers: string, more: Partial<Silence> = {}) =>
  aSilence({
    matchers: parseMatchers(matchers),
    startsAt: T0,
    endsAt: T0 + HOUR,
    updatedAt: T0,
    createdBy: "ana",
    comment: "rewiring",
    ...more,
  });

const at = (instant: number) => timesSeenAt(T0, "Europe/London").at(instant, "Europe/London");

const said = (lines: readonly LogLine[], silences: readonly Silence[] = [], now = 10, since = 0) =>
  withSuppressionLines(lines, { silences, subjects, since: T0 + since * HOUR, now: T0 + now * HOUR }).map(
    (one) => `${(one.at - T0) / HOUR} ${one.subject.kind} ${sentenceOf(one, at)}`,
  );

const ranOut = (at: number) => `${at} recording RecordingOffline: acknowledgement ran out, that of ana: x`;

test.each([
  ["that ran out", [acked(1, 3)], [ranOut(3)]],
  ["that has no end", [acked(1)], []],
  ["that has not run out", [acked(1, 11)], []],
  ["withdrawn before", [acked(1, 3), line(2, "ack_withdrawn")], []],
  ["replaced before, which ran out itself", [acked(1, 3), acked(2, 4)], [ranOut(4)]],
  ["whose alert resolved before", [acked(1, 3), line(2, "resolved")], []],
  ["whose alert resolved after", [acked(1, 3), line(4, "resolved")], [ranOut(3)]],
  ["beside the end of another alert", [acked(1, 3), line(2, "resolved", { ruleId: "LowUptime" })], [ranOut(3)]],
  ["beside what was sent", [acked(1, 3), line(2, "expired", { integration: "ops/slack/0" })], [ranOut(3)]],
])("an acknowledgement %s", (_, lines, expected) => {
  expect(said(lines).filter((one) => one.includes("ran out"))).toEqual(expected);
});

test.each([
  ["is said once over", [acked(1, 9, 3)], [3]],
  ["is not where the alert resolved before", [acked(1, 9, 3), line(2, "resolved")], []],
  ["is not where the acknowledgement was undone before", [acked(1, 9, 3), line(2, "ack_undone")], []],
  ["is said where undoing restored it", [acked(1), line(2, "ack_undone", { eta: T0 + 4 * HOUR })], [4]],
  ["is not before its time", [acked(1, 90, 30)], []],
])("an ETA %s", (_, lines, expected) => {
  const over = said(lines).filter((one) => one.includes("ETA is over, and it still fires, that of"));
  expect(over.map((one) => Number.parseFloat(one))).toEqual(expected);
});

const began = "0 recording silenced by ana: rewiring (until 10:00 BST)";
const ended = "1 recording silence ended, that of ana: rewiring";

test.each([
  ["of the recording, begun and ended", silence('recording_id="r1"'), 10, 0, [began, ended]],
  ["of its location, once", silence('location=~"Le.*"'), 10, 0, [began, ended]],
  ["in force", silence('recording="Till"'), 0.5, 0, ["0 recording silenced by ana: rewiring (until 10:00 BST)"]],
  ["that has not begun", silence('recording="Till"', { startsAt: T0 + HOUR, endsAt: T0 + 2 * HOUR }), 0.5, 0, []],
  ["begun before the time asked for", silence('recording="Till"'), 10, 0.5, [ended]],
  ["of another recording", silence('recording_id="r2"'), 10, 0, []],
  ["that names no recording", silence('alertname="NotificationsFailing"'), 10, 0, []],
  [
    "of some alerts",
    silence('organisation="Shops", severity="warning"'),
    0.5,
    0,
    ['0 recording silenced by ana (severity="warning"): rewiring (until 10:00 BST)'],
  ],
])("a silence %s", (_, one, now, since, expected) => {
  expect(said([], [one], now, since)).toEqual(expected);
});

test("a new silence that was undone names the end that it was to have", () => {
  const undone = undoneSilence({ ...silence('recording="Till"'), last: { at: T0 } }, T0 + 60_000);
  const [first, second] = said([], undone ? [undone] : [], 0.5);
  expect([first, second]).toEqual([began, `${1 / 60} recording silence ended, that of ana: rewiring`]);
  expect(undone && undoneSilence(undone, T0 + 61_000)).toBeUndefined();
});

test("lines stay in the order of time", () => {
  const lines = [acked(0.5, 2), line(3, "resolved")];
  expect(said(lines, [silence('recording_id="r1"')]).map((one) => Number.parseFloat(one))).toEqual([0, 0.5, 1, 2, 3]);
});
