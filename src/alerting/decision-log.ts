/**
 * The incident log's lines and what they say. A line's reason is an open set: a decision's (health/evaluation.ts) or
 * delivery's; those without words here are said as they are written.
 */
import type { Subject } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";

/** Something that was decided about a subject, and why. */
export interface LogLine {
  readonly subject: Subject;
  readonly at: Instant;
  /** Undefined where no rule is involved. */
  readonly ruleId: string | undefined;
  /** Who was told, or was not; undefined where it is not about telling. */
  readonly integration?: string | undefined;
  readonly reason: string;
  /** What the reason leaves open: why an end is one, what a message failed with, how many reminders. */
  readonly detail?: string | undefined;
}

type Words = (line: { rule: string; to: string; detail: string | undefined }) => string;

/** What is said of a rule at a subject begins with the rule. */
const ofRules: Readonly<Record<string, string>> = {
  pending: "the condition holds; it fires once `for` has passed",
  pending_ended: "the condition was over before `for` had passed: it never fired",
  firing: "fires",
  clearing: "the condition is over; it ends once `keep_firing_for` has passed",
  clearing_ended: "the condition holds again before `keep_firing_for` had passed: it goes on firing",
  resolved: "recovered",
  expired: "ended, nobody sent it again; whether it is over is not known",
  outside_schedule: "waits: outside the recording's uploading schedule",
  within_schedule: "goes on: the uploading schedule has begun again, or does not count any more",
  rule_removed: "ended, its rule was removed",
  no_longer_watched: "ended, what it spoke of is not watched any more",
};

const ofSubjects: Readonly<Record<string, string>> = {
  observed_online: "seen online",
  observed_degraded: "seen degraded",
  observed_offline: "seen offline",
  observed_missing: "left out of a complete answer of the service",
  no_location: "ignored: its row names no location, and none is known",
  moved: "moved to another location",
  no_longer_watched: "not watched any more",
  outside_schedule: "not online outside its uploading schedule, which is no incident",
  within_schedule: "inside its uploading schedule again",
  forgotten: "left the fleet: absent for watch.forget_after",
};

const ofDelivery: Readonly<Record<string, Words>> = {
  notified: ({ to, detail }) => `told to ${to}${BESIDES[detail ?? ""] ?? ""}`,
  notified_end: ({ to, detail }) => `its end told to ${to}: ${inWords(detail ?? "over")}`,
  notified_late: ({ to, detail }) =>
    `told to ${to} late, beginning and end in one: ${inWords(detail ?? "over")}`,
  reminded: ({ to, detail }) => `told again to ${to} as a reminder${times(detail)}`,
  failed: ({ to, detail }) =>
    `not told to ${to} yet, tried again: ${FAILURES[detail ?? ""] ?? "not accepted"}`,
  resolved_before_notified: ({ to }) => `not told to ${to}: it was over before anybody was to hear of it`,
  send_resolved_off: ({ to }) => `its end not told to ${to}: send_resolved is false there`,
  muted: ({ to, detail }) => `held back from ${to} by the time interval ${detail}`,
  inhibited: ({ to, detail }) => `held back from ${to} while another alert explains it: ${keyOf(detail)}`,
  silenced: ({ to, detail }) => `held back from ${to} by the silence ${detail}`,
  acknowledged: ({ to, detail }) => `no reminder to ${to}: acknowledged by ${detail}`,
  paused: ({ to }) => `held back from ${to}: outside the recording's uploading schedule`,
  owed_nowhere: ({ to }) => `its end cannot be told to ${to}, which is configured no more`,
};

const BESIDES: Readonly<Record<string, string>> = {
  more: ", as news of its group",
  started: ", in the summary of a start without memory",
};

/** By NotifyErrorCode. */
const FAILURES: Readonly<Record<string, string>> = {
  network: "it could not be reached",
  timeout: "it did not answer in time",
  rate_limited: "it had too many messages",
  server_error: "it had trouble of its own",
  auth: "it refused the login or the webhook",
  not_found: "there is nothing at its address",
  bad_request: "it refused the message",
  recipient_refused: "the mail server refused the recipient",
};

/** A line in words, without its time and subject: `RecordingOffline: told to ops/slack/0`. */
export function sentenceOf({
  ruleId,
  integration,
  reason,
  detail,
}: Pick<LogLine, "ruleId" | "integration" | "reason" | "detail">): string {
  const rule = ruleId ?? "";
  const said = wordsOf({ rule, to: integration ?? "", detail }, reason);
  return rule === "" ? said : `${rule}: ${said}`;
}

function wordsOf(line: Parameters<Words>[0], reason: string): string {
  const delivery = Object.hasOwn(ofDelivery, reason) ? ofDelivery[reason] : undefined;
  if (delivery && line.to !== "") return delivery(line);
  const table = line.rule === "" ? ofSubjects : ofRules;
  if (Object.hasOwn(table, reason)) return table[reason] ?? "";
  const to = line.to === "" ? "" : ` at ${line.to}`;
  const detail = line.detail === undefined ? "" : ` (${line.detail})`;
  return `${inWords(reason)}${to}${detail}`;
}

function inWords(reason: string): string {
  return reason.replaceAll("_", " ");
}

/** An episode's alert, without when it began. */
function keyOf(episode: string | undefined): string {
  return (episode ?? "").replace(/@\d+$/, "");
}

function times(count: string | undefined): string {
  return count === undefined || count === "1" ? "" : ` (${count} so far, the last one now)`;
}
