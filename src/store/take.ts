/** The claim of what is due at an integration: one group, or a storm of them, under one lease. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { dueAt, type GroupHead, isRipe } from "../alerting/group.ts";
import { type Integration, pacedBy } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import { type Claim, type Intent, readMembers, type TakenGroup, toClaim, toClaimed } from "./claim.ts";
import { destined, GroupWork } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { document, newId, parseRead, type Read, type Transact } from "./transact.ts";

/** The most that one summary contains. */
const STORM = { groups: 2_000, alerts: 20_000, leaseMs: 20_000 };
/** The most groups of which the index is put right at once. */
const PAGE = 200;
/** Clocks of replicas differ by less. */
const SKEW_MS = 5_000;

interface Wanted {
  readonly of: Integration;
  readonly token: string;
  readonly now: Instant;
  readonly leaseMs: number;
  /** A storm includes groups due for the first time this soon. */
  readonly aheadMs: number;
  /** It includes those that wait with something to send, and any two are one. */
  readonly gathersEnds: boolean;
}

type Timed = readonly [group: string, at: Instant];

interface Stored {
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

/** The groups of a claim; `isAll`: no group that would join was left for another one. */
interface Together {
  readonly groups: readonly string[];
  readonly due: number;
  readonly isAll: boolean;
  readonly isForRoot?: boolean | undefined;
}

/** `early`: the first group is to be decided later than the index has it. */
type Found =
  | Exclude<Claim, { readonly kind: "group" | "storm" | "intent" }>
  | (Together & { readonly kind: "taken" })
  | { readonly kind: "early"; readonly first: Timed };

export function createTake(redis: Redis, keys: Keys, { transact }: Transact) {
  /** False where another claim or change came first. */
  async function take(work: GroupWork, wanted: Wanted, stored: Stored, found: Together & { readonly leaseMs: number }) {
    const { of, token, now } = wanted;
    const { groups, leaseMs, isForRoot } = found;
    const places = groups.map((group) => destined(of.id, group));
    await work.load(places);
    if (stored.claim.version === token) return true;
    const until = now + leaseMs;
    for (const place of places) {
      const head = work.head(place);
      if (!head) continue;
      work.put(place, { ...head, claimed: token, began: now });
      if (isForRoot !== true) work.schedule(place, until);
      if (isForRoot || hasRoot(head)) work.scheduleRoot(place, until);
    }
    const text = JSON.stringify({ leaseMs, groups, isForRoot } satisfies ClaimText);
    if (groups.length > 0) work.writes.push(["HDEL", keys.changed(of.id), ...groups]);
    work.writes.push(["SET", keys.claim(of.id), document(token, text), "PX", leaseMs]);
    const outcome = await transact(work.transaction(token, [stored.claim, stored.intent]));
    return outcome.kind !== "conflict";
  }

  /** Groups that the index has too early are put right. False where the first is to be decided. */
  async function putRight({ of, now }: Wanted, [first, at]: Timed): Promise<boolean> {
    const work = new GroupWork(redis, keys);
    await work.load([destined(of.id, first)]);
    const head = work.head(destined(of.id, first));
    if (head && dueAt(head, at, now) <= now) return false;
    const timed = await timesOf(redis, keys.due(of.id), now, PAGE);
    await work.load(timed.map(([group]) => destined(of.id, group)));
    const gone: string[] = [];
    for (const [group, indexed] of timed) {
      const place = destined(of.id, group);
      const one = work.head(place);
      if (!one) gone.push(group);
      const due = one && dueAt(one, indexed, now);
      if (due === undefined || due > now) work.schedule(place, due);
    }
    if (gone.length > 0) work.writes.push(["HDEL", keys.changed(of.id), ...gone]);
    const checks = gone.map((group) => ({ place: [keys.settings(of.id), group] as const, version: "" }));
    await transact(work.transaction(newId(), checks));
    return true;
  }

  return async (wanted: Wanted): Promise<Claim> => {
    const { of, token, now } = wanted;
    for (;;) {
      const work = new GroupWork(redis, keys);
      const stored = await readStored(redis, keys, wanted);
      const mine = stored.claim.version === token ? claimedIn(stored.claim) : undefined;
      const found = mine ? { kind: "taken" as const, ...mine } : await find(redis, keys, work, wanted, stored);
      if (found.kind === "busy") await shortenLease(redis, keys.claim(of.id), stored);
      if (found.kind === "early") await putRight(wanted, found.first);
      if (found.kind === "early") continue;
      if (found.kind !== "taken") return found;
      const isStorm = found.groups.length > 1;
      const leaseMs = mine?.leaseMs ?? (isStorm ? Math.max(wanted.leaseMs, STORM.leaseMs) : wanted.leaseMs);
      if (!(await take(work, wanted, stored, { ...found, leaseMs }))) continue;
      const groups = await readTaken(redis, keys, of, { work, found });
      const intent = intentIn(stored);
      const also = intent ? Object.values(intent.groups).flatMap((one) => [...one.firing, ...one.resolved]) : [];
      const episodes = await readMembers(redis, keys, of.id, [...groups.flatMap((one) => one.episodes), ...also]);
      const facts = { failures: stored.failures, now, isForRoot: found.isForRoot === true };
      if (!intent) return toClaim({ ...facts, due: found.due, isAll: found.isAll, leaseMs }, groups, episodes);
      return { kind: "intent", intent, groups: groups.map((one) => toClaimed(one, episodes, facts)), episodes };
    }
  };
}

/** Its root is edited, or it shares one. */
function hasRoot({ shown, conversation }: GroupHead): boolean {
  return shown !== undefined || conversation?.groups !== undefined;
}

async function timesOf(redis: Redis, key: string, to: Instant, most: number): Promise<Timed[]> {
  const flat = await redis.zrangebyscore(key, "-inf", to, "WITHSCORES", "LIMIT", 0, most);
  return flat.flatMap((group, i) => (i % 2 === 0 ? [[group, Number(flat[i + 1])] as const] : []));
}

function intentIn({ intent: { text } }: Pick<Stored, "intent">): Intent | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Intent);
}

async function readStored(redis: Redis, keys: Keys, { of, now }: Wanted): Promise<Stored> {
  const { id, endpoint, paceMs } = of;
  const due = keys.due(id);
  const [claim, left, intent, shared, own, state, first, root, start, pace, storm] = await pipelined<unknown>(
    redis,
    (batch) => {
      batch.get(keys.claim(id)).pttl(keys.claim(id)).get(keys.intent(id));
      for (const scope of [endpoint, id]) batch.hmget(keys.backoff(scope), "until", "failures", "failedAt");
      batch.hget(keys.started, "state").zrange(due, 0, "0", "WITHSCORES").zrange(keys.roots(id), 0, "0", "WITHSCORES");
      batch.zscore(due, coldStartGroup);
      batch.get(keys.pace(pacedBy(of))).get(keys.storm(id));
    },
  );
  const backoffs = await Promise.all(
    [shared, own].map((row, i) =>
      backoffIn(redis, keys.backoff(i === 0 ? endpoint : id), row as (string | null)[], now),
    ),
  );
  const timed = ([group, at]: readonly string[]): Timed | undefined =>
    group === undefined ? undefined : [group, Number(at)];
  return {
    claim: parseRead([keys.claim(id)], claim as string | null),
    intent: parseRead([keys.intent(id)], intent as string | null),
    leaseLeftMs: left as number,
    backoffUntil: Math.max(...backoffs.map(({ until }) => until)),
    failures: Math.max(...backoffs.map(({ failures }) => failures)),
    isStarted: state === "summed",
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

/** A lease expires by Redis' clock, which may have gone back. */
async function shortenLease(redis: Redis, key: string, { claim, leaseLeftMs }: Stored): Promise<void> {
  const leaseMs = claimedIn(claim)?.leaseMs;
  if (leaseMs !== undefined && leaseLeftMs > leaseMs) await redis.pexpire(key, leaseMs);
}

interface ClaimText {
  readonly leaseMs: number;
  readonly groups: readonly string[];
  readonly isForRoot: boolean | undefined;
}

function claimedIn({ text }: Read): (Together & { readonly leaseMs: number }) | undefined {
  if (text === undefined) return undefined;
  const { groups, ...claim } = JSON.parse(text) as ClaimText;
  return { ...claim, groups, due: groups.length, isAll: false };
}

async function find(redis: Redis, keys: Keys, work: GroupWork, wanted: Wanted, stored: Stored): Promise<Found> {
  const { of, now, aheadMs } = wanted;
  if (stored.claim.version !== "") {
    const leaseMs = claimedIn(stored.claim)?.leaseMs ?? stored.leaseLeftMs;
    return { kind: "busy", until: now + Math.max(1, Math.min(leaseMs, stored.leaseLeftMs)) };
  }
  // After a cold start nothing is sent before its summary is made.
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

interface Ripe {
  readonly group: string;
  readonly head: GroupHead;
}

/**
 * The groups due together with the first; undefined unless more are due than the `storm` of its route. Each refusal of the
 * first as a message halves the storm: one bad group must not block the others.
 */
async function stormWith(
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
    for (const { group } of ripe) batch.scard(keys.members(of.id, group));
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

interface Taken {
  readonly work: GroupWork;
  readonly found: Together;
}

/** The claimed groups with their members. */
async function readTaken(redis: Redis, keys: Keys, of: Integration, { work, found }: Taken) {
  const all = found.groups.flatMap((group) => {
    const head = work.head(destined(of.id, group));
    return head ? [{ group, head }] : [];
  });
  const talks = all.map(({ head: { maybeIn, conversation = maybeIn } }) =>
    conversation?.groups === undefined ? undefined : keys.talk(of.id, conversation.id),
  );
  const rows = await pipelined<string[] | number>(redis, (batch) => {
    for (const { group } of all) batch.smembers(keys.members(of.id, group));
    for (const talk of talks) if (talk !== undefined) batch.scard(talk);
  });
  const counts = rows.slice(all.length);
  return all.map((one, i): TakenGroup => {
    const sharing = talks[i] === undefined ? undefined : (counts.shift() as number);
    return { ...one, sharing, episodes: rows[i] as string[] };
  });
}
