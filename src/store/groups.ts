/**
 * What is due at an integration and what was told there. Claim a due group, decide outside, then settle or
 * postpone: each is one script, so that a crash between any two repeats at most the message in flight.
 */
import type { Redis } from "ioredis";
import type { Kept } from "../alerting/decide.ts";
import type { NotifyErrorCode } from "../alerting/notification.ts";
import type { Integration } from "../alerting/route.ts";
import type { LogLine } from "../alerting/timeline.ts";
import type { Told } from "../alerting/told.ts";
import type { Alert, Labels } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { type Destination, toPlace, toWake } from "./destination.ts";
import { encodeLog } from "./incident-log.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

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
  readonly told: ReadonlyMap<string, Told>;
  /** Members of which nothing is stored any more. */
  readonly lost: readonly string[];
  /** Members that were due and held back when the group was last served. */
  readonly heldBefore: readonly string[];
  /** Members not known to be told, of which a message may have got out before whoever sent it died. */
  readonly maybeTold: readonly string[];
}

/**
 * `busy`: another send is under way; `backoff`: the endpoint is resting; `pace`: it had a message a moment ago;
 * `idle`: nothing due before `until`.
 */
export type Claim =
  | Claimed
  | { readonly kind: "busy" | "backoff" | "pace"; readonly until: Instant }
  | { readonly kind: "idle"; readonly until: Instant | undefined };

/** Where a failure counts: the endpoint, this integration (a refused recipient), or the one message. */
export type FailureScope = "endpoint" | "integration" | "message";

/** What an integration keeps failing with. */
export interface Trouble {
  readonly since: Instant;
  readonly code: NotifyErrorCode;
  readonly detail: string;
}

export function createGroupStore(redis: Redis, keys: Keys, historyMs: number) {
  const scripts = {
    claim: loadScript(redis, "claim", { withGroups: true }),
    settle: loadScript(redis, "settle", { withGroups: true, withLog: true }),
    postpone: loadScript(redis, "postpone", { withGroups: true, withLog: true }),
    pace: loadScript(redis, "pace"),
    reroute: loadScript(redis, "reroute", { withGroups: true }),
  };
  const claimKey = (integration: string) => `${keys.prefix}claim:${integration}`;

  return {
    /** Takes the integration's first due group; `leaseMs` must be longer than the deadline of any send. */
    async claim(integration: Integration, token: string, now: Instant, leaseMs: number): Promise<Claim> {
      const { id, endpoint, paceMs } = integration;
      const args = [keys.prefix, id, endpoint, token, now, leaseMs, paceMs];
      return toClaim((await scripts.claim(claimKey(id), ...args)) as ClaimReply);
    },

    /**
     * Writes down what was told and what is over; `said` means a message was accepted. Gives the next due time;
     * undefined too where the lease was over and somebody else has taken the group since.
     */
    async settle(
      integration: Integration,
      group: string,
      token: string,
      outcome: {
        now: Instant;
        said: boolean;
        told: readonly Told[];
        /** Episodes that leave the integration: their end was told, or none is owed. */
        over: readonly string[];
        /** Episodes that leave this group only: another may have waited shorter and owe it. */
        untold: readonly string[];
        nextAt: Instant | undefined;
        /** What is held back, and by whom; nothing by default. */
        kept?: Kept;
        /** For the incident log: who was told, and who was not. */
        lines?: readonly LogLine[];
      },
    ): Promise<Instant | undefined> {
      const { by = [], untold = [], maybeTold = [], lateFrom } = outcome.kept ?? {};
      const kept = { by: by.map((hold) => [hold.reason, hold.by]), untold, maybeTold, lateFrom };
      const reply = (await scripts.settle(
        claimKey(integration.id),
        keys.prefix,
        integration.id,
        group,
        token,
        outcome.now,
        outcome.said ? "1" : "0",
        JSON.stringify(outcome.told.map((told) => [told.alert.id, JSON.stringify(told)])),
        JSON.stringify(outcome.over),
        JSON.stringify(outcome.untold),
        outcome.nextAt ?? "",
        integration.endpoint,
        JSON.stringify(kept),
        encodeLog(outcome.lines ?? [], outcome.now - historyMs),
      )) as string;
      return reply === "" ? undefined : Number(reply);
    },

    /** Gives the group back, due again at `at`; with a failure, counts it where it belongs. */
    async postpone(
      integration: Integration,
      group: string,
      token: string,
      input: {
        now: Instant;
        at: Instant;
        failure?: { code: NotifyErrorCode; detail: string; scope: FailureScope };
        lines?: readonly LogLine[];
      },
    ): Promise<void> {
      const { failure } = input;
      await scripts.postpone(
        claimKey(integration.id),
        keys.prefix,
        integration.id,
        group,
        token,
        input.now,
        input.at,
        failure?.code ?? "",
        failure?.detail ?? "",
        failure?.scope ?? "",
        failure?.scope === "endpoint" ? integration.endpoint : integration.id,
        encodeLog(input.lines ?? [], input.now - historyMs),
      );
    },

    /** Takes a pace token (0), or says how many ms to wait for one. */
    async pace(integration: Integration, now: Instant): Promise<number> {
      if (integration.paceMs === 0) return 0;
      return Number(await scripts.pace(keys.pace(integration.endpoint), now, integration.paceMs));
    },

    /** When each integration has something due next; those with nothing are left out. */
    async nextDue(integrations: readonly string[]): Promise<Map<string, Instant>> {
      const pipeline = redis.pipeline();
      for (const id of integrations) pipeline.zrange(keys.due(id), 0, "0", "WITHSCORES");
      const replies = (await pipeline.exec()) ?? [];
      const next = new Map<string, Instant>();
      integrations.forEach((id, i) => {
        const score = (replies[i]?.[1] as string[] | undefined)?.[1];
        if (score !== undefined) next.set(id, Number(score));
      });
      return next;
    },

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
    async told(integration: string): Promise<Told[]> {
      return (await redis.hvals(keys.told(integration))).map((text) => JSON.parse(text) as Told);
    },
  };
}

export type GroupStore = ReturnType<typeof createGroupStore>;

type ClaimReply =
  | ["busy" | "backoff" | "pace" | "idle", string]
  | [
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
    ];

function toClaim(reply: ClaimReply): Claim {
  if (reply[0] === "idle") return { kind: "idle", until: reply[1] === "" ? undefined : Number(reply[1]) };
  if (reply[0] !== "group") return { kind: reply[0], until: Number(reply[1]) };
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
    told,
    interval,
    held,
    maybe,
    interrupted,
  ] = reply;
  const heldBefore = JSON.parse(held) as string[];
  const inFlight = episodes.filter(
    (id, i) => interrupted !== "" && told[i] === "" && !heldBefore.includes(id),
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
    told: new Map(told.flatMap((text, i) => (text ? [[episodes[i] ?? "", JSON.parse(text) as Told]] : []))),
    lost: episodes.filter((_, i) => alerts[i] === "" && told[i] === ""),
    heldBefore,
    maybeTold: [...(JSON.parse(maybe) as string[]), ...inFlight],
  };
}
