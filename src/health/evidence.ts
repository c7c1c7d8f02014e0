/**
 * The age of the fleet's evidence: of each recording its last good reading, of figures when they were read. Self
 * alerts, the heartbeat, readiness, pages and metrics all go by this one judgement.
 */
import type { Instant } from "../lib/clock.ts";
import { type Attempt, type Attempts, presenceOf, segmentsOf } from "./attempt.ts";
import { areSegmentsBelieved, isAbsenceBelieved } from "./belief.ts";
import { GAP_INTERVALS } from "./rhythm.ts";

export interface EvidenceMoment {
  readonly now: Instant;
  /** Between two sweeps, ms. */
  readonly intervalMs: number;
  readonly uptimeIntervalMs: number;
  /** Undefined: no rule depends on counts. */
  readonly countsIntervalMs?: number | undefined;
  readonly inventoryIntervalMs: number;
  /** The longest that a request may be under way: an attempt is known only when it ends. */
  readonly requestTimeoutMs: number;
  /** Since when this process sweeps; nothing is late before. */
  readonly startedAt?: Instant;
}

/** Reasons for which evidence is old, the widest first. */
export const causeKinds = [
  "failing",
  "misread",
  "internal",
  "unasked",
  "late",
  "absent",
  "list",
  "uptimes",
  "segments",
  "counts",
  "unreadable",
] as const;
export type CauseKind = (typeof causeKinds)[number];

export interface Cause {
  readonly kind: CauseKind;
  readonly attempts: readonly Attempt[];
  readonly error: string | undefined;
}

export interface Evidence {
  /** `unknown`: not watched for long enough to tell. */
  readonly state: "in_time" | "partly" | "unreachable" | "unknown";
  /** All recordings; a shard of which none is known counts as one. */
  readonly known: number;
  /** Recordings without a good reading in time. */
  readonly unread: number;
  /** Recordings of shards that are read too rarely. */
  readonly late: number;
  /** Some shard is still read by its own slow rhythm. */
  readonly isRare: boolean;
  /** Recordings that the service listed, and that no sweep could store yet. */
  readonly unstored: number;
  /** Shards that were never read. */
  readonly neverRead: number;
  /** The last good reading of the shard where that is longest ago; undefined where a shard was never read. */
  readonly oldestAt: Instant | undefined;
  readonly causes: readonly Cause[];
}

/** The service is unreachable where no more than this share of the recordings is read. */
const HARDLY_RATIO = 0.1;
/** Figures older than this many intervals are stale. */
const FIGURE_INTERVALS = 2;

type Age = "fresh" | "old" | "unknown";

/** An attempt under way is waited for; one that ended in a failure is not. */
export function ageOf(
  { goodAt, attemptedAt, since = 0 }: Attempt,
  { now, requestTimeoutMs, startedAt = 0 }: Pick<EvidenceMoment, "now" | "requestTimeoutMs" | "startedAt">,
  mostMs: number,
): Age {
  const limitMs = mostMs + (attemptedAt > goodAt ? 0 : requestTimeoutMs);
  if (goodAt > 0 && now - goodAt <= limitMs) return "fresh";
  return now - Math.max(goodAt, startedAt, since) > limitMs ? "old" : "unknown";
}

/** The age of these attempts' evidence at a moment. Pure. */
export function fleetEvidence(attempts: Attempts, moment: EvidenceMoment): Evidence {
  const shards = attempts.shards.map((attempt) => shardOf(attempt, moment));
  const sum = (of: (shard: Shard) => number) => shards.reduce((total, shard) => total + of(shard), 0);
  const weightOf = (age: Age) => sum((shard) => (shard.age === age ? shard.weight : 0));
  const known = sum(({ weight }) => weight);
  const unread = sum((shard) => shard.unread);
  const never = shards.filter(({ attempt }) => attempt.goodAt <= 0);
  const causes = causesOf(shards, attempts, moment);
  return {
    state: stateOf({ known, unread, pending: weightOf("unknown") }, causes, listStateOf(attempts.inventory, moment)),
    known,
    unread,
    late: sum(({ age, weight, attempt }) => (age === "fresh" && attempt.lateMs ? weight : 0)),
    isRare: shards.some(({ attempt }) => moment.now - attempt.goodAt <= (attempt.lateMs ?? 0)),
    unstored: never.reduce((total, { attempt }) => total + (attempt.known ?? 0), 0),
    neverRead: never.length,
    oldestAt:
      never.length > 0 || shards.length === 0 ? undefined : Math.min(...shards.map((one) => one.attempt.goodAt)),
    causes,
  };
}

interface Shard {
  readonly attempt: Attempt;
  readonly age: Age;
  readonly weight: number;
  readonly unread: number;
}

function shardOf(attempt: Attempt, moment: EvidenceMoment): Shard {
  const mostMs = GAP_INTERVALS * moment.intervalMs;
  const age = ageOf(attempt, moment, mostMs);
  const { known = 0, stale = 0 } = attempt;
  const weight = Math.max(1, known);
  const missed = age === "fresh" ? Math.min(weight, stale) : 0;
  return { attempt, age, weight, unread: age === "old" ? weight : missed };
}

/** Before there is a shard, the location list stands for the service. */
function listStateOf(inventory: Attempt, moment: EvidenceMoment): Evidence["state"] {
  if (inventory.error !== undefined && inventory.goodAt < inventory.attemptedAt) return "unreachable";
  const age = ageOf(
    inventory,
    moment,
    GAP_INTERVALS * (inventory.goodAt > 0 ? moment.inventoryIntervalMs : moment.intervalMs),
  );
  return age === "fresh" ? "in_time" : age === "old" ? "unreachable" : "unknown";
}

function isListLacking(shards: readonly Shard[], inventory: Attempt, moment: EvidenceMoment): boolean {
  return shards.length > 0 && inventory.attemptedAt > 0 && listStateOf(inventory, moment) === "unreachable";
}

function stateOf(
  { known, unread, pending }: { readonly known: number; readonly unread: number; readonly pending: number },
  causes: readonly Cause[],
  ofList: Evidence["state"],
): Evidence["state"] {
  if (known === 0) return ofList;
  const fewest = HARDLY_RATIO * known;
  if (known - unread <= fewest) return "unreachable";
  if (known - unread - pending <= fewest) return "unknown";
  return causes.length > 0 ? "partly" : "in_time";
}

function causesOf(shards: readonly Shard[], attempts: Attempts, moment: EvidenceMoment): Cause[] {
  const old = shards.flatMap(({ age, attempt }) => (age === "old" ? attempt : []));
  const fresh = shards.filter(({ age }) => age === "fresh");
  const found: Readonly<Record<CauseKind, readonly Attempt[]>> = {
    failing: old.filter(({ error, fault }) => error !== undefined && !fault),
    misread: fresh.flatMap(({ unread, attempt }) => (unread > 0 ? attempt : [])),
    internal: old.filter(({ fault }) => fault === "internal"),
    unasked: old.filter(({ error, fault }) => error === undefined && !fault),
    late: fresh.flatMap(({ attempt }) => (attempt.lateMs ? attempt : [])),
    absent: disbelieved(attempts.shards),
    list: isListLacking(shards, attempts.inventory, moment) ? [attempts.inventory] : [],
    uptimes: staleOf(attempts.uptimes, attempts.shards, moment, moment.uptimeIntervalMs),
    segments: lateSegments(attempts.uptimes),
    counts: staleOf(attempts.counts, attempts.shards, moment, moment.countsIntervalMs),
    unreadable: old.filter(({ fault }) => fault === "unreadable"),
  };
  return causeKinds.flatMap((kind) => {
    const own = found[kind];
    return own.length > 0 ? { kind, attempts: own, error: own.find(({ error }) => error !== undefined)?.error } : [];
  });
}

/** Figures that are too old, the oldest first. Those of a shard that is not read are not asked for. */
function staleOf(
  figures: readonly Attempt[] = [],
  shards: readonly Attempt[],
  moment: EvidenceMoment,
  intervalMs: number | undefined,
): Attempt[] {
  if (intervalMs === undefined) return [];
  const mostMs = FIGURE_INTERVALS * intervalMs;
  const isAsked = (i: number) => (shards[i]?.goodAt ?? moment.now) > 0 && !shards[i]?.fault;
  const stale = figures.filter(
    (one, i) => isAsked(i) && ageOf({ ...one, since: one.since ?? shards[i]?.since }, moment, mostMs) === "old",
  );
  return stale.sort((a, b) => a.goodAt - b.goodAt);
}

/** So many recordings without segments that it is not their own failure, as an attempt that failed at no known time. */
function lateSegments(uptimes: readonly Attempt[]): Attempt[] {
  const presence = segmentsOf(uptimes);
  if (areSegmentsBelieved(presence)) return [];
  const error = `uptime figures lack the segments of ${presence.absent} of ${presence.known} recordings that are online`;
  return [{ goodAt: 0, attemptedAt: 0, error }];
}

/** Answers that lack so many recordings that they are not believed, as an attempt that failed at no known time. */
function disbelieved(shards: readonly Attempt[]): Attempt[] {
  const presence = presenceOf(shards);
  if (isAbsenceBelieved(presence)) return [];
  const error = `status answers lack ${presence.absent} of ${presence.known} known recordings; if that is right, put those that left in watch.exclude`;
  return [{ goodAt: 0, attemptedAt: 0, error }];
}
