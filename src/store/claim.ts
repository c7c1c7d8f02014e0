/** What a claim gives: nothing and until when, one due group, or a storm of them. */
import type { NotificationLogEntry } from "../alerting/notification-log.ts";
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
  /** Members that were due and held back when the group was last served. */
  readonly suppressedBefore: readonly string[];
  /** Members not known to be told, of which a message may have got out before whoever sent it died. */
  readonly maybeNotified: readonly string[];
  /** It joins a summary when more groups than this are due; undefined: never. */
  readonly stormGroups: number | undefined;
}

/** More due groups than their routes want told one by one, all under one lease. */
export interface ClaimedStorm {
  readonly kind: "storm";
  readonly groups: readonly Claimed[];
  /** How many groups are due, those that join no summary included. */
  readonly due: number;
  /** Whether nothing that would join was left for another claim. */
  readonly isAll: boolean;
  /** It takes longer to prepare than one group: so long it is claimed, ms. */
  readonly leaseMs: number;
}

/**
 * `busy`: another send is under way; `backoff`: the endpoint is resting; `pace`: it had a message a moment ago;
 * `gather`: a storm was told a moment ago, and more of it is awaited; `idle`: nothing due before `until`.
 */
export type Claim =
  | Claimed
  | ClaimedStorm
  | { readonly kind: "busy" | "backoff" | "pace" | "gather"; readonly until: Instant }
  | { readonly kind: "idle"; readonly until: Instant | undefined };

export type ClaimReply =
  | ["busy" | "backoff" | "pace" | "gather" | "idle", string]
  | GroupRow
  | ["storm", string, string, string, ...GroupRow[]];

type GroupRow = [
  "group",
  string,
  string,
  string,
  string,
  string,
  string,
  string[],
  string[],
  string[],
  string,
  string,
  string,
  string,
  string,
];

/** Reads what claim.lua answers. */
export function toClaim(reply: ClaimReply): Claim {
  if (reply[0] === "idle") return { kind: "idle", until: toInstant(reply[1]) };
  if (reply[0] === "group") return toClaimed(reply);
  if (reply[0] !== "storm") return { kind: reply[0], until: Number(reply[1]) };
  const [, due, all, lease, ...rows] = reply;
  return {
    kind: "storm",
    groups: rows.map(toClaimed),
    due: Number(due),
    isAll: all === "1",
    leaseMs: Number(lease),
  };
}

function toClaimed(row: GroupRow): Claimed {
  const [
    ,
    group,
    labels,
    repeat,
    since,
    fails,
    failures,
    episodes,
    alerts,
    notified,
    interval,
    suppressed,
    maybe,
    interrupted,
    storm,
  ] = row;
  const suppressedBefore = JSON.parse(suppressed) as string[];
  const inFlight = episodes.filter(
    (id, i) => interrupted !== "" && notified[i] === "" && !suppressedBefore.includes(id),
  );
  return {
    kind: "group",
    group,
    labels: JSON.parse(labels) as Labels,
    repeatIntervalMs: Number(repeat),
    groupIntervalMs: Number(interval),
    dueSince: since === "" ? undefined : Number(since),
    groupFailures: Number(fails),
    failures: Number(failures),
    alerts: alerts.filter((text) => text !== "").map((text) => JSON.parse(text.slice(1)) as Alert),
    notified: new Map(
      notified.flatMap((text, i) =>
        text ? [[episodes[i] ?? "", JSON.parse(text) as NotificationLogEntry]] : [],
      ),
    ),
    lost: episodes.filter((_, i) => alerts[i] === "" && notified[i] === ""),
    suppressedBefore,
    maybeNotified: [...(JSON.parse(maybe) as string[]), ...inFlight],
    stormGroups: storm === "" ? undefined : Number(storm),
  };
}

/** An instant as scripts give it; the empty string is none. */
export function toInstant(reply: unknown): Instant | undefined {
  return reply === "" ? undefined : Number(reply);
}
