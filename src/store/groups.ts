/**
 * What is due at an integration and what was told there. Claim a due group, decide outside, then settle or
 * postpone: each is one script, so that a crash between any two repeats at most the message in flight.
 */
import type { Redis } from "ioredis";
import type { LogLine } from "../alerting/decision-log.ts";
import type { Destination } from "../alerting/destinations.ts";
import type { SuppressedState } from "../alerting/needs-update.ts";
import type { NotifyErrorCode } from "../alerting/notification.ts";
import type { NotificationLogEntry } from "../alerting/notification-log.ts";
import type { Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import { type Claim, type ClaimReply, toClaim, toInstant } from "./claim.ts";
import { encodeLog } from "./decision-log.ts";
import { toPlace, toWake } from "./destination.ts";
import type { Keys } from "./keys.ts";
import { loadScript, type Script } from "./redis.ts";

export type { Claim, Claimed, ClaimedStorm } from "./claim.ts";

/** Where a failure counts: the endpoint, this integration (a refused recipient), or the one message. */
export type FailureScope = "endpoint" | "integration" | "message";

/** What an integration keeps failing with. */
export interface Trouble {
  readonly since: Instant;
  readonly code: NotifyErrorCode;
  readonly detail: string;
}

/** What one summary is made of at most: Redis stands still while it is claimed and settled. */
const STORM_GROUPS = 2_000;
const STORM_ALERTS = 20_000;
/** A storm takes longer to prepare than one group. */
const STORM_LEASE_MS = 20_000;

/** What is written down of a group after the decision. */
export interface Settlement {
  readonly now: Instant;
  /** A message was accepted. */
  readonly said: boolean;
  readonly notified: readonly NotificationLogEntry[];
  /** Episodes that leave the integration: their end was told, or none is owed. */
  readonly over: readonly string[];
  /** Episodes that leave this group only: another may have waited shorter and owe it. */
  readonly unnotified: readonly string[];
  readonly nextAt: Instant | undefined;
  /** What is held back, and by whom; nothing by default. */
  readonly suppressedState?: SuppressedState;
  /** For the incident log: who was told, and who was not. */
  readonly lines?: readonly LogLine[];
}

/** When a group is given back to be tried again, and after which failure. */
export interface Postponement {
  readonly now: Instant;
  readonly at: Instant;
  readonly failure?: {
    readonly code: NotifyErrorCode;
    readonly detail: string;
    readonly scope: FailureScope;
  };
  /** For the incident log. */
  readonly lines?: readonly LogLine[];
}

export type Ending = { readonly group: string } & (
  | { readonly settle: Settlement }
  | { readonly postpone: Postponement }
);

export function createGroupStore(redis: Redis, keys: Keys, historyMs: number) {
  const scripts = {
    claim: loadScript(redis, "claim", { withGroups: true }),
    settle: loadScript(redis, "settle", { withGroups: true, withLog: true }),
    postpone: loadScript(redis, "postpone", { withGroups: true, withLog: true }),
    pace: loadScript(redis, "pace"),
    reroute: loadScript(redis, "reroute", { withGroups: true }),
  };
  const logOf = ({ lines = [], now }: Pick<Settlement, "lines" | "now">) => encodeLog(lines, now - historyMs);
  const claimKey = (integration: string) => `${keys.prefix}claim:${integration}`;

  /** When each integration has something due next; those with nothing are left out. */
  async function nextDue(integrations: readonly string[]): Promise<Map<string, Instant>> {
    const pipeline = redis.pipeline();
    for (const id of integrations) pipeline.zrange(keys.due(id), 0, "0", "WITHSCORES");
    const replies = (await pipeline.exec()) ?? [];
    const next = new Map<string, Instant>();
    integrations.forEach((id, i) => {
      const score = (replies[i]?.[1] as string[] | undefined)?.[1];
      if (score !== undefined) next.set(id, Number(score));
    });
    return next;
  }

  return {
    /**
     * Takes the integration's first due group, or a storm of them; `leaseMs` must be longer than the deadline of any
     * send. A storm takes along who is due for the first time within `aheadMs`.
     */
    async claim(
      integration: Integration,
      token: string,
      now: Instant,
      leaseMs: number,
      aheadMs = 0,
    ): Promise<Claim> {
      const { id, endpoint, paceMs } = integration;
      const args = [keys.prefix, id, endpoint, token, now, leaseMs, paceMs, aheadMs];
      const most = [STORM_GROUPS, STORM_ALERTS, STORM_LEASE_MS];
      const reply = await scripts.claim(claimKey(id), ...args, ...most);
      return toClaim(reply as ClaimReply);
    },

    /**
     * Writes down what was told and what is over. Gives the next due time; undefined too where the lease was over
     * and somebody else has taken the group since.
     */
    async settle(
      integration: Integration,
      group: string,
      token: string,
      settlement: Settlement,
    ): Promise<Instant | undefined> {
      const args = [...settleArgs(integration, group, token, settlement), logOf(settlement)];
      return toInstant(await scripts.settle(claimKey(integration.id), keys.prefix, ...args));
    },

    /** Gives the group back, due again at `at`; with a failure, counts it where it belongs. */
    async postpone(
      integration: Integration,
      group: string,
      token: string,
      postponement: Postponement,
    ): Promise<void> {
      const args = [...postponeArgs(integration, group, token, postponement), logOf(postponement)];
      await scripts.postpone(claimKey(integration.id), keys.prefix, ...args);
    },

    /**
     * Ends a storm: all of it or nothing, so that a crash never leaves some of it to be told again. With `gatherMs`,
     * the next one at this integration waits that long for what belongs to it. Gives the next due time.
     */
    async end(
      integration: Integration,
      token: string,
      endings: readonly Ending[],
      { now, gatherMs }: { readonly now: Instant; readonly gatherMs: number },
    ): Promise<Instant | undefined> {
      const key = claimKey(integration.id);
      const calls = endings.map((ending): [Script, (string | number)[]] => {
        if ("settle" in ending) {
          const args = settleArgs(integration, ending.group, token, ending.settle);
          return [scripts.settle, [...args, logOf(ending.settle)]];
        }
        const args = postponeArgs(integration, ending.group, token, ending.postpone);
        return [scripts.postpone, [...args, logOf(ending.postpone)]];
      });
      const transaction = redis.multi();
      if (gatherMs > 0) transaction.set(keys.storm(integration.id), now + gatherMs, "PX", gatherMs);
      for (const [script, args] of calls) script.queue(transaction, key, keys.prefix, ...args);
      const replies = (await transaction.exec()) ?? [];
      // A Redis that forgot its scripts refuses them in a transaction; called one by one each brings its own text.
      if (replies.some(([error]) => error))
        for (const [script, args] of calls) await script(key, keys.prefix, ...args);
      return (await nextDue([integration.id])).get(integration.id);
    },

    /** Takes a pace token (0), or says how many ms to wait for one. */
    async pace(integration: Integration, now: Instant): Promise<number> {
      if (integration.paceMs === 0) return 0;
      return Number(await scripts.pace(keys.pace(integration.endpoint), now, integration.paceMs));
    },

    nextDue,

    /** Makes every group of the integration due, whatever its timers say. */
    async hasten(integration: string, now: Instant): Promise<void> {
      const groups = await redis.zrange(keys.due(integration), 0, "-1");
      if (groups.length === 0) return;
      await redis.zadd(keys.due(integration), "XX", ...groups.flatMap((group) => [now, group]));
    },

    /** What the integration keeps failing with, if anything. */
    async trouble(integration: Integration): Promise<Trouble | undefined> {
      const pipeline = redis.pipeline();
      pipeline.hmget(keys.backoff(integration.endpoint), "since", "code", "detail");
      pipeline.hmget(keys.backoff(integration.id), "since", "code", "detail");
      pipeline.hvals(keys.trouble(integration.id));
      const [endpoint, own, messages] = ((await pipeline.exec()) ?? []).map(
        ([, reply]) => reply as (string | null)[],
      );
      for (const found of [endpoint, own]) {
        const [since, code, detail] = found ?? [];
        if (since) return { since: Number(since), code: code as NotifyErrorCode, detail: detail ?? "" };
      }
      const first = messages?.[0];
      return first ? (JSON.parse(first) as Trouble) : undefined;
    },

    /**
     * Gives remembered alerts the places where the configuration in force sends them (none for one that is over):
     * new groups become due, what was never told and goes nowhere any more is left. Gives what is due and when.
     */
    async reroute(
      alerts: readonly { readonly id: string; readonly to: readonly Destination[] }[],
      integrations: readonly string[],
      now: Instant,
    ): Promise<Map<string, Instant>> {
      const wire = JSON.stringify(alerts.map(({ id, to }) => [id, to.map(toPlace)]));
      const args = [keys.prefix, now, JSON.stringify(integrations), wire];
      return toWake((await scripts.reroute(keys.alerts, ...args)) as string[]);
    },

    /** Every integration that was ever owed or told something. */
    knownIntegrations(): Promise<string[]> {
      return redis.smembers(keys.integrations);
    },

    /** What was told as firing at the integration and not yet told as over. */
    async notified(integration: string): Promise<NotificationLogEntry[]> {
      return (await redis.hvals(keys.notified(integration))).map(
        (text) => JSON.parse(text) as NotificationLogEntry,
      );
    },
  };
}

export type GroupStore = ReturnType<typeof createGroupStore>;

function settleArgs(
  { id, endpoint }: Integration,
  group: string,
  token: string,
  settlement: Settlement,
): (string | number)[] {
  const { by = [], unnotified = [], maybeNotified = [], lateFrom } = settlement.suppressedState ?? {};
  return [
    id,
    group,
    token,
    settlement.now,
    settlement.said ? "1" : "0",
    JSON.stringify(settlement.notified.map((notified) => [notified.alert.id, JSON.stringify(notified)])),
    JSON.stringify(settlement.over),
    JSON.stringify(settlement.unnotified),
    settlement.nextAt ?? "",
    endpoint,
    JSON.stringify({
      by: by.map((suppression) => [suppression.reason, suppression.by]),
      unnotified,
      maybeNotified,
      lateFrom,
    }),
  ];
}

function postponeArgs(
  { id, endpoint }: Integration,
  group: string,
  token: string,
  { now, at, failure }: Postponement,
): (string | number)[] {
  const scope = failure?.scope ?? "";
  const failed = [failure?.code ?? "", failure?.detail ?? "", scope, scope === "endpoint" ? endpoint : id];
  return [id, group, token, now, at, ...failed];
}
