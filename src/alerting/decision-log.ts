/** The decision log's lines and their wording; a reason without words here is shown as it is written. */
import type { Decision } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import { integrationName } from "./integration-name.ts";
import { suppressionReasons } from "./model.ts";
import { suppressedPhrase } from "./suppression-words.ts";

/** A decision about a subject, and why. */
export interface LogLine extends Omit<Decision, "reason"> {
  /** Undefined where the decision is not about a notification. */
  readonly integration?: string | undefined;
  readonly reason: string;
  /** The detail that the reason leaves open: the end reason, the error code of a failed message, how many reminders. */
  readonly detail?: string | undefined;
  /** The time at which what it says ends by the clock, or it escalates. */
  readonly until?: Instant | undefined;
  /** The time at which the author of an acknowledgement expected to be done. */
  readonly eta?: Instant | undefined;
}

type Words = (line: { rule: string; to: string; detail: string | undefined; until: string }) => string;

const ofRules: Readonly<Record<string, string>> = {
  pending: "condition met, fires after `for`",
  pending_ended: "condition no longer met before `for` had passed, did not fire",
  firing: "fires",
  clearing: "condition no longer met, resolves after `keep_firing_for`",
  clearing_ended: "condition met again before `keep_firing_for` had passed, still firing",
  resolved: "resolved, recovered",
  expired: "expired, nothing shows it any more; whether it recovered is not known",
  outside_schedule: "paused, outside the recording's uploading schedule",
  within_schedule: "resumed, inside the uploading schedule or the schedule no longer applies",
  rule_removed: "resolved, its rule was removed",
  rule_changed: "resolved, its rule was changed",
  dropped_together: "resolved, most locations count little at once",
  no_longer_watched: "resolved, no longer watched",
};

const ofSubjects: Readonly<Record<string, string>> = {
  observed_online: "seen online",
  observed_degraded: "seen degraded",
  observed_offline: "seen offline",
  observed_missing: "missing from a complete answer of the service",
  no_location: "ignored, its row has no location and none is known",
  listed_elsewhere: "ignored here, also listed at another location, which evaluates it",
  moved: "moved to another location",
  no_longer_watched: "no longer watched",
  outside_schedule: "not online outside its uploading schedule, not evaluated",
  within_schedule: "inside its uploading schedule again",
  forgotten: "left the fleet, absent for watch.forget_after",
};

/** Actions of people, and their ends by the clock; the detail names them. */
const ofPeople: Readonly<Record<string, string>> = {
  ack_set: "acknowledged by",
  ack_withdrawn: "acknowledgement withdrawn by",
  ack_undone: "last change of the acknowledgement undone by",
  ack_eta_over: "ETA is over, and it still fires, that of",
  ack_ran_out: "acknowledgement ran out, that of",
  ack_noted: "note by",
  silence_began: "silenced by",
  silence_ended: "silence ended, that of",
};

/** True of what somebody did about an alert, or that it ended by the clock. */
export const isOfPeople = ({ reason }: Pick<LogLine, "reason">) => Object.hasOwn(ofPeople, reason);

const ofDelivery: Readonly<Record<string, Words>> = {
  notified: ({ to, detail }) =>
    detail === "escalated" ? `escalated to ${to}` : `notified ${to}${NOTIFIED_AS[detail ?? ""] ?? ""}`,
  notified_end: ({ to, detail }) => `notified ${to} of its end: ${inWords(detail ?? "over")}`,
  notified_late: ({ to, detail }) => `notified ${to} late, of its beginning and end: ${inWords(detail ?? "over")}`,
  reminded: ({ to, detail }) => `reminder sent to ${to}${times(detail)}`,
  asked: ({ to, detail }) => `asked ${detail ?? "somebody"} at ${to} how it goes on`,
  failed: ({ to, detail }) => `not sent to ${to} yet, retrying: ${FAILURES[detail ?? ""] ?? "not accepted"}`,
  resolved_before_notified: ({ to }) => `not sent to ${to}, resolved before it was due`,
  send_resolved_off: ({ to }) => `end not sent to ${to}, send_resolved is false`,
  escalation: ({ to, until }) => (until === "" ? `not escalated to ${to} yet` : `escalates to ${to} at ${until}`),
  not_escalated: ({ to, detail = "" }) => `not escalated to ${to}: ${detail}`,
  owed_nowhere: ({ to }) => `end not sent to ${to}, which is no longer configured`,
};

const NOTIFIED_AS: Readonly<Record<string, string>> = {
  more: ", with its group",
  started: ", in the summary of a cold start",
};

const FAILURES: Readonly<Record<string, string>> = {
  network: "unreachable",
  timeout: "no answer in time",
  rate_limited: "rate limited",
  server_error: "server error",
  auth: "login or webhook refused",
  not_found: "nothing at its address",
  bad_request: "message refused",
  recipient_refused: "recipient refused by the mail server",
  conversation_gone: "its conversation was deleted",
};

/** A line in words, without its time and subject: `RecordingOffline: notified Slack (ops)`; `at` writes an instant. */
export function sentenceOf(line: Omit<LogLine, "at" | "subject">, at: (instant: Instant) => string): string {
  const words = wordsOf(line, at);
  return line.ruleId === undefined ? words : `${line.ruleId}: ${words}`;
}

function wordsOf(
  { ruleId: rule = "", integration = "", reason, detail, ...ends }: Omit<LogLine, "at" | "subject">,
  at: (instant: Instant) => string,
): string {
  const to = integrationName(integration);
  const [until, eta] = [ends.until, ends.eta].map((end) => (end === undefined ? "" : at(end))) as [string, string];
  const delivery = Object.hasOwn(ofDelivery, reason) ? ofDelivery[reason] : undefined;
  if (delivery && to !== "") return delivery({ rule, to, detail, until });
  if (to !== "" && suppressionReasons.some((one) => one === reason))
    return `${suppressedPhrase(reason, detail)}; ${reason === "acknowledged" ? "no reminder" : "not"} sent to ${to}`;
  if (Object.hasOwn(ofPeople, reason)) {
    const lasts = [until && `until ${until}`, eta && `ETA ${eta}`].filter(Boolean).join(", ");
    return `${ofPeople[reason]} ${detail ?? "somebody"}${lasts && ` (${lasts})`}`;
  }
  const table = rule === "" ? ofSubjects : ofRules;
  const more = detail === undefined ? "" : ` (${detail})`;
  if (Object.hasOwn(table, reason)) return `${table[reason]}${more}`;
  return `${inWords(reason)}${to === "" ? "" : ` at ${to}`}${more}`;
}

function inWords(reason: string): string {
  return reason.replaceAll("_", " ");
}

function times(count: string | undefined): string {
  return count === undefined || count === "1" ? "" : ` (${count} so far)`;
}
