/** The groups that one summary takes, where more are due at an integration than are sent one by one. */
import type { Redis } from "ioredis";
import { dueAt, type GroupHead, isRipe } from "../alerting/group.ts";
import type { Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import { destined, GroupWork } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { pipelined, type Timed, timesIn } from "./redis.ts";

/** The most that one summary contains. */
const STORM = { groups: 2_000, alerts: 20_000 };

export interface Wanted {
  readonly of: Integration;
  readonly token: string;
  readonly now: Instant;
  readonly leaseMs: number;
  /** A storm includes groups due for the first time this soon. */
  readonly aheadMs: number;
  /** It includes those that wait with something to send, and any two are one. */
  readonly gathersEnds: boolean;
}

/** The groups of a claim; `isAll`: no group that would join was left for another one. */
export interface Together {
  readonly groups: readonly string[];
  readonly due: number;
  readonly isAll: boolean;
  readonly isForRoot?: boolean | undefined;
}

export async function timesOf(redis: Redis, key: string, to: Instant, most: number): Promise<Timed[]> {
  return timesIn(await redis.zrangebyscore(key, "-inf", to, "WITHSCORES", "LIMIT", 0, most));
}

interface Ripe {
  readonly group: string;
  readonly head: GroupHead;
}

/**
 * The groups due together with the first; undefined unless more are due than the `storm` of its route. Each refusal of the
 * first as a message halves the storm: one bad group must not block the others.
 */
export async function stormWith(
  redis: Redis,
  keys: Keys,
  work: GroupWork,
  { of, now, aheadMs, gathersEnds }: Wanted,
  first: string,
): Promise<Together | undefined> {
  const head = work.head(destined(of.id, first));
  if (head?.stormGroups === undefined || head.shown !== undefined) return undefined;
  const limit = gathersEnds ? 1 : head.stormGroups;
  const soon = now + Math.max(aheadMs, gathersEnds ? head.intervalMs : 0);
  if ((await redis.zcount(keys.due(of.id), "-inf", soon)) <= limit) return undefined;
  const range = await timesOf(redis, keys.due(of.id), soon, STORM.groups);
  const looked = new GroupWork(redis, keys);
  await looked.load(range.map(([group]) => destined(of.id, group)));
  // With a root of its own that is edited, a group is sent by itself.
  const ripe = range.flatMap(([group, indexed]): Ripe[] => {
    const one = looked.head(destined(of.id, group));
    if (!one || one.shown !== undefined) return [];
    return isRipe(one, dueAt(one, indexed, now), { now, aheadMs, gathersEnds }) ? [{ group, head: one }] : [];
  });
  if (ripe.length <= limit) return undefined;
  const most = ripe.length / 2 ** (head.failures ?? 0);
  const sizes = await pipelined<number>(redis, (batch) => {
    for (const { group } of ripe) batch.zcard(keys.members(of.id, group));
  });
  const together = fitting(ripe, sizes, most, (group) => gathersEnds || group < ripe.length);
  if (together.groups.length < 2) return undefined;
  return { ...together, due: ripe.length, isAll: together.isAll && range.length < STORM.groups };
}

/** The groups that join, as many as one summary has room for. */
function fitting(
  ripe: readonly Ripe[],
  sizes: readonly number[],
  most: number,
  joins: (stormGroups: number) => boolean,
) {
  const groups: string[] = [];
  let alerts = 0;
  for (const [i, { group, head }] of ripe.entries()) {
    if (groups.length >= most) return { groups, isAll: false };
    alerts += sizes[i] ?? 0;
    if (alerts > STORM.alerts && groups.length > 0) return { groups, isAll: false };
    const limit = head.stormGroups;
    if (limit !== undefined && joins(limit)) groups.push(group);
  }
  return { groups, isAll: true };
}
