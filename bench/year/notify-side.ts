/** From a commit to the messages: the store on a real Redis, routing, suppression and delivery, all of them the real ones. */

import type { Redis } from "ioredis";
import type { Notification, NotifiedAlert, Suppressions } from "../../src/alerting/model.ts";
import { type Integration, isProgram } from "../../src/alerting/route.ts";
import { planIntegrations } from "../../src/app/integrations.ts";
import type { Config } from "../../src/config/config.ts";
import { createDeliver } from "../../src/deliver/deliver.ts";
import type { Sender } from "../../src/deliver/model.ts";
import { createStaleness } from "../../src/deliver/stale.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import { createSuppressionChanges } from "../../src/deliver/suppression-changes.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import type { Clock, Instant } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createCommit } from "../../src/poll/commit.ts";
import { createStore, type Store } from "../../src/store/store.ts";
import type { Fleet } from "./fleet.ts";

/** An alert in a message. */
export type SentAlert = Pick<NotifiedAlert, "id" | "key" | "subject" | "startsAt" | "firedAt" | "isNew"> & {
  readonly alertname: string;
  readonly locationId: string | undefined;
  readonly endsAt: Instant | undefined;
};

export interface SentMessage {
  readonly at: Instant;
  readonly integration: string;
  readonly reason: Notification["reason"];
  readonly groups: number;
  readonly firing: readonly SentAlert[];
  readonly resolved: readonly SentAlert[];
}

/** The store knows for an hour what suppresses a group. */
const RECHECK_MS = 50 * 60_000;

interface NotifySideDeps {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly config: Pick<Config, "receivers" | "smtp" | "route" | "inhibitRules" | "watch">;
  readonly fleet: Pick<Fleet, "sites">;
  /** How the last sweeps of a shard ended. */
  attemptOf(shard: number): Attempt;
  /** Decides a group again every `group_interval` while another alert inhibits some of it; else when that one ends. */
  readonly rechecks: boolean;
  /** Called with the time at which an integration has something due. */
  wake(integration: string, at: Instant): void;
  sent(message: SentMessage): void;
}

/** One integration of each receiver that people read; the others of a receiver get the same. */
export function peopleOf(config: Pick<Config, "receivers" | "smtp">): Integration[] {
  const plans = planIntegrations(config);
  const people = plans.map(({ integration }) => ({ ...integration, paceMs: 0 })).filter((one) => !isProgram(one));
  return [...Map.groupBy(people, ({ receiver }) => receiver).values()].flatMap(([first]) => first ?? []);
}

export async function createNotifySide({ redis, clock, config, sent, ...deps }: NotifySideDeps) {
  accelerate(redis, clock);
  const store = createStore(redis, "year");
  await redis.hset(store.keys.started, { state: "summed", since: 0 });
  const integrations = peopleOf(config);
  const wake = async (due: ReadonlyMap<string, Instant>) => {
    for (const [integration, at] of due) deps.wake(integration, at);
  };
  const senders = integrations.map((integration): Sender => {
    return { integration, send: async (notification) => void sent(messageOf(notification)) };
  });
  const attemptsOf = async (subjects: readonly string[]) =>
    new Map(
      subjects.flatMap((name) => (name.startsWith("shard:") ? [[name, deps.attemptOf(Number(name.slice(6)))]] : [])),
    );
  const shards = new Map(deps.fleet.sites.map(({ id, shard }) => [id, shard]));
  const assigned = { shardOf: (location: string) => shards.get(location), shards: () => [...new Set(shards.values())] };
  const staleness = createStaleness({
    shards: { attemptsOf, holding: async (places) => places.map(() => true) },
    assigned,
    inventory: store.inventory,
    ...config.watch,
    runsSince: () => 0,
  });
  const sites = new Map(deps.fleet.sites.map((site) => [site.id, site]));
  const closedMs = (location: string | undefined, now: Instant) =>
    (sites.get(location ?? "")?.hours?.opensAt(now) ?? now) - now;
  const known = rememberedStore(store);
  const { ofGroups } = createSuppression({ clock, store: known.read, ...config, staleness });
  const { deliver } = createDeliver({
    clock,
    log: silentLogger,
    groups: store.groups,
    conversations: store.conversations,
    senders: new Map(senders.map((sender) => [sender.integration.id, sender])),
    externalUrl: undefined,
    stormMs: config.watch.statusIntervalMs,
    suppressions: async (claims) => {
      const all = await ofGroups(claims);
      if (deps.rechecks) return all;
      return all.map((one, i) => recheckedLater(one, closedMs(claims[i]?.labels.location_id, clock.now())));
    },
    toRefusal(thrown) {
      throw thrown;
    },
    wake,
    notified() {},
    failed() {},
    suppressed() {},
  });
  return {
    store: { ...store, shards: { ...store.shards, commit: known.commit } },
    wake,
    integrations,
    deliver,
    commit: createCommit({ log: silentLogger, route: config.route, integrations, wake }),
    changes: createSuppressionChanges({ clock, store: known.read, wake }),
  };
}

/** Reads again only what was written since: nobody else writes, and nobody acknowledges. */
function rememberedStore(store: Store) {
  let firing: ReturnType<Store["firing"]> | undefined;
  let silences: ReturnType<Store["silences"]["read"]> | undefined;
  const acks = new Map();
  const commit: Store["shards"]["commit"] = (input) => {
    firing = undefined;
    return store.shards.commit(input);
  };
  return {
    commit,
    read: {
      ...store,
      firing: () => (firing ??= store.firing()),
      acks: { ...store.acks, read: async () => acks },
      silences: {
        read: (now: Instant) => (silences ??= store.silences.read(now)),
        write: (...args: Parameters<Store["silences"]["write"]>) => {
          silences = undefined;
          return store.silences.write(...args);
        },
      },
    },
  };
}

/** Later where nothing can be sent before: until an event makes the group due, a mute time ends or the site opens. */
function recheckedLater(suppressions: Suppressions, closedMs: number): Suppressions {
  const { recheckEveryMs, suppressed, muted } = suppressions;
  const reasons = new Set([...suppressed.values()].map(({ reason }) => reason));
  if (!muted && [...reasons].some((reason) => reason !== "inhibited" && reason !== "paused")) return suppressions;
  const untilMs = !muted && reasons.has("paused") ? Math.min(closedMs, RECHECK_MS) : RECHECK_MS;
  return { ...suppressions, recheckEveryMs: Math.max(1, Math.ceil(untilMs / recheckEveryMs)) * recheckEveryMs };
}

function messageOf({ now: at, integrationId: integration, reason, groups = 1, ...message }: Notification): SentMessage {
  return {
    at,
    integration,
    reason,
    groups,
    firing: message.firing.map(shortened),
    resolved: message.resolved.map(shortened),
  };
}

function shortened({ id, key, subject, startsAt, firedAt, endsAt, isNew, labels }: NotifiedAlert): SentAlert {
  const { alertname = "", location_id: locationId } = labels;
  return { id, key, subject, startsAt, firedAt, endsAt, isNew, alertname, locationId };
}

/**
 * Lets transactions expire keys by the accelerated clock: Redis' own would keep an empty group's timers for days of the
 * accelerated one.
 */
function accelerate(redis: Redis, clock: Clock): void {
  const define = redis.defineCommand.bind(redis);
  redis.defineCommand = (name, options) => {
    define(name, { ...options, lua: EXPIRY + (options.lua ?? "") });
    const run = (Reflect.get(redis, name) as (prefix: string, words: readonly string[]) => Promise<unknown>).bind(
      redis,
    );
    Object.assign(redis, {
      [name]: (prefix: string, words: readonly string[]) => run(`${prefix}${clock.now()}`, words),
    });
  };
}

const EXPIRY = `
local real_redis, now = redis, tonumber(string.match(KEYS[1], '%d+$'))
local expiry = string.sub(KEYS[1], 1, -1 - #tostring(string.match(KEYS[1], '%d+$'))) .. 'expiry'
for _, key in ipairs(real_redis.call('ZRANGEBYSCORE', expiry, '-inf', now)) do
  real_redis.call('DEL', key)
  real_redis.call('ZREM', expiry, key)
end
local redis = {call = function(command, key, ms, ...)
  if command == 'PEXPIRE' then return real_redis.call('ZADD', expiry, now + ms, key) end
  if command == 'SET' then real_redis.call('ZREM', expiry, key) end
  if ms == nil then return real_redis.call(command, key) end
  return real_redis.call(command, key, ms, ...)
end}
`;
