/** The types of notifications: groups, decisions, suppressions, what an integration is asked to send and was sent before. */
import type { VisitsLost } from "../counts/visits-lost.ts";
import type { Alert, Labels } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { EndedEpisode } from "./incident.ts";
import type { SharedCause } from "./incident-cause.ts";
import type { VisitWorth } from "./uncounted.ts";

/**
 * Why a notification is sent (Alertmanager's notify reasons). `started`: everything that fires, after a cold start;
 * `resend`: no news, for programs that take an alert that is not repeated for resolved. `update`: no news, and another
 * present than the conversation's root shows (acknowledged, silenced, some ended while ends are not sent). `question`: no
 * news, and somebody is asked how what they suppressed goes on.
 */
export type NotifyReason =
  | "first"
  | "more"
  | "resolved"
  | "reminder"
  | "question"
  | "resend"
  | "started"
  | "update"
  | "test";

export interface Notification {
  readonly reason: NotifyReason;
  readonly receiver: string;
  readonly integrationId: string;
  /** `id` is stable for the group at this integration. */
  readonly group: { readonly id: string; readonly labels: Labels };
  /** The number of groups that it sums up; undefined: it is about `group` alone. */
  readonly groups?: number | undefined;
  /** The facts of a cold start, in its summary. */
  readonly start?: ColdStartFacts | undefined;
  /** The time that something was unattended, ms, in the first message of an escalation. */
  readonly escalatedAfterMs?: number | undefined;
  /** Firing now, longest first. */
  readonly firing: readonly NotifiedAlert[];
  /** Resolved since the last notification; `isNew` where it was never notified as firing. */
  readonly resolved: readonly NotifiedAlert[];
  /** Notified in this conversation, firing and suppressed now. */
  readonly standing: readonly NotifiedAlert[];
  /** The known causes of those that fire, the same as on the status page. */
  readonly causes?: readonly SharedCause[] | undefined;
  /** The conversation, where the integration has them; without a handle, this message opens it. */
  readonly conversation?: ConversationNow | undefined;
  readonly now: Instant;
  /** Base of links, without a trailing slash; undefined: no links. */
  readonly externalUrl: string | undefined;
  /** The zone of its times; undefined: of each the location's. */
  readonly timezone?: string | undefined;
  /** Unique to this message and the same when it is retried: Message-ID is made of it. */
  readonly messageId: string;
  /** The traces of what the message is news of: `traceOf` each alert, or `all` where that is too much. */
  readonly trace: readonly string[];
}

/** The span in which a group fires at one integration, and what its channel knows it by. */
export interface Conversation {
  /** 16 hex digits, of the group's firing time at the integration. */
  readonly id: string;
  readonly openedAt: Instant;
  /** The channel's own text, at most 1,000 characters; undefined: not opened yet, or lost. */
  readonly handle?: string | undefined;
  /** The number of groups in the summary that opened it: its root is theirs together. Undefined: it is of one group. */
  readonly groups?: number | undefined;
  /** Ends that its root does not show yet, though it is over. */
  readonly ended?: readonly NotifiedAlert[] | undefined;
}

/** The episodes that a conversation was about, as they ended, and how many others of which that is not known. */
export interface Whole {
  readonly ended: readonly EndedEpisode[];
  readonly unknown: number;
}

/**
 * `isOver`: nothing notified in it fires any more, suppressed or not. `whole`: all of it, where that is said then.
 * `paging`: of a pager, whose pages it changes.
 */
export type ConversationNow = Conversation & {
  readonly isOver: boolean;
  readonly whole?: Whole;
  readonly paging?: Paging;
};

/** The channel's answer to an accepted message. */
export interface Posted {
  /** The handle of its conversation, where it opened one or found another; replaces the one that is stored. */
  readonly handle?: string | undefined;
  /** The message was accepted, and the root could not be edited: it is to be edited by an `update` soon. */
  readonly isStale?: true | undefined;
}

/** A post that a channel has already. */
export interface FoundPost {
  /** The handle of its conversation. */
  readonly handle: string;
  /** The `messageId` of its notification. */
  readonly notificationId: string;
}

/** The facts in the summary that each integration of people gets first: after a cold start, or where it was added. */
export interface ColdStartFacts {
  /** Watched when it was made. */
  readonly recordings: number;
  readonly locations: number;
  /** `offline for 2 m`: the problems that rules watch. */
  readonly watched: readonly string[];
  /** The names of one of the recordings, and its zone, for an example. */
  readonly example?: { readonly recording: string; readonly location: string; readonly timezone: string } | undefined;
  /** True in that of an integration that was added to a running installation. */
  readonly added?: boolean | undefined;
  /** True if everything had been read when it was made. */
  readonly complete: boolean;
  /** Recordings with a problem that had not lasted for their rule's `for`. */
  readonly unsettled: number;
  /** Alerts that fire and are suppressed at this integration. */
  readonly suppressed: number;
}

export interface NotifiedAlert extends Alert {
  /** 16 hex digits, Alertmanager's fingerprint of the labels. */
  readonly fingerprint: string;
  /** Not notified as firing at this integration before this message. */
  readonly isNew: boolean;
  /** Its end was notified before, and is only sent again. */
  readonly isAgain?: true;
  /** An outage that the alert of its location, which ends with this message, counted when it was notified. */
  readonly isCovered?: true;
  /** The recordings that recovered, of those that a location's alert counted when it was last notified. */
  readonly change?: { readonly recovered: number; readonly of: number };
  /** The alerts it inhibits (`inhibit_rules`). */
  readonly standsFor?: StandsFor | undefined;
  readonly impact?: AlertImpact | undefined;
  /** The suppression of an alert that is `standing`, or that a question is about. */
  readonly suppressedBy?: Suppression | undefined;
  /** Before this message, at a pager. */
  readonly page?: Page | undefined;
}

/** The impact known of its location, and, while it fires, earlier outages. */
export interface AlertImpact {
  /** The location's recordings, this one included. */
  readonly here?: { readonly online: number; readonly of: number } | undefined;
  /** Visits of its location not counted while it fired, what one is worth, and the annotation that says less. */
  readonly uncounted?: VisitsLost | undefined;
  readonly worth?: VisitWorth | undefined;
  readonly usual?: string | undefined;
  /** The number of outages of this alert in seven days, this one included; undefined for the first. */
  readonly outages?: number | undefined;
}

/** The alerts that one alert is sent in place of: each recording and location counted once, however many alerts it has. */
export interface StandsFor {
  readonly recordings: number;
  readonly locations: number;
  /** The first few in the order of their names: of recordings, else of locations. Not yet cleaned or escaped. */
  readonly names: readonly string[];
}

/** An entry of the notification log: what an integration knows of an episode that it has in a group, kept apart from the alert itself. */
export interface NotificationLogEntry {
  /** It was suppressed when it would have been notified of. */
  readonly waiting?: Waiting | undefined;
  /** The same in groups that are escalated to the integration: no other waits for that. */
  readonly escalating?: Waiting | undefined;
  /** Where it is escalated to the integration, and was suppressed. */
  readonly clock?: EscalationClock | undefined;
  /** At a pager. */
  readonly page?: Page | undefined;
}

/** The entry of what was, or may have been, notified: it has what is needed to notify the end, and is kept until then. */
export interface NotifiedEntry extends NotificationLogEntry {
  /** The episode as it was notified. */
  readonly alert: Alert;
  /** The time at which the integration last accepted a message with it as firing. */
  readonly notifiedAt: Instant;
  /** The time at which it first did; undefined: at `notifiedAt`. */
  readonly firstNotifiedAt?: Instant | undefined;
  /** True if the message that was first about it was a summary of several groups. */
  readonly inSummary?: boolean | undefined;
  /** It was only asked about: its end is owed, and its beginning too once it is not suppressed any more. */
  readonly isQuestion?: boolean | undefined;
  /** The time at which its end was first accepted, where ends are sent again for a while (`Integration.resendMs`). */
  readonly endNotifiedAt?: Instant | undefined;
  /** The group it was notified in. */
  readonly groupId: string;
  /**
   * A message of unknown outcome was about it: not notified when news is decided, and owed its end all the same. The conversations,
   * or pages, that such messages may have begun. Undefined: it was notified.
   */
  readonly unsure?: readonly Conversation[] | undefined;
}

/** Why a message was not accepted; also the metric's `reason` label and a row of the documented errors. */
export const notifyErrorCodes = [
  "network",
  "timeout",
  "rate_limited",
  "server_error",
  "auth",
  "not_found",
  "bad_request",
  "recipient_refused",
  "conversation_gone",
  "other",
] as const;
export type NotifyErrorCode = (typeof notifyErrorCodes)[number];

/**
 * `endpoint`: it accepts nothing now, so all integrations that use it wait. `integration`: it accepts nothing for this
 * one. `message`: it refused this message or this recipient alone.
 */
export type NotifyErrorScope = "endpoint" | "integration" | "message";

/** In the order they are named where several suppress the same alert. */
export const suppressionReasons = [
  "muted",
  "inhibited",
  "silenced",
  "maintenance",
  "acknowledged",
  "paused",
  "clearing",
  "stale",
  "escalation",
] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

/** Keeps a firing alert from being notified, which only delays: what still fires when it ends is notified then. */
export interface Suppression {
  readonly reason: SuppressionReason;
  /**
   * The episode of the inhibiting alert, the silence's id, the name of the time interval or maintenance, who acknowledged, or the episode
   * itself that waits for its recording's schedule, or the shard (`shard:<n>`) that was not read.
   */
  readonly by: string;
  /** The time at which the shard of a stale alert was last read, if only in part; 0 for never. */
  readonly goodAt?: Instant | undefined;
  /** True for an inhibiting alert whose message does not cover the outages that it inhibits. */
  readonly coversNothing?: true | undefined;
  /** The time at which it began, where that is known. */
  readonly since?: Instant | undefined;
  /** The time at which it ends by the clock; undefined where that is not known beforehand. */
  readonly until?: Instant | undefined;
  /** The time at which the author of an acknowledgement expects to be done. */
  readonly eta?: Instant | undefined;
  /** The time at which its author is asked how it goes on, unless the alert was notified since. */
  readonly askAt?: Instant | undefined;
  /** The person who set a silence; the comment of a silence, a maintenance or an acknowledgement. */
  readonly author?: string | undefined;
  readonly comment?: string | undefined;
  /** The alert that inhibits it. */
  readonly source?: Pick<Alert, "subject" | "labels"> | undefined;
  /** The acknowledgement that is in force beside it. */
  readonly acknowledged?: Suppression | undefined;
}

/** An alert that was suppressed when it would have been notified of: whether its cause covered it, and since when it is late. */
export interface Waiting {
  readonly isCovered: boolean;
  /** Undefined: from when its suppression ends. */
  readonly lateFrom?: Instant | undefined;
}

/** The suppressions of one group's alerts now. */
export interface Suppressions {
  /** The mute time of the group's route: suppresses everything, ends as well. */
  readonly muted: Suppression | undefined;
  /** By episode, firing or resolved. */
  readonly suppressed: ReadonlyMap<string, Suppression>;
  /** Episodes that were suppressed when the group was last decided. */
  readonly suppressedBefore: ReadonlyMap<string, Waiting>;
  /** A group with something suppressed is decided again this often, ms: `group_interval`. */
  readonly recheckEveryMs: number;
  /** By episode: the alerts it inhibits. */
  readonly standsFor: ReadonlyMap<string, StandsFor>;
  /** Others that were first notified by the same summaries as what ended in the group still fire. */
  readonly othersFire?: boolean | undefined;
  /** An alert that the group had as firing was over when this was found out, and so may be what had suppressed others. */
  readonly isOutdated?: boolean | undefined;
  /** True for external alerts of which not all silences were asked yet, so that nothing of the group is sent now. */
  readonly isUnmatched?: boolean | undefined;
  /** By episode: the clocks of a group that is escalated to the receiver. */
  readonly clocks?: ReadonlyMap<string, EscalationClock> | undefined;
}

/** The clock of an alert that was suppressed before: since when its time counts, or how much did until it was suppressed. */
export type EscalationClock = { readonly from: Instant } | { readonly countedMs: number };

/** The page that an alert is in. */
export interface Page {
  readonly key: string;
  /** The alert is acknowledged; its page is once all that fires in it is. */
  readonly isAcknowledged?: true;
}

export interface PageChange {
  readonly action: "trigger" | "acknowledge" | "resolve";
  readonly key: string;
  /** The alerts of the page, in this message. */
  readonly firing: readonly NotifiedAlert[];
  readonly resolved: readonly NotifiedAlert[];
}

export interface Paging {
  /** In the order in which the pager is notified of them. */
  readonly changes: readonly PageChange[];
  /** By episode, the page of each alert that fires, once the pager knows of the changes. */
  readonly pages: ReadonlyMap<string, Page>;
}

export interface GroupView {
  readonly now: Instant;
  readonly repeatIntervalMs: number;
  readonly sendResolved: boolean;
  /** True where people are asked how what they suppressed goes on. */
  readonly asks?: boolean | undefined;
  /** By episode: since when its news is due, or when it will be; undefined where that is not known of a suppressed one. */
  readonly dueSince: ReadonlyMap<string, Instant>;
  /** What is due until then is notified of; by default until now. */
  readonly dueBy?: Instant | undefined;
  /** Member episodes, as they are now. */
  readonly alerts: readonly Alert[];
  /** The log of what was notified as firing, by alert id; an entry without a member has lost its alert. */
  readonly notified: ReadonlyMap<string, NotifiedEntry>;
  /** The log of what may have been. */
  readonly unsure: ReadonlyMap<string, NotifiedEntry>;
  /** Undefined: nothing is suppressed. */
  readonly suppressions?: Suppressions | undefined;
}

export type GroupDecision = (
  | {
      readonly notify: NotifyReason;
      /** Longest first. */
      readonly firing: NotifiedAlert[];
      readonly resolved: NotifiedAlert[];
      /** The facts of a cold start, for `started` alone. */
      readonly start?: ColdStartFacts;
    }
  | { readonly notify: undefined; readonly why: SkipReason }
) & {
  /** Episodes that leave the group, once the message is sent where there is one. */
  readonly settled: string[];
  /** The time of the next decision, for a reminder or what is suppressed; undefined: when something changes. */
  readonly nextAt: Instant | undefined;
  /** The time at which the root of its conversation is compared with the present, and nothing else is done. */
  readonly rootAt?: Instant | undefined;
  readonly suppressedState: SuppressedState;
};

/** The suppressed part of the group. */
export interface SuppressedState {
  /** Each suppression once: when it ends, the group is decided again at once. */
  readonly by: readonly Suppression[];
  /** Episodes that fire, were never notified, and would be now. */
  readonly unnotified: ReadonlyMap<string, Waiting>;
}

/** Why nothing is sent. */
export const skipReasons = [
  "nothing_new",
  "empty",
  "resolved_before_notified",
  "send_resolved_off",
  "routed_elsewhere",
  "waits_for_others",
  ...suppressionReasons,
] as const;
export type SkipReason = (typeof skipReasons)[number];
