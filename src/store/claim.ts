/** The result of a claim: nothing and until when, one due group, or a storm of them. */
import type { Redis } from "ioredis";
import type { ConversationView } from "../alerting/conversation.ts";
import { dueSince, type GroupHead } from "../alerting/group.ts";
import type { Conversation, NotificationLogEntry, NotifiedEntry, Waiting } from "../alerting/model.ts";
import { isNotified, waitingIn } from "../alerting/notification-log.ts";
import type { Alert, Labels } from "../health/alert.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";

/** A due group under our lease, with its episodes as they are now. */
export interface Claimed extends Omit<ConversationView, "now" | "sendResolved" | "suppressions"> {
  readonly kind: "group";
  readonly labels: Labels;
  /** The failures in a row of this group alone. */
  readonly groupFailures: number;
  /** The failures in a row of the endpoint or the integration. */
  readonly failures: number;
  /** Members of which nothing is stored any more. */
  readonly lost: readonly string[];
  /** What is known here of its members. */
  readonly log: ReadonlyMap<string, NotificationLogEntry>;
  /** Members that were suppressed at the group's last turn, or came here later than they fired. */
  readonly suppressedBefore: ReadonlyMap<string, Waiting>;
  /** The time of its next decision, as its last turn has it. */
  readonly nextAt: Instant | undefined;
  /** It joins a summary when more groups than this are due; undefined: never. */
  readonly stormGroups: number | undefined;
  /** The ms after which a group is escalated to this integration. */
  readonly escalateAfterMs?: number | undefined;
}

/** More due groups than their routes send one by one, all under one lease. */
export interface ClaimedStorm {
  readonly kind: "storm";
  readonly groups: readonly Claimed[];
  /** The number of groups that are due, including those that join no summary. */
  readonly due: number;
  /** True where no group that would join was left for another claim. */
  readonly isAll: boolean;
  /** The length of this lease, ms: a storm takes longer to prepare than one group. */
  readonly leaseMs: number;
}

/** A message that may have been sent: written down before it is, once per integration. */
export interface Intent {
  readonly messageId: string;
  readonly at: Instant;
  /** The time from which it may be asked about: its deadline is over, and the channel may be asked. */
  readonly askAt: Instant;
  /** The conversation of the message, with the handle that it answers. */
  readonly conversation?: Conversation | undefined;
  readonly isSummary: boolean;
  readonly isQuestion?: true | undefined;
  /** By group: the episodes that the message says fire, and those whose end it says. */
  readonly groups: Readonly<Record<string, EpisodesOf>>;
}

export interface EpisodesOf {
  readonly firing: readonly string[];
  readonly resolved: readonly string[];
}

export const episodesIn = ({ firing, resolved }: EpisodesOf): string[] => [...firing, ...resolved];

/** The groups of a message of unknown outcome, under a claim, with all of its episodes as they are now. */
export interface ClaimedIntent {
  readonly kind: "intent";
  readonly intent: Intent;
  readonly groups: readonly Claimed[];
  readonly episodes: ReadonlyMap<string, Member>;
}

/**
 * `busy`: another send is under way, or the outcome of one may become known; `backoff`: the endpoint failed; `pace`: it took a message a moment ago; `gather`:
 * a storm was sent a moment ago, and more of it is expected; `idle`: nothing is due before `until`.
 */
export type Claim =
  | Claimed
  | ClaimedStorm
  | ClaimedIntent
  | { readonly kind: "busy" | "backoff" | "pace" | "gather"; readonly until: Instant }
  | { readonly kind: "idle"; readonly until: Instant | undefined };

/** A claimed group with what is stored of it. */
export interface TakenGroup {
  readonly group: string;
  readonly head: GroupHead;
  /** The number of groups that share its conversation. */
  readonly sharing: number | undefined;
  /** Since when each of its episodes is in it. */
  readonly members: ReadonlyMap<string, Instant>;
}

/** The facts of a claim that hold for all of its groups. */
interface ClaimFacts {
  readonly now: Instant;
  readonly failures: number;
  readonly isForRoot: boolean;
}

/** Redis answers nothing else during a call: the most members that one reads. */
const PAGE = 500;
/** Alerts that change while they are read are read again, to be of one moment, but no more often than this. */
const READS = 3;

export interface Member {
  readonly alert: Alert | undefined;
  readonly entry: NotificationLogEntry | undefined;
}

/** The members of groups under our lease as they are now, by episode. What changes later makes a group due again. */
export async function readMembers(
  redis: Redis,
  keys: Keys,
  integration: string,
  all: readonly string[],
): Promise<ReadonlyMap<string, Member>> {
  const episodes = [...new Set(all)];
  const members = new Map<string, Member>();
  for (let read = 1; read <= READS; read++) {
    const newest = await redis.lindex(keys.alertsLog, 0);
    for (const page of chunksOf(episodes, PAGE)) {
      const batch = redis.multi().hmget(keys.alerts, ...page);
      const replies = await batch.hmget(keys.notificationLog(integration), ...page).exec();
      const [alerts, entries] = (replies ?? []).map(([error, texts]) => {
        if (error) throw error;
        return texts as (string | null)[];
      });
      for (const [i, episode] of page.entries()) members.set(episode, toMember(alerts?.[i], entries?.[i]));
    }
    if (episodes.length <= PAGE || (await redis.lindex(keys.alertsLog, 0)) === newest) break;
  }
  return members;
}

function toMember(alert: string | null | undefined, entry: string | null | undefined): Member {
  return {
    alert: alert ? (JSON.parse(alert.slice(1)) as Alert) : undefined,
    entry: entry ? (JSON.parse(entry) as NotificationLogEntry) : undefined,
  };
}

export function toClaim(
  { due, isAll, leaseMs, ...facts }: ClaimFacts & Omit<ClaimedStorm, "kind" | "groups">,
  groups: readonly TakenGroup[],
  episodes: ReadonlyMap<string, Member>,
): Claimed | ClaimedStorm {
  const all = groups.map((group) => toClaimed(group, episodes, facts));
  const [only] = all;
  if (only && all.length === 1) return only;
  return { kind: "storm", groups: all, due, isAll, leaseMs };
}

export function toClaimed(
  { group, head, sharing, members }: TakenGroup,
  episodes: ReadonlyMap<string, Member>,
  { failures, isForRoot, now }: ClaimFacts,
): Claimed {
  const alerts: Alert[] = [];
  const notified = new Map<string, NotifiedEntry>();
  const unsure = new Map<string, NotifiedEntry>();
  const log = new Map<string, NotificationLogEntry>();
  const due = new Map<string, Instant>();
  const suppressedBefore = new Map<string, Waiting>();
  const lost: string[] = [];
  for (const [episode, since] of members) {
    const { alert, entry } = episodes.get(episode) ?? {};
    if (alert) alerts.push(alert);
    if (entry) log.set(episode, entry);
    if (isNotified(entry)) (entry.unsure ? unsure : notified).set(episode, entry);
    else if (!alert) lost.push(episode);
    const at = alert && dueSince(head, { alert, since, entry }, now);
    if (at !== undefined) due.set(episode, at);
    const waiting = waitingIn(head, entry) ?? (alert && since > alert.firedAt ? { isCovered: true } : undefined);
    if (waiting) suppressedBefore.set(episode, waiting);
  }
  const { conversation, shown, escalateAfterMs } = head;
  return {
    kind: "group",
    group,
    labels: JSON.parse(head.labels) as Labels,
    repeatIntervalMs: head.repeatMs,
    groupIntervalMs: head.intervalMs,
    dueSince: due,
    nextAt: head.nextAt,
    isForRoot,
    groupFailures: head.failures ?? 0,
    failures,
    stormGroups: head.stormGroups,
    ...(escalateAfterMs !== undefined && { escalateAfterMs }),
    ...(conversation && { conversation }),
    ...(shown !== undefined && { shown }),
    ...(sharing !== undefined && { sharing }),
    alerts,
    notified,
    unsure,
    lost,
    log,
    suppressedBefore,
  };
}
