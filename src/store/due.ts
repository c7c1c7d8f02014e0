/** What is due at an integration: one group, a storm, the message of a turn that died; or until when there is nothing to claim. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { dueAt } from "../alerting/group.ts";
import { type Integration, pacedBy } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claim, Intent } from "./claim.ts";
import { destined, GroupWork } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { pipelined, type Timed } from "./redis.ts";
import { stormWith, type Together, type Wanted } from "./storm.ts";
import { parseRead, type Read } from "./transact.ts";

/** Clocks of replicas differ by less. */
const SKEW_MS = 5_000;

export interface Stored {
  readonly claim: Read;
  readonly intent: Read;
  /** The rest of the lease, ms. */
  readonly leaseLeftMs: number;
  readonly backoffUntil: Instant;
  readonly failures: number;
  readonly isStarted: boolean;
  /** The first group that is due, and the first root. */
  readonly first: Timed | undefined;
  readonly root: Timed | undefined;
  readonly startDue: Instant | undefined;
  readonly paceUntil: Instant;
  readonly gatherUntil: Instant;
}

/** `early`: the first group is to be decided later than the index has it. */
export type Found =
  | Exclude<Claim, { readonly kind: "group" | "storm" | "intent" }>
  | (Together & { readonly kind: "taken" })
  | { readonly kind: "early"; readonly first: Timed };

export async function readStored(redis: Redis, keys: Keys, { of, now }: Wanted): Promise<Stored> {
  const { id, endpoint, paceMs } = of;
  const due = keys.due(id);
  const [claim, left, intent, shared, own, states, first, root, start, pace, storm] = await pipelined<unknown>(
    redis,
    (batch) => {
      batch.get(keys.claim(id)).pttl(keys.claim(id)).get(keys.intent(id));
      for (const scope of [endpoint, id]) batch.hmget(keys.backoff(scope), "until", "failures", "failedAt");
      batch
        .hmget(keys.started, "state", id)
        .zrange(due, 0, "0", "WITHSCORES")
        .zrange(keys.roots(id), 0, "0", "WITHSCORES");
      batch.zscore(due, coldStartGroup);
      batch.get(keys.pace(pacedBy(of))).get(keys.storm(id));
    },
  );
  const backoffs = await Promise.all(
    [shared, own].map((row, i) =>
      backoffIn(redis, keys.backoff(i === 0 ? endpoint : id), row as (string | null)[], now),
    ),
  );
  const [summed, gathering] = states as (string | null)[];
  const timed = ([group, at]: readonly string[]): Timed | undefined =>
    group === undefined ? undefined : [group, Number(at)];
  return {
    claim: parseRead([keys.claim(id)], claim as string | null),
    intent: parseRead([keys.intent(id)], intent as string | null),
    leaseLeftMs: left as number,
    backoffUntil: Math.max(...backoffs.map(({ until }) => until)),
    failures: Math.max(...backoffs.map(({ failures }) => failures)),
    isStarted: summed === "summed" && gathering !== "gathering",
    first: timed(first as string[]),
    root: timed(root as string[]),
    startDue: start === null ? undefined : Number(start),
    paceUntil: paceMs > 0 ? inForce(Number(pace ?? 0), now, 2 * paceMs) : 0,
    gatherUntil: Number(storm ?? 0),
  };
}

/** A stored instant, unless it was set by a clock far ahead. */
function inForce(at: Instant, now: Instant, mostMs: number): Instant {
  return at <= now + mostMs ? at : 0;
}

/** Where the clock went back since it failed, groups keep the rest of the wait. */
async function backoffIn(redis: Redis, key: string, row: readonly (string | null)[], now: Instant) {
  const [until = 0, failures = 0, failedAt = 0] = row.map((text) => Number(text ?? 0));
  if (failedAt <= now + SKEW_MS) return { until, failures };
  await redis.hset(key, { until: now, failedAt: now });
  return { until: now, failures };
}

export interface ClaimText {
  readonly leaseMs: number;
  readonly groups: readonly string[];
  readonly isForRoot: boolean | undefined;
}

export function claimedIn({ text }: Read): (Together & { readonly leaseMs: number }) | undefined {
  if (text === undefined) return undefined;
  const { groups, ...claim } = JSON.parse(text) as ClaimText;
  return { ...claim, groups, due: groups.length, isAll: false };
}

export function intentIn({ intent: { text } }: Pick<Stored, "intent">): Intent | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Intent);
}

export async function find(redis: Redis, keys: Keys, work: GroupWork, wanted: Wanted, stored: Stored): Promise<Found> {
  const { of, now, aheadMs } = wanted;
  if (stored.claim.version !== "") {
    const leaseMs = claimedIn(stored.claim)?.leaseMs ?? stored.leaseLeftMs;
    return { kind: "busy", until: now + Math.max(1, Math.min(leaseMs, stored.leaseLeftMs)) };
  }
  // After a cold start, and at an integration that was added, nothing is sent before the summary is made.
  if (!stored.isStarted) return { kind: "idle", until: undefined };
  const next = await nextOf(work, of, stored, now);
  if (!next) return { kind: "idle", until: undefined };
  const { group, at, isForRoot } = next;
  if (at > now) return { kind: "idle", until: at };
  if (stored.backoffUntil > now) return { kind: "backoff", until: stored.backoffUntil };
  const intent = intentIn(stored);
  if (intent) return recovering(work, wanted, intent);
  if (!isForRoot) {
    await work.load([destined(of.id, group)]);
    const head = work.head(destined(of.id, group));
    if (!head || dueAt(head, at, now) > now) return { kind: "early", first: [group, at] };
  }
  // The first group keeps its place: put off for a pace token, it would fall behind all the others.
  if (stored.paceUntil > now) return { kind: "pace", until: stored.paceUntil };
  const one = { kind: "taken", groups: [group], due: 1, isAll: false, isForRoot } as const;
  if (isForRoot) return one;
  const storm = await stormWith(redis, keys, work, wanted, group);
  // A storm was notified of a moment ago: gather what follows until every shard was swept again.
  const gather = inForce(stored.gatherUntil, now, aheadMs);
  if (storm && gather > now) return { kind: "gather", until: gather };
  return storm ? { kind: "taken", ...storm } : one;
}

/** The groups of a message of unknown outcome. */
async function recovering(work: GroupWork, { of, now }: Wanted, { at, askAt, groups }: Intent): Promise<Found> {
  if (now < askAt && at <= now) return { kind: "busy", until: askAt };
  const others = new GroupWork(work.redis, work.keys);
  const all = Object.keys(groups);
  await others.load(all.map((group) => destined(of.id, group)));
  const left = all.filter((group) => others.head(destined(of.id, group)));
  return { kind: "taken", groups: left, due: left.length, isAll: true };
}

/** What is due first: news goes before roots, of which many may be due at once and each takes its pace. */
async function nextOf(work: GroupWork, of: Integration, stored: Stored, now: Instant) {
  const first = await firstOf(work, of, stored);
  const { root } = stored;
  const isForRoot = root !== undefined && (first === undefined || (first[1] > now && root[1] < first[1]));
  const [group, at] = (isForRoot ? root : first) ?? [];
  return group === undefined || at === undefined ? undefined : { group, at, isForRoot };
}

/** The summary of a cold start goes first, unless it is refused as a message. */
async function firstOf(work: GroupWork, { id }: Integration, { first, startDue }: Stored): Promise<Timed | undefined> {
  if (startDue === undefined) return first;
  const start = destined(id, coldStartGroup);
  await work.load([start]);
  return work.head(start)?.failures ? first : [coldStartGroup, startDue];
}
