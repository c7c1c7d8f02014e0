/**
 * The groups of each integration: what is due, and the notification log. Delivery claims a due group, decides, then
 * settles or postpones it; each takes effect whole, so that a crash between two repeats at most the message in flight.
 */
import type { Redis } from "ioredis";
import { released } from "../alerting/group.ts";
import type { NotificationLogEntry, NotifiedEntry, NotifyErrorCode } from "../alerting/model.ts";
import { LATE_MOST_MS } from "../alerting/needs-update.ts";
import { firstNotifiedAtOf, isNotified } from "../alerting/notification-log.ts";
import { keysOf } from "../alerting/pages.ts";
import { type Integration, pacedBy } from "../alerting/route.ts";
import type { Alert } from "../health/alert.ts";
import type { IntegrationTrouble } from "../health/evaluate-self.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Intent } from "./claim.ts";
import { createSync } from "./confirm.ts";
import { collectEpisodes, destinationsIn, destined, GroupWork, isFiring, partsOf } from "./group-work.ts";
import { scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { createReroute } from "./reroute.ts";
import { createSettle } from "./settle.ts";
import type { GroupOutcome, Turn } from "./settlement.ts";
import { createTake } from "./take.ts";
import { type Check, createTransact, newId, type Transact, writing } from "./transact.ts";

export type { Claim, Claimed, ClaimedIntent, ClaimedStorm, Intent, Member } from "./claim.ts";
export type { GroupOutcome, Postponement, Settlement } from "./settlement.ts";

interface NotifyTrouble extends IntegrationTrouble {
  readonly code: NotifyErrorCode;
}

/** A backoff that ended longer ago is over, unless something is due there: a send takes less. */
const OVER_MS = 300_000;

/** Redis answers nothing else during a call: the most alerts that one reads. */
const PAGE = 200;

/** `syncing`: a connection of its own for what is to be on disk, so that nothing else waits for that. */
export function createGroupStore(redis: Redis, keys: Keys, transact: Transact, syncing?: Redis, log?: Logger) {
  const timers = createGroupTimers(redis, keys, transact);
  const end = createSettle(redis, keys, transact);
  const notified = async (integration: string): Promise<NotifiedEntry[]> =>
    (await redis.hvals(keys.notificationLog(integration))).map(entryIn).filter(isNotified);
  return {
    ...timers,
    ...createClaims(redis, keys, transact, syncing, log),
    pace: createPace(keys, transact.change),

    /**
     * Ends a claim, all of it or nothing, so that a crash never repeats part of it: each group is settled, or due again
     * later. Gives when something is due next at the integration.
     */
    async settle(
      integration: Integration,
      token: string,
      outcomes: readonly GroupOutcome[],
      more: Pick<Turn, "intent" | "askAt" | "only" | "gather"> = {},
    ): Promise<Instant | undefined> {
      await end({ integration, token, outcomes, overMs: OVER_MS, ...more });
      return (await timers.nextDue([integration.id])).get(integration.id);
    },

    /** The trouble that the integration keeps failing with, if any; `isOver` once nothing is due there to try it with. */
    async trouble({ id, endpoint }: Integration, now: Instant): Promise<NotifyTrouble | undefined> {
      const [shared, own, messages, next] = await pipelined<(string | null)[]>(redis, (batch) => {
        for (const scope of [endpoint, id]) batch.hmget(keys.backoff(scope), "since", "code", "detail", "until");
        batch.hvals(keys.trouble(id));
        batch.zrange(keys.due(id), 0, "0", "WITHSCORES");
      });
      const isDue = Number(next?.[1] ?? Number.POSITIVE_INFINITY) <= now;
      const troubles = [shared, own].flatMap((row, i): NotifyTrouble[] => {
        const [since, code, detail, until] = row ?? [];
        if (!since) return [];
        const isOver = !isDue && Number(until) + OVER_MS < now;
        const known = { since: Number(since), code: code as NotifyErrorCode, detail: detail ?? "" };
        return [{ ...known, ...(i === 0 && { endpoint }), ...(isOver && { isOver }) }];
      });
      const ofMessages = (messages ?? []).slice(0, 1).map((text) => JSON.parse(text ?? "") as NotifyTrouble);
      const all = [...troubles, ...ofMessages];
      return all.find(({ isOver }) => !isOver) ?? all[0];
    },

    /**
     * Deletes resolved episodes that no group has as a member, where a process died before it did, and those that were
     * never notified and are too late.
     */
    async collect(now: Instant): Promise<void> {
      const resolved: string[] = [];
      const late: string[] = [];
      await scanHash(redis, keys.alerts, (id, text) => {
        if (isFiring(text)) return;
        resolved.push(id);
        if (now - (JSON.parse(text.slice(1)) as Alert).updatedAt > LATE_MOST_MS) late.push(id);
      });
      await dropLate(redis, keys, transact, late);
      await collectEpisodes(redis, keys, resolved);
    },

    /** Every integration that was ever owed or notified of something. */
    knownIntegrations: () => redis.smembers(keys.integrations),

    /** Gives when each episode was first notified at any of these integrations; one that never was is left out. */
    async firstNotified(integrations: readonly string[], episodes: readonly string[]): Promise<Map<string, Instant>> {
      const first = new Map<string, Instant>();
      for (const page of chunksOf(episodes, PAGE)) {
        const replies = await pipelined<(string | null)[]>(redis, (batch) => {
          for (const id of integrations) batch.hmget(keys.notificationLog(id), ...page);
        });
        for (const text of replies.flat()) {
          const entry = entryIn(text);
          if (!isNotified(entry) || entry.unsure) continue;
          const at = firstNotifiedAtOf(entry);
          first.set(entry.alert.id, Math.min(at, first.get(entry.alert.id) ?? at));
        }
      }
      return first;
    },

    /** The entries of an integration's log of alerts that were, or may have been, notified as firing and whose end was not yet. */
    notified,

    /** True while an end is, or may be, owed there. */
    owes: async (integration: string): Promise<boolean> =>
      (await redis.exists(keys.intent(integration))) > 0 || (await notified(integration)).length > 0,

    /** The entries of `notified` that are, or may be, on one of these pages. */
    async paged(integration: string, pages: ReadonlySet<string>): Promise<NotifiedEntry[]> {
      const texts = await redis.hvals(keys.notificationLog(integration));
      const some = texts.filter((text) => [...pages].some((key) => text.includes(key)));
      const entries = some.map(entryIn).filter(isNotified);
      return entries.filter((entry) => keysOf(entry).some((key) => pages.has(key)));
    },
  };
}

/** The entry of an episode in a notification log. */
function entryIn(text: string | null): NotificationLogEntry | undefined {
  return text === null ? undefined : (JSON.parse(text) as NotificationLogEntry);
}

/** Episodes leave the groups of integrations that were never notified of them. */
async function dropLate(redis: Redis, keys: Keys, { transact }: Transact, late: readonly string[]): Promise<void> {
  for (const page of chunksOf(late, PAGE)) {
    const places = [...(await destinationsIn(redis, keys, page))].flatMap(([id, all]) =>
      all.map((place) => ({ id, place })),
    );
    const work = new GroupWork(redis, keys);
    await work.load(places.map(({ place }) => place));
    const known = await pipelined<string | null>(redis, (batch) => {
      for (const { id, place } of places) batch.hget(keys.notificationLog(partsOf(place).integration), id);
    });
    for (const [i, { id, place }] of places.entries()) {
      if (isNotified(entryIn(known[i] ?? null))) continue;
      work.leave(place, id);
      work.know(partsOf(place).integration, id, undefined);
    }
    await transact(work.transaction());
  }
}

function createClaims(redis: Redis, keys: Keys, transact: Transact, syncing?: Redis, log?: Logger) {
  const own = syncing && { ...createTransact(syncing, keys), sync: createSync(syncing, keys.replicas, log) };
  const take = createTake(redis, keys, transact);
  return {
    /**
     * Claims the integration's first due group, or a storm of them; `leaseMs` must be longer than the deadline of any
     * send. A storm includes groups due for the first time within `aheadMs`; with `gathersEnds`, also those that wait with
     * something to send, and any number of groups is one.
     */
    claim: (of: Integration, token: string, now: Instant, leaseMs: number, aheadMs = 0, gathersEnds = false) =>
      take({ of, token, now, leaseMs, aheadMs, gathersEnds }),

    /**
     * Writes what may be sent from now on, to disk with `isSynced`, and renews the lease of the claim; false where that is
     * another's by now, or `only` does not hold.
     */
    async intend(
      { id }: Integration,
      { token, ms }: { readonly token: string; readonly ms: number },
      intent: Intent,
      { isSynced = false, only }: { readonly isSynced?: boolean; readonly only?: Check | undefined } = {},
    ): Promise<boolean> {
      const write = newId();
      const claim = keys.claim(id);
      const checks = [{ place: [claim] as const, version: token }, ...(only ? [only] : [])];
      const writes = [writing(write, [keys.intent(id)], JSON.stringify(intent)), ["PEXPIRE", claim, ms] as const];
      const by = isSynced ? (own ?? transact) : transact;
      const { kind } = await by.transact({ id: write, checks, writes });
      if (kind !== "conflict" && by === own) await own.sync();
      return kind !== "conflict";
    },

    /** Tells whether any of these episodes fires no longer, as stored. */
    async hasEnded(episodes: readonly string[]): Promise<boolean> {
      for (const page of chunksOf(episodes, PAGE)) {
        const alerts = await redis.hmget(keys.alerts, ...page);
        if (alerts.some((text) => !text?.startsWith("F"))) return true;
      }
      return false;
    },
  };
}

/** Takes a pace token (0), or gives how many ms to wait for one. The time of the next is the version of what is stored. */
function createPace(keys: Keys, change: Transact["change"]) {
  return async (of: Integration, now: Instant): Promise<number> => {
    const { paceMs } = of;
    const key = keys.pace(pacedBy(of));
    if (paceMs === 0) return 0;
    return change([[key]], ([{ version }]) => {
      const freeAt = Number(version);
      if (freeAt > now && freeAt <= now + 2 * paceMs) return { writes: [], result: freeAt - now };
      return { writes: [["SET", key, now + paceMs, "PX", 2 * paceMs]], result: 0 };
    });
  };
}

function createGroupTimers(redis: Redis, keys: Keys, transact: Transact) {
  return {
    /** Gives when each integration has something due next; those with nothing due are left out. */
    async nextDue(integrations: readonly string[]): Promise<Map<string, Instant>> {
      const replies = await pipelined<string[]>(redis, (batch) => {
        for (const id of integrations)
          batch.zrange(keys.due(id), 0, "0", "WITHSCORES").zrange(keys.roots(id), 0, "0", "WITHSCORES");
      });
      const due = integrations.map((id, i) => {
        const times = [replies[2 * i], replies[2 * i + 1]].flatMap((row) => (row?.[1] ? [Number(row[1])] : []));
        return [id, Math.min(...times)] as const;
      });
      return new Map(due.filter(([, at]) => at < Number.POSITIVE_INFINITY));
    },

    /** Makes every group of the integration due now. */
    async hasten(integration: string, now: Instant): Promise<void> {
      const groups = await redis.zrange(keys.due(integration), 0, "-1");
      for (const page of chunksOf(groups, PAGE)) {
        for (let isDone = false; !isDone; ) {
          const work = new GroupWork(redis, keys);
          const places = page.map((group) => destined(integration, group));
          await work.load(places);
          for (const place of places) {
            const head = work.head(place);
            if (head) work.put(place, { ...released(head, now, false), retryAt: undefined });
            work.due(place, now);
          }
          isDone = (await transact.transact(work.transaction())).kind !== "conflict";
        }
      }
    },

    reroute: createReroute(redis, keys, transact),
  };
}
