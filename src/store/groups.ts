/**
 * The groups of each integration: what is due, and the notification log. Delivery claims a due group, decides, then
 * settles or postpones it; each takes effect whole, so that a crash between two repeats at most the message in flight.
 */
import type { Redis } from "ioredis";
import { conversationId } from "../alerting/conversation.ts";
import type { LogLine } from "../alerting/decision-log.ts";
import type {
  EscalationClocks,
  NotificationLogEntry,
  NotifyErrorCode,
  NotifyErrorScope,
  SuppressedState,
} from "../alerting/model.ts";
import { type Destination, type Integration, pacedBy } from "../alerting/route.ts";
import type { IntegrationTrouble } from "../health/evaluate-self.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import {
  type Claim,
  type Claimed,
  type ClaimedStorm,
  type ClaimReply,
  readClaim,
  readMembers,
  toClaim,
} from "./claim.ts";
import { logWrites } from "./decision-log.ts";
import { type Call, createJournal } from "./journal.ts";
import type { Keys } from "./keys.ts";
import { loadScript, pipelined, type Script } from "./redis.ts";
import type { Transact } from "./transact.ts";

export type { Claim, Claimed, ClaimedStorm } from "./claim.ts";

interface NotifyTrouble extends IntegrationTrouble {
  readonly code: NotifyErrorCode;
}

/** A backoff that ended longer ago is over, unless something is due there: a send takes less. */
const OVER_MS = 300_000;

/** The most that one summary contains. */
const STORM = { groups: 2_000, alerts: 20_000, leaseMs: 20_000 };

/** Redis answers nothing else during a call: the most groups that one takes, and the most alerts that one settles. */
const TAKEN = 100;
const PAGE = 200;

/** The result of a decision about a group, stored after its message was accepted, where there is one. */
export interface Settlement {
  readonly now: Instant;
  /** True where a message was accepted. */
  readonly sent: boolean;
  readonly notified: readonly NotificationLogEntry[];
  /** Episodes that leave the integration: their end was notified, or none is owed. */
  readonly over: readonly string[];
  /** Episodes that leave this group only: another group may owe them. */
  readonly unnotified: readonly string[];
  readonly nextAt: Instant | undefined;
  /** By default nothing is suppressed. */
  readonly suppressedState?: SuppressedState;
  /** The clocks of a group that is escalated to the integration. */
  readonly clocks?: EscalationClocks | undefined;
  /** JSON of the conversation, '' once it is closed; undefined: as it is. */
  readonly conversation?: string | undefined;
  /** A hash of what its own root shows, and since when. */
  readonly shown?: string | undefined;
  /** The time of the news as it was claimed: what is due then stays as it is. */
  readonly newsAt?: Instant | undefined;
  /** The time to compare the root with the present, and do nothing else. */
  readonly rootAt?: Instant | undefined;
  readonly lines?: readonly LogLine[] | undefined;
}

/** The time at which a group is retried, and after which failure. */
export interface Postponement {
  readonly now: Instant;
  readonly at: Instant;
  /** True where a message may have been accepted all the same. */
  readonly isUnsure?: boolean | undefined;
  /** The conversation that the message began, where it summed up several groups. */
  readonly joint?: string | undefined;
  readonly failure?: { readonly code: NotifyErrorCode; readonly detail: string; readonly scope: NotifyErrorScope };
  readonly lines?: readonly LogLine[] | undefined;
}

export type GroupOutcome = { readonly group: string } & (
  | { readonly settle: Settlement }
  | { readonly postpone: Postponement }
);

export function createGroupStore(redis: Redis, keys: Keys, { change }: Transact) {
  const timers = createGroupTimers(redis, keys);
  const scripts = {
    settle: loadScript(redis, keys, "settle", "groups", "log"),
    postpone: loadScript(redis, keys, "postpone", "groups", "log"),
  };
  const journal = createJournal(redis, keys, scripts);
  return {
    ...timers,
    ...createClaims(redis, keys, journal),
    pace: createPace(keys, change),
    ...createOutcomes(timers, scripts, journal, keys),

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
          if (!text) continue;
          const { alert, notifiedAt, firstNotifiedAt = notifiedAt } = JSON.parse(text) as NotificationLogEntry;
          first.set(alert.id, Math.min(firstNotifiedAt, first.get(alert.id) ?? firstNotifiedAt));
        }
      }
      return first;
    },

    /** The notification log of an integration: alerts notified as firing whose end was not notified yet. */
    async notified(integration: string): Promise<NotificationLogEntry[]> {
      const entries = await redis.hvals(keys.notificationLog(integration));
      return entries.map((text) => JSON.parse(text) as NotificationLogEntry);
    },

    /** The entries of `notified` that are in one of these incidents. */
    async paged(integration: string, pages: ReadonlySet<string>): Promise<NotificationLogEntry[]> {
      const texts = await redis.hvals(keys.notificationLog(integration));
      const some = texts.filter((text) => [...pages].some((key) => text.includes(key)));
      const entries = some.map((text) => JSON.parse(text) as NotificationLogEntry);
      return entries.filter(({ page }) => page && pages.has(page.key));
    },
  };
}

function createClaims(redis: Redis, keys: Keys, { finish }: Journal) {
  const claim = loadScript(redis, keys, "claim", "groups");
  return {
    /**
     * Claims the integration's first due group, or a storm of them; `leaseMs` must be longer than the deadline of any
     * send. A storm includes groups due for the first time within `aheadMs`; with `gathersEnds`, also those that wait with
     * something to send, and any number of groups is one.
     */
    async claim(of: Integration, token: string, now: Instant, leaseMs: number, aheadMs = 0, gathersEnds = false) {
      const { id, endpoint, paceMs } = of;
      const joint = conversationId(id, "storm", token);
      const traits = { paceMs, paced: pacedBy(of), converses: of.conversation !== undefined, joint };
      const wanted = { aheadMs, gathersEnds, storm: STORM, most: TAKEN };
      const args = { integration: id, endpoint, token, now, leaseMs, ...traits, ...wanted };
      const take = async (from: number): Promise<ClaimReply> => {
        const reply = readClaim((await claim(keys.claim(id), { ...args, from })) as [string, ...string[][]]);
        if (reply.head.kind !== "unsettled") return reply;
        await finish(id);
        return take(from);
      };
      const first = await take(0);
      if (!("groups" in first.head)) return first.head as Exclude<Claim, Claimed | ClaimedStorm>;
      const groups = [...first.groups];
      for (let last = first; last.head.hasMore; groups.push(...last.groups)) last = await take(groups.length);
      return toClaim(of, first.head, groups, await readMembers(redis, keys, id, groups));
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

type Journal = ReturnType<typeof createJournal>;
type Outcomes = readonly GroupOutcome[];

function createOutcomes(
  { nextDue }: GroupTimers,
  scripts: Readonly<Record<Call["script"], Script>>,
  journal: Journal,
  keys: Keys,
) {
  /** Gives when something is due next at the integration or, after a single call, for its group. */
  async function end({ id, endpoint }: Integration, token: string, outcomes: Outcomes, gather = { until: 0, ms: 0 }) {
    const count = outcomes.reduce((sum, outcome) => sum + pagesOf(outcome), 0);
    const calls = callsOf(outcomes, count, { integration: id, endpoint, token, overMs: OVER_MS }, keys);
    if (count === 1 && gather.ms === 0) {
      const [only] = calls;
      return (only && ((await scripts[only.script](keys.claim(id), only.args)) as Instant | null)) ?? undefined;
    }
    if (count > 0) await journal.run(id, token, calls, gather);
    return (await nextDue([id])).get(id);
  }

  return {
    /** Ends a claim with a decision. Gives the next due time; undefined too where the claim is another's by now. */
    settle: (integration: Integration, group: string, token: string, settle: Settlement) =>
      end(integration, token, [{ group, settle }]),

    /** Ends a claim without a message: the group is due again at `at`. A failure is counted where it belongs. */
    async postpone(integration: Integration, group: string, token: string, postpone: Postponement): Promise<void> {
      await end(integration, token, [{ group, postpone }]);
    },

    /**
     * Ends the claim of a storm: all of it or nothing, so that a crash never repeats part of it. With `gatherMs`, the
     * next storm at this integration waits that long for more groups. Gives the integration's next due time.
     */
    async settleAll(
      integration: Integration,
      token: string,
      outcomes: Outcomes,
      { now, gatherMs }: { now: Instant; gatherMs: number },
    ): Promise<Instant | undefined> {
      await end(integration, token, outcomes, { until: now + gatherMs, ms: gatherMs });
      return (await nextDue([integration.id])).get(integration.id);
    },
  };
}

/** The number of calls that an outcome takes, each about no more than PAGE of everything in it. */
function pagesOf(outcome: GroupOutcome): number {
  if ("postpone" in outcome) return Math.max(1, Math.ceil((outcome.postpone.lines?.length ?? 0) / PAGE));
  const { notified, over, unnotified, lines = [] } = outcome.settle;
  return Math.max(1, Math.ceil(Math.max(notified.length, over.length, unnotified.length, lines.length) / PAGE));
}

const NOTHING = { sent: false, notified: [], over: [], unnotified: [], nextAt: undefined } as const;

function* callsOf(outcomes: Outcomes, count: number, common: object, keys: Keys): Generator<Call> {
  let made = 0;
  for (const outcome of outcomes) {
    const { group } = outcome;
    const { lines = [], ...ended } = "settle" in outcome ? outcome.settle : outcome.postpone;
    const pages = pagesOf(outcome);
    for (let page = 0; page < pages; page++) {
      const hasMore = page < pages - 1;
      const part = <T>(all: readonly T[]) => all.slice(page * PAGE, (page + 1) * PAGE);
      const args = { ...common, group, keepsClaim: ++made < count, log: logWrites(keys, part(lines)) };
      if ("sent" in ended) yield { script: "settle", args: { ...args, ...pageOf(ended, part, hasMore) } };
      else if (hasMore) yield { script: "settle", args: { ...args, ...NOTHING, now: ended.now, hasMore } };
      else yield { script: "postpone", args: { ...args, ...ended } };
    }
  }
}

/** The part of a settlement that is on a page. Lists that are only stored are passed as text. */
function pageOf(settlement: Settlement, part: <T>(all: readonly T[]) => T[], hasMore: boolean) {
  const { suppressedState, notified, over, unnotified, clocks = {}, ...rest } = settlement;
  return {
    ...rest,
    ...(Object.keys(clocks).length > 0 && !hasMore && { clocks: JSON.stringify(clocks) }),
    hasMore,
    notified: part(notified).map((entry) => ({ episode: entry.alert.id, entry: JSON.stringify(entry) })),
    over: part(over),
    unnotified: part(unnotified),
    suppressed: !hasMore &&
      suppressedState && {
        ...suppressedState,
        unnotified: JSON.stringify(suppressedState.unnotified),
        maybeNotified: JSON.stringify(suppressedState.maybeNotified),
      },
  };
}

type GroupTimers = ReturnType<typeof createGroupTimers>;
type RoutedAlert = { readonly id: string; readonly to: readonly Destination[] };

function createGroupTimers(redis: Redis, keys: Keys) {
  const reroute = loadScript(redis, keys, "reroute", "groups");
  return {
    /** Gives when each integration has something due next; those with nothing due are left out. */
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
