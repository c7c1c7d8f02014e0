/**
 * The groups of each integration: what is due, and the notification log. Delivery claims a due group, decides, then
 * settles or postpones it; each is one script, so that a crash between two repeats at most the message in flight.
 */
import type { Redis } from "ioredis";
import type { SuppressedState } from "../alerting/needs-update.ts";
import type { NotificationLogEntry, NotifyErrorCode } from "../alerting/notification.ts";
import type { Destination, Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import { decodeClaim } from "./claim.ts";
import type { EncodeLog } from "./decision-log.ts";
import type { Keys } from "./keys.ts";
import { loadScript, pipelined } from "./redis.ts";

export type { Claim, Claimed, ClaimedStorm } from "./claim.ts";

/** Where a failure counts: the endpoint, this integration (a refused recipient), or the one message. */
export type FailureScope = "endpoint" | "integration" | "message";

interface NotifyTrouble {
  readonly since: Instant;
  readonly code: NotifyErrorCode;
  readonly detail: string;
  /** Where it concerns every integration that uses the endpoint. */
  readonly endpoint?: string;
  readonly isOver?: boolean;
}

/** A backoff that ended longer ago is over, unless something is due there: a send takes less. */
const OVER_MS = 300_000;

/** The most that one summary contains: Redis answers nothing else while it is claimed and settled. */
const STORM = { groups: 2_000, alerts: 20_000, leaseMs: 20_000 };

/** The result of a decision about a group, stored after its message was accepted, where there is one. */
export interface Settlement {
  readonly now: Instant;
  /** Whether a message was accepted. */
  readonly sent: boolean;
  readonly notified: readonly NotificationLogEntry[];
  /** Episodes that leave the integration: their end was notified, or none is owed. */
  readonly over: readonly string[];
  /** Episodes that leave this group only: another group may owe them. */
  readonly unnotified: readonly string[];
  readonly nextAt: Instant | undefined;
  /** By default nothing is suppressed. */
  readonly suppressedState?: SuppressedState;
  readonly lines?: Parameters<EncodeLog>[0];
}

/** When a group is retried, and after which failure. */
export interface Postponement {
  readonly now: Instant;
  readonly at: Instant;
  readonly failure?: { readonly code: NotifyErrorCode; readonly detail: string; readonly scope: FailureScope };
  readonly lines?: Parameters<EncodeLog>[0];
}

export type GroupOutcome = { readonly group: string } & (
  | { readonly settle: Settlement }
  | { readonly postpone: Postponement }
);

export function createGroupStore(redis: Redis, keys: Keys, encodeLog: EncodeLog) {
  const timers = createGroupTimers(redis, keys);
  return {
    ...timers,
    ...createClaims(redis, keys),
    ...createOutcomes(redis, keys, encodeLog, timers),

    /** What the integration keeps failing with, if anything; `isOver` once nothing is due there to try it with. */
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

    /** Every integration that was ever owed or notified of something. */
    knownIntegrations: () => redis.smembers(keys.integrations),

    /** The notification log of an integration: alerts notified as firing whose end was not notified yet. */
    async notified(integration: string): Promise<NotificationLogEntry[]> {
      const entries = await redis.hvals(keys.notificationLog(integration));
      return entries.map((text) => JSON.parse(text) as NotificationLogEntry);
    },
  };
}

function createClaims(redis: Redis, keys: Keys) {
  const claim = loadScript(redis, keys, "claim", "groups");
  const pace = loadScript(redis, keys, "pace");
  return {
    /**
     * Claims the integration's first due group, or a storm of them; `leaseMs` must be longer than the deadline of any
     * send. A storm includes groups due for the first time within `aheadMs`.
     */
    async claim({ id, endpoint, paceMs }: Integration, token: string, now: Instant, leaseMs: number, aheadMs = 0) {
      const args = { integration: id, endpoint, token, now, leaseMs, paceMs, aheadMs, storm: STORM };
      return decodeClaim((await claim(keys.claim(id), args)) as [string, ...string[][]]);
    },

    /** Takes a pace token (0), or gives how many ms to wait for one. */
    async pace({ endpoint, paceMs }: Integration, now: Instant): Promise<number> {
      return paceMs === 0 ? 0 : Number(await pace(keys.pace(endpoint), { now, paceMs }));
    },
  };
}

function createOutcomes(redis: Redis, keys: Keys, encodeLog: EncodeLog, { nextDue }: GroupTimers) {
  const scripts = {
    settle: loadScript(redis, keys, "settle", "groups", "log"),
    postpone: loadScript(redis, keys, "postpone", "groups", "log"),
  };

  function callOf({ id, endpoint }: Integration, token: string, outcome: GroupOutcome) {
    const key = keys.claim(id);
    const common = { integration: id, endpoint, token, group: outcome.group, overMs: OVER_MS };
    if ("postpone" in outcome) {
      const { lines, ...postpone } = outcome.postpone;
      return [scripts.postpone, key, { ...common, ...postpone, log: encodeLog(lines, postpone.now) }] as const;
    }
    const { suppressedState: suppressed, lines, ...settle } = outcome.settle;
    const notified = settle.notified.map((entry) => ({ episode: entry.alert.id, entry: JSON.stringify(entry) }));
    const log = encodeLog(lines, settle.now);
    return [scripts.settle, key, { ...common, ...settle, notified, suppressed, log }] as const;
  }

  return {
    /** Ends a claim with a decision. Gives the group's next due time; undefined too where the claim is another's by now. */
    async settle(integration: Integration, group: string, token: string, settle: Settlement) {
      const [script, key, args] = callOf(integration, token, { group, settle });
      return ((await script(key, args)) as Instant | null) ?? undefined;
    },

    /** Ends a claim without a message: the group is due again at `at`. A failure is counted where it belongs. */
    async postpone(integration: Integration, group: string, token: string, postpone: Postponement): Promise<void> {
      const [script, key, args] = callOf(integration, token, { group, postpone });
      await script(key, args);
    },

    /**
     * Ends the claim of a storm: all of it or nothing, so that a crash never repeats part of it. With `gatherMs`, the
     * next storm at this integration waits that long for more groups. Gives the integration's next due time.
     */
    async settleAll(
      integration: Integration,
      token: string,
      outcomes: readonly GroupOutcome[],
      { now, gatherMs }: { now: Instant; gatherMs: number },
    ): Promise<Instant | undefined> {
      const calls = outcomes.map((outcome) => callOf(integration, token, outcome));
      const transaction = redis.multi();
      if (gatherMs > 0) transaction.set(keys.storm(integration.id), now + gatherMs, "PX", gatherMs);
      for (const [script, key, args] of calls) script.queue(transaction, key, args);
      const replies = (await transaction.exec()) ?? [];
      // A restarted Redis refuses scripts by their hash in a transaction; called one by one each sends its own text.
      if (replies.some(([error]) => error)) for (const [script, key, args] of calls) await script(key, args);
      return (await nextDue([integration.id])).get(integration.id);
    },
  };
}

type GroupTimers = ReturnType<typeof createGroupTimers>;
type RoutedAlert = { readonly id: string; readonly to: readonly Destination[] };

function createGroupTimers(redis: Redis, keys: Keys) {
  const reroute = loadScript(redis, keys, "reroute", "groups");
  return {
    /** When each integration has something due next; those with nothing due are left out. */
    async nextDue(integrations: readonly string[]): Promise<Map<string, Instant>> {
      const replies = await pipelined<string[]>(redis, (batch) => {
        for (const id of integrations) batch.zrange(keys.due(id), 0, "0", "WITHSCORES");
      });
      const due = integrations.map((id, i) => [id, Number(replies[i]?.[1])] as const);
      return new Map(due.filter(([, at]) => !Number.isNaN(at)));
    },

    /** Makes every group of the integration due now. */
    async hasten(integration: string, now: Instant): Promise<void> {
      const groups = await redis.zrange(keys.due(integration), 0, "-1");
      if (groups.length === 0) return;
      await redis.zadd(keys.due(integration), "XX", ...groups.flatMap((group) => [now, group]));
    },

    /**
     * Moves stored alerts to the destinations of the active configuration (none for a resolved one): new groups become
     * due, and alerts leave groups they are not routed to any more unless they were notified there. Gives what is due.
     */
    async reroute(alerts: readonly RoutedAlert[], integrations: readonly string[], now: Instant) {
      const wire = alerts.map(({ id, to }) => ({ episode: id, to: to.map(encodeDestination) }));
      return toWakes(await reroute(keys.alerts, { now, integrations, alerts: wire }));
    },
  };
}

/** A destination as scripts take it: its labels are the text that is stored. */
export function encodeDestination(to: Destination) {
  return { ...to, labels: JSON.stringify(to.labels) };
}

/** By integration, when something is due there: the reply of a script that makes groups due. */
export function toWakes(reply: unknown): Map<string, Instant> {
  return new Map(Object.entries(reply as Record<string, Instant>));
}
