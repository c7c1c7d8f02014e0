/** The claim of what is due at an integration: one group, or a storm of them, under one lease. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { type GroupState, isForRoot, isRipe, laterNews, taken } from "../alerting/group.ts";
import { type Integration, pacedBy } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import { type Claim, type Intent, readMembers, type TakenGroup, toClaim, toClaimed } from "./claim.ts";
import { destined, GroupWork } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { document, parseRead, type Read, type Transact } from "./transact.ts";

/** The most that one summary contains. */
const STORM = { groups: 2_000, alerts: 20_000, leaseMs: 20_000 };
/** No send takes longer. */
const DEADLINE_MS = 10_000;
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

interface Stored {
  readonly claim: Read;
  readonly intent: Read;
  /** The rest of the lease, ms. */
  readonly leaseLeftMs: number;
  readonly backoffUntil: Instant;
  readonly failures: number;
  readonly isStarted: boolean;
  /** The first group that is due. */
  readonly first: readonly [group: string, due: Instant] | undefined;
  readonly startDue: Instant | undefined;
  readonly paceUntil: Instant;
  readonly gatherUntil: Instant;
}

/** The groups of a claim; `isAll`: no group that would join was left for another one. */
interface Together {
  readonly groups: readonly string[];
  readonly due: number;
  readonly isAll: boolean;
}

type Found = Exclude<Claim, { readonly kind: "group" | "storm" | "intent" }> | (Together & { readonly kind: "taken" });

export function createTake(redis: Redis, keys: Keys, { transact }: Transact) {
  /** False where another claim or change came first. */
  async function take(
    work: GroupWork,
    wanted: Wanted,
    stored: Stored,
    { groups, leaseMs }: Together & { readonly leaseMs: number },
  ) {
    const { of, token, now } = wanted;
    const places = groups.map((group) => destined(of.id, group));
    await work.load(places);
    const gone = groups.filter((_, i) => work.state(places[i] ?? "") === undefined);
    const isMine = stored.claim.version === token;
    if (gone.length > 0 && !isMine) {
      await redis.zrem(keys.due(of.id), ...gone);
      return undefined;
    }
    const before = places.map((place) => work.state(place));
    for (const [i, place] of places.entries()) {
      const state = before[i];
      if (state) work.put(place, taken(state, { token, now, leaseMs }));
    }
    if (isMine) return before;
    const text = `${leaseMs}\n${groups.join("\n")}`;
    work.writes.push(["SET", keys.claim(of.id), document(token, text), "PX", leaseMs]);
    const outcome = await transact(work.transaction(token, [stored.claim, stored.intent]));
    return outcome.kind === "conflict" ? undefined : before;
  }

  return async (wanted: Wanted): Promise<Claim> => {
    const { of, token, now } = wanted;
    for (;;) {
      const work = new GroupWork(redis, keys);
      const stored = await readStored(redis, keys, wanted);
      const mine = stored.claim.version === token ? claimedIn(stored.claim) : undefined;
      const found = mine ? { kind: "taken" as const, ...mine } : await find(redis, keys, work, wanted, stored);
      if (found.kind !== "taken") {
        if (found.kind === "busy") await shortenLease(redis, keys.claim(of.id), stored);
        return found;
      }
      const isStorm = found.groups.length > 1;
      const leaseMs = mine?.leaseMs ?? (isStorm ? Math.max(wanted.leaseMs, STORM.leaseMs) : wanted.leaseMs);
      const before = await take(work, wanted, stored, { ...found, leaseMs });
      if (!before) continue;
      const groups = await readTaken(redis, keys, of, { work, before, found, now });
      const intent = intentIn(stored);
      const also = intent ? Object.values(intent.groups).flatMap((one) => [...one.firing, ...one.resolved]) : [];
      const episodes = await readMembers(redis, keys, of.id, [...groups.flatMap((one) => one.episodes), ...also]);
      const { failures } = stored;
      if (!intent) return toClaim({ failures, due: found.due, isAll: found.isAll, leaseMs }, groups, episodes);
      return { kind: "intent", intent, groups: groups.map((one) => toClaimed(one, episodes, failures)), episodes };
    }
  };
}

function intentIn({ intent: { text } }: Pick<Stored, "intent">): Intent | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Intent);
}

async function readStored(redis: Redis, keys: Keys, { of, now }: Wanted): Promise<Stored> {
  const { id, endpoint, paceMs } = of;
  const due = keys.due(id);
  const [claim, left, intent, shared, own, state, first, start, pace, storm] = await pipelined<unknown>(
    redis,
    (batch) => {
      batch.get(keys.claim(id)).pttl(keys.claim(id)).get(keys.intent(id));
      for (const scope of [endpoint, id]) batch.hmget(keys.backoff(scope), "until", "failures", "failedAt");
      batch.hget(keys.started, "state").zrange(due, 0, "0", "WITHSCORES").zscore(due, coldStartGroup);
      batch.get(keys.pace(pacedBy(of))).get(keys.storm(id));
    },
  );
  const backoffs = await Promise.all(
    [shared, own].map((row, i) =>
      backoffIn(redis, keys.backoff(i === 0 ? endpoint : id), row as (string | null)[], now),
    ),
  );
  const [group, at] = first as string[];
  return {
    claim: parseRead([keys.claim(id)], claim as string | null),
    intent: parseRead([keys.intent(id)], intent as string | null),
    leaseLeftMs: left as number,
    backoffUntil: Math.max(...backoffs.map(({ until }) => until)),
    failures: Math.max(...backoffs.map(({ failures }) => failures)),
    isStarted: state === "summed",
    first: group === undefined ? undefined : [group, Number(at)],
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

function claimedIn({ text }: Read): (Together & { readonly leaseMs: number }) | undefined {
  if (text === undefined) return undefined;
  const [leaseMs, ...groups] = text.split("\n");
  const named = groups.filter((group) => group !== "");
  return { groups: named, due: named.length, isAll: false, leaseMs: Number(leaseMs) };
}

async function find(redis: Redis, keys: Keys, work: GroupWork, wanted: Wanted, stored: Stored): Promise<Found> {
  const { of, now, aheadMs } = wanted;
  if (stored.claim.version !== "") {
    const leaseMs = claimedIn(stored.claim)?.leaseMs ?? stored.leaseLeftMs;
    return { kind: "busy", until: now + Math.max(1, Math.min(leaseMs, stored.leaseLeftMs)) };
  }
  // After a cold start nothing is sent before its summary is made.
  if (!stored.isStarted) return { kind: "idle", until: undefined };
  const first = await firstOf(work, of, stored);
  if (!first) return { kind: "idle", until: undefined };
  if (first[1] > now) return { kind: "idle", until: first[1] };
  if (stored.backoffUntil > now) return { kind: "backoff", until: stored.backoffUntil };
  const intent = intentIn(stored);
  if (intent) return recovering(work, wanted, intent);
  // The first group keeps its place: put off for a pace token, it would fall behind all the others.
  if (stored.paceUntil > now) return { kind: "pace", until: stored.paceUntil };
  const group = await newsBefore(redis, keys, work, wanted, first[0]);
  const storm = await stormWith(redis, keys, work, wanted, group);
  // A storm was notified of a moment ago: gather what follows until every shard was swept again.
  const gather = inForce(stored.gatherUntil, now, aheadMs);
  if (storm && gather > now) return { kind: "gather", until: gather };
  return { kind: "taken", ...(storm ?? { groups: [group], due: 1, isAll: false }) };
}

/** The groups of a message of unknown outcome, which is asked about once its deadline is over. */
async function recovering(work: GroupWork, { of, now }: Wanted, { at, groups }: Intent): Promise<Found> {
  if (now < at + DEADLINE_MS && at <= now) return { kind: "busy", until: at + DEADLINE_MS };
  const others = new GroupWork(work.redis, work.keys);
  const all = Object.keys(groups);
  await others.load(all.map((group) => destined(of.id, group)));
  const left = all.filter((group) => others.state(destined(of.id, group)));
  return { kind: "taken", groups: left, due: left.length, isAll: true };
}

/** The summary of a cold start goes first, unless it is refused as a message. */
async function firstOf(work: GroupWork, { id }: Integration, { first, startDue }: Stored) {
  if (startDue === undefined) return first;
  const start = destined(id, coldStartGroup);
  await work.load([start]);
  return work.state(start)?.head.failures ? first : ([coldStartGroup, startDue] as const);
}

/** News goes before the roots, of which many may be due at once and each takes its pace. */
async function newsBefore(
  redis: Redis,
  keys: Keys,
  work: GroupWork,
  { of, now }: Wanted,
  first: string,
): Promise<string> {
  if (!of.conversation) return first;
  const isRoot = (group: string) => {
    const state = work.state(destined(of.id, group));
    return state !== undefined && isForRoot(state.head, now);
  };
  await work.load([destined(of.id, first)]);
  if (!isRoot(first)) return first;
  const due = await redis.zrangebyscore(keys.due(of.id), "-inf", now, "LIMIT", 0, STORM.groups);
  const others = new GroupWork(redis, keys);
  await others.load(due.map((group) => destined(of.id, group)));
  const news = due.find((group) => {
    const state = others.state(destined(of.id, group));
    return state === undefined || !isForRoot(state.head, now);
  });
  return news ?? first;
}

interface Ripe {
  readonly group: string;
  readonly state: GroupState | undefined;
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
  await work.load([destined(of.id, first)]);
  const head = work.state(destined(of.id, first))?.head;
  if (head?.stormGroups === undefined || head.shown !== undefined) return undefined;
  const limit = gathersEnds ? 1 : head.stormGroups;
  const soon = now + Math.max(aheadMs, gathersEnds ? head.intervalMs : 0);
  if ((await redis.zcount(keys.due(of.id), "-inf", soon)) <= limit) return undefined;
  const range = await redis.zrangebyscore(keys.due(of.id), "-inf", soon, "LIMIT", 0, STORM.groups);
  const looked = new GroupWork(redis, keys);
  await looked.load(range.map((group) => destined(of.id, group)));
  // With a root of its own that is edited, a group is sent by itself.
  const ripe = range.flatMap((group): Ripe[] => {
    const state = looked.state(destined(of.id, group));
    if (state?.head.shown !== undefined) return [];
    return !state || isRipe(state, now, aheadMs) ? [{ group, state }] : [];
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
  for (const [i, { group, state }] of ripe.entries()) {
    if (groups.length >= most) return { groups, isAll: false };
    alerts += sizes[i] ?? 0;
    if (alerts > STORM.alerts && groups.length > 0) return { groups, isAll: false };
    const limit = state?.head.stormGroups;
    if (limit !== undefined && joins(limit)) groups.push(group);
  }
  return { groups, isAll: true };
}

interface Taken {
  readonly work: GroupWork;
  readonly before: readonly (GroupState | undefined)[];
  readonly found: Together;
  readonly now: Instant;
}

/** The claimed groups with their members. */
async function readTaken(redis: Redis, keys: Keys, of: Integration, { work, before, found, now }: Taken) {
  const all = found.groups.flatMap((group, i) => {
    const state = work.state(destined(of.id, group));
    const earlier = before[i];
    return state && earlier ? [{ group, head: state.head, newsAt: laterNews(earlier.head, now) }] : [];
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
