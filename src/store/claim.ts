/** The result of a claim: nothing and until when, one due group, or a storm of them. */
import type { NotificationLogEntry } from "../alerting/notification.ts";
import type { Alert, Labels } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";

/** A due group under our lease, with its episodes as they are now. */
export interface Claimed {
  readonly kind: "group";
  readonly group: string;
  readonly labels: Labels;
  readonly repeatIntervalMs: number;
  readonly groupIntervalMs: number;
  /** When it should have been served; undefined when it is only due for a reminder. */
  readonly dueSince: Instant | undefined;
  /** How often in a row this group alone was refused. */
  readonly groupFailures: number;
  /** How often in a row the endpoint or the integration failed. */
  readonly failures: number;
  readonly alerts: readonly Alert[];
  readonly notified: ReadonlyMap<string, NotificationLogEntry>;
  /** Members of which nothing is stored any more. */
  readonly lost: readonly string[];
  /** Members that were due and suppressed when the group was last served. */
  readonly suppressedBefore: readonly string[];
  /** Members without an entry in the notification log that a claim which died may have notified of. */
  readonly maybeNotified: readonly string[];
  /** It joins a summary when more groups than this are due; undefined: never. */
  readonly stormGroups: number | undefined;
}

/** More due groups than their routes send one by one, all under one lease. */
export interface ClaimedStorm {
  readonly kind: "storm";
  readonly groups: readonly Claimed[];
  /** How many groups are due, including those that join no summary. */
  readonly due: number;
  /** Whether no group that would join was left for another claim. */
  readonly isAll: boolean;
  /** The length of this lease, ms: a storm takes longer to prepare than one group. */
  readonly leaseMs: number;
}

/**
 * `busy`: another send is under way; `backoff`: the endpoint failed; `pace`: it took a message a moment ago; `gather`:
 * a storm was sent a moment ago, and more of it is expected; `idle`: nothing is due before `until`.
 */
export type Claim =
  | Claimed
  | ClaimedStorm
  | { readonly kind: "busy" | "backoff" | "pace" | "gather"; readonly until: Instant }
  | { readonly kind: "idle"; readonly until: Instant | undefined };

interface GroupRow extends Pick<Claimed, "group" | "repeatIntervalMs" | "groupIntervalMs" | "groupFailures"> {
  readonly dueSince?: Instant;
  readonly stormGroups?: number;
  readonly isInterrupted: boolean;
  /** JSON. */
  readonly labels: string;
  readonly suppressedBefore: string;
  readonly maybeNotified: string;
}

type ClaimHead =
  | Exclude<Claim, Claimed | ClaimedStorm>
  | (Omit<ClaimedStorm, "kind" | "groups"> & {
      readonly kind: "group" | "storm";
      readonly failures: number;
      readonly groups: readonly GroupRow[];
    });

/** Reads the reply of claim.lua: the claim as JSON, then the stored texts of each group's members. */
export function decodeClaim([head, ...members]: readonly [string, ...string[][]]): Claim {
  const claim = JSON.parse(head) as ClaimHead;
  if (!("groups" in claim)) return claim;
  const groups = claim.groups.map((row, i) => decodeGroup(row, members[i] ?? [], claim.failures));
  const [only] = groups;
  if (claim.kind === "group" && only) return only;
  const { due, isAll, leaseMs } = claim;
  return { kind: "storm", groups, due, isAll, leaseMs };
}

function decodeGroup(row: GroupRow, texts: readonly string[], failures: number): Claimed {
  const alerts: Alert[] = [];
  const notified = new Map<string, NotificationLogEntry>();
  const lost: string[] = [];
  const inFlight: string[] = [];
  const { labels, isInterrupted, ...plain } = row;
  const suppressedBefore = JSON.parse(row.suppressedBefore) as string[];
  for (let i = 0; i < texts.length; i += 3) {
    const [episode = "", alert = "", entry = ""] = texts.slice(i, i + 3);
    if (alert !== "") alerts.push(JSON.parse(alert.slice(1)) as Alert);
    if (entry !== "") notified.set(episode, JSON.parse(entry) as NotificationLogEntry);
    else if (isInterrupted && !suppressedBefore.includes(episode)) inFlight.push(episode);
    if (alert === "" && entry === "") lost.push(episode);
  }
  return {
    dueSince: undefined,
    stormGroups: undefined,
    ...plain,
    kind: "group",
    labels: JSON.parse(labels) as Labels,
    failures,
    alerts,
    notified,
    lost,
    suppressedBefore,
    maybeNotified: [...(JSON.parse(row.maybeNotified) as string[]), ...inFlight],
  };
}
