/** The types of a delivery: what it is given, what it claims, and what it sends. */
import type {
  Conversation,
  ConversationNow,
  GroupDecision,
  GroupView,
  Notification,
  NotifiedEntry,
  NotifyErrorCode,
  NotifyReason,
  Posted,
  Suppressions,
} from "../alerting/model.ts";
import type { Repeats } from "../alerting/repeats.ts";
import type { Integration } from "../alerting/route.ts";
import type { joinDecisions } from "../alerting/storm.ts";
import type { Alert } from "../health/alert.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Notifier } from "../notify/notifier.ts";
import type { Claimed } from "../store/groups.ts";
import type { Store } from "../store/store.ts";
import type { Check } from "../store/transact.ts";
import type { Annotate } from "./annotate.ts";
import type { Causes } from "./causes.ts";
import type { NotifyRefusal } from "./retry-policy.ts";

export type Sender = Omit<Notifier, "close"> & { readonly integration: Integration };

export interface DeliverDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly groups: Pick<Store["groups"], "claim" | "intend" | "settle" | "pace" | "hasEnded" | "paged">;
  readonly conversations: Pick<Store["conversations"], "whole">;
  /** What holds while the configuration is active: without it no message is sent, and nothing is decided without one. */
  checkActive?(): Check | undefined;
  readonly senders: ReadonlyMap<string, Sender>;
  readonly externalUrl: string | undefined;
  readonly timezone?: string | undefined;
  /** The time in which the next storm is gathered after one was sent; groups due this soon join it. */
  readonly stormMs: number;
  /** Gives the suppressions of each group; by default there are none. `waitAt`: the integration, if ends may wait. */
  suppressions?(
    claims: readonly Claimed[],
    waitAt: string | undefined,
    receiver: string,
  ): Promise<readonly Suppressions[]>;
  /** Adds what is known of locations; by default nothing is. */
  readonly annotate?: Annotate;
  /** Gives what explains alerts that fire together; by default nothing is known to. */
  readonly causes?: Causes;
  /** Decides whether a group is notified of, and why; by default `decideByGroup` or, for programs, `needsResend`. */
  readonly decide?: (view: GroupView & Claimed) => GroupDecision;
  /** Tells whether the alert belongs to the group of the integration now; by default each does. */
  readonly isRouted?: (alert: Alert, integration: Integration, group: string) => boolean;
  /** Reads the error that a channel threw. */
  toRefusal(thrown: unknown): NotifyRefusal;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
  /** `latencySeconds` from the change of an alert to the acceptance; undefined for a reminder. */
  notified(integration: Integration, reason: NotifyReason, latencySeconds: number | undefined): void;
  failed(integration: Integration, code: NotifyErrorCode): void;
  suppressed(integration: Integration, why: string): void;
}

export interface DeliveryRun {
  readonly deps: DeliverDeps;
  readonly sender: Sender;
  readonly integration: Integration;
  readonly stopping: AbortSignal;
  /** Nothing more is claimed. */
  readonly draining: AbortSignal;
  /** How many recipients of a directory wait for a token, by what is paced together. */
  readonly queue: Map<string, number>;
  /** The last failures, each the id of an integration or `messageKey`, so that a failure is logged as a warning once. */
  readonly failing: Set<string>;
  /** The reasons that hold of what this process has stored. */
  readonly repeats: Repeats;
}

export interface Lease {
  readonly token: string;
  readonly ms: number;
  /** A send that began later might outlast the lease. */
  readonly startBy: Instant;
  /** From then on what was read under it may be over. */
  readonly outdatedFrom: Instant;
}

/** A claim that includes what a message of unknown outcome, which was found, was about. */
export type RecoveredClaim = Claimed & {
  readonly recovered?: { readonly notified: readonly NotifiedEntry[]; readonly over: readonly string[] };
};

/** A group under our lease, with what suppresses its alerts. */
export type ClaimedGroup = RecoveredClaim & { readonly suppressions: Suppressions | undefined };

/** A group with the decision about it. */
export type Share = { readonly claim: ClaimedGroup; readonly decision: GroupDecision };

/** `isStale`: its root could not be edited with the message. */
export type PostedConversation = Conversation &
  Partial<Pick<ConversationNow, "isOver" | "whole" | "paging">> &
  Pick<Posted, "isStale">;

/** The words of a message, about all of its groups. */
export type Content = ReturnType<typeof joinDecisions> & Pick<Notification, "causes" | "standing">;
