/** What a channel is asked to say: decided, complete, and true at `now`. Channels render it and send it. */

import type { Alert, Labels } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";

/**
 * Why something is said (Alertmanager's notify reasons). `started`: all that is wrong, after a start without memory;
 * `resend`: for programs that forget, and no news.
 */
export type NotifyReason = "first" | "more" | "resolved" | "reminder" | "resend" | "started" | "test";

export interface Notification {
  readonly reason: NotifyReason;
  readonly receiver: string;
  readonly integrationId: string;
  /** `id` is stable for the group at this integration: threads hang on it. */
  readonly group: { readonly id: string; readonly labels: Labels };
  /** How many groups it sums up; undefined: it is about `group` alone. */
  readonly groups?: number | undefined;
  /** Of the summary of a start without memory. */
  readonly start?: ColdStartFacts | undefined;
  /** Firing now, longest first. */
  readonly firing: readonly NotifiedAlert[];
  /** Ended since last told. An alert that came and went untold has `untold: true`: "was offline 14:05–14:17". */
  readonly resolved: readonly NotifiedAlert[];
  readonly now: Instant;
  /** Base of links, without a trailing slash; undefined: no links. */
  readonly externalUrl: string | undefined;
  /** Unique to this message and the same when it is tried again: Message-ID is made of it. */
  readonly messageId: string;
}

/** What the summary of a start without memory leaves open. */
export interface ColdStartFacts {
  /** Whether everything had been read when it was made. */
  readonly complete: boolean;
  /** Recordings with trouble that had not lasted as long as its rule asks. */
  readonly unsettled: number;
  /** Alerts that fire and are held back here by a silence, an acknowledgement, a mute time and so on. */
  readonly suppressed: number;
}

export interface NotifiedAlert extends Alert {
  /** 16 hex digits, Alertmanager's fingerprint of the labels. */
  readonly fingerprint: string;
  /** Not told as firing at this integration before this message. */
  readonly isNew: boolean;
  /** Its end was told before, and is only sent again. */
  readonly isAgain?: true;
  /** Whose alerts this one holds back (`inhibit_rules`). */
  readonly standsFor?: StandsFor | undefined;
}

/** What one alert is told in place of: each recording and location counted once, however many alerts it has. */
export interface StandsFor {
  readonly recordings: number;
  readonly locations: number;
  /** The first few in the order of their names: of recordings, else of locations. Not yet cleaned or escaped. */
  readonly names: readonly string[];
}

/** Why a message did not get out; also the metric's `reason` label and the error table of docs/operations.md. */
export const notifyErrorCodes = [
  "network",
  "timeout",
  "rate_limited",
  "server_error",
  "auth",
  "not_found",
  "bad_request",
  "recipient_refused",
  "other",
] as const;
export type NotifyErrorCode = (typeof notifyErrorCodes)[number];
