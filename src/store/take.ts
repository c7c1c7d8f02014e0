/** The claim of what is due at an integration: one group, or a storm of them, under one lease. */
import type { Redis } from "ioredis";
import { dueAt, type GroupHead } from "../alerting/group.ts";
import type { Integration } from "../alerting/route.ts";
import { type Claim, episodesIn, readMembers, type TakenGroup, toClaim, toClaimed } from "./claim.ts";
import { type ClaimText, claimedIn, find, intentIn, readStored, type Stored } from "./due.ts";
import { destined, GroupWork } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { pipelined, type Timed, timesIn } from "./redis.ts";
import { type Together, timesOf, type Wanted } from "./storm.ts";
import { document, type Transact } from "./transact.ts";

/** The most groups of which the index is put right at once. */
const PAGE = 200;
/** The lease of a storm is this long at least. */
const STORM_LEASE_MS = 20_000;

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
    const outcome = await transact(work.transaction([stored.claim, stored.intent]));
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
    await transact(work.transaction(checks));
    return true;
  }

  return async (wanted: Wanted): Promise<Claim> => {
    const { of, token, now } = wanted;
    for (;;) {
      const work = new GroupWork(redis, keys, token);
      const stored = await readStored(redis, keys, wanted);
      const mine = stored.claim.version === token ? claimedIn(stored.claim) : undefined;
      const found = mine ? { kind: "taken" as const, ...mine } : await find(redis, keys, work, wanted, stored);
      if (found.kind === "busy") await shortenLease(redis, keys.claim(of.id), stored);
      if (found.kind === "early") await putRight(wanted, found.first);
      if (found.kind === "early") continue;
      if (found.kind !== "taken") return found;
      const isStorm = found.groups.length > 1;
      const leaseMs = mine?.leaseMs ?? (isStorm ? Math.max(wanted.leaseMs, STORM_LEASE_MS) : wanted.leaseMs);
      if (!(await take(work, wanted, stored, { ...found, leaseMs }))) continue;
      const groups = await readTaken(redis, keys, of, { work, found });
      const intent = intentIn(stored);
      const also = intent ? Object.values(intent.groups).flatMap(episodesIn) : [];
      const episodes = await readMembers(redis, keys, of.id, [
        ...groups.flatMap((one) => [...one.members.keys()]),
        ...also,
      ]);
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

/** A lease expires by Redis' clock, which may have gone back. */
async function shortenLease(redis: Redis, key: string, { claim, leaseLeftMs }: Stored): Promise<void> {
  const leaseMs = claimedIn(claim)?.leaseMs;
  if (leaseMs !== undefined && leaseLeftMs > leaseMs) await redis.pexpire(key, leaseMs);
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
  const talks = all.map(({ head: { conversation } }) =>
    conversation?.groups === undefined ? undefined : keys.talk(of.id, conversation.id),
  );
  const rows = await pipelined<string[] | number>(redis, (batch) => {
    for (const { group } of all) batch.zrange(keys.members(of.id, group), 0, "-1", "WITHSCORES");
    for (const talk of talks) if (talk !== undefined) batch.scard(talk);
  });
  const counts = rows.slice(all.length);
  return all.map((one, i): TakenGroup => {
    const sharing = talks[i] === undefined ? undefined : (counts.shift() as number);
    return { ...one, sharing, members: new Map(timesIn(rows[i] as string[])) };
  });
}
