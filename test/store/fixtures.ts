/** A store over a real Redis, under a prefix of its own for each test. */

import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { GroupHead } from "../../src/alerting/group.ts";
import type { Destination, Integration } from "../../src/alerting/route.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { AlertChange } from "../../src/store/commit.ts";
import type { Claimed, Settlement } from "../../src/store/groups.ts";
import { createStore, type Store } from "../../src/store/store.ts";
import { document, newId, parseRead } from "../../src/store/transact.ts";
import { anAlert, resolvedAlert as over } from "../support/fixtures.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const T0 = Date.UTC(2026, 2, 2, 8);
/** How long a claim holds, and a new group waits, in these tests. */
export const LEASE = 13 * SECOND;
export const WAIT = 30 * SECOND;

export interface TestStore {
  readonly redis: Redis;
  readonly prefix: string;
  readonly store: Store;
  /** A second replica's store: its own memory, the same Redis. */
  replica(): Store;
  /** Every key left under the prefix, without it, sorted; the log of alerts and the memory's marker always are. */
  keys(): Promise<string[]>;
  /** Lets the lease of an integration run out. */
  endLease(integration: string): Promise<void>;
}

/** That of the test that is running, and what commits to it. */
let current: (TestStore & { readonly commit: ReturnType<typeof committer> }) | undefined;

function running() {
  if (!current) throw new Error("useTestStore was not called");
  return current;
}

/** A part of the store of the test that is running. */
function part<K extends keyof Store>(name: K): Store[K] & object {
  return new Proxy({} as Store[K] & object, { get: (_, key) => Reflect.get(running().store[name] as object, key) });
}

export const [groups, shards, silences, acks] = [part("groups"), part("shards"), part("silences"), part("acks")];
export const [uptime, inventory, zones] = [part("uptime"), part("inventory"), part("zones")];
export const [assignments, coverage, digests] = [part("assignments"), part("coverage"), part("digests")];

/** Commits changes as sweeps of one shard would, one after the other; gives what was woken. */
export const commit: ReturnType<typeof committer> = (...args) => running().commit(...args);

/** Call in a `describeWithRedis`; gives the store of the test that is running. */
export function useTestStore(): () => TestStore {
  let server: TestRedis;
  let redis: Redis;
  let testStore: TestStore;
  beforeAll(async () => {
    server = await startTestRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    testStore = openTestStore(redis);
    current = { ...testStore, commit: committer(testStore) };
    await markStarted(testStore);
  });
  return () => testStore;
}

export function openTestStore(redis: Redis, prefix = `t-${randomUUID()}`): TestStore {
  const head = `{${prefix}}:`;
  return {
    redis,
    prefix,
    store: createStore(redis, prefix),
    replica: () => createStore(redis, prefix),
    keys: async () =>
      (await redis.keys(`${head}*`))
        .map((key) => key.slice(head.length))
        .filter((key) => !key.startsWith("alerts:") && key !== "started")
        .sort(),
    endLease: async (integration) => void (await redis.del(`${head}claim:${integration}`)),
  };
}

/** The stored head of a group. */
export async function headOf({ redis, store }: Pick<TestStore, "redis" | "store">, integration: string, group: string) {
  const key = store.keys.group(integration, group);
  const { text = "{}" } = parseRead([key], await redis.get(key));
  const settings = (await redis.hget(store.keys.settings(integration), group)) ?? "{}";
  return { ...JSON.parse(settings), ...JSON.parse(text) } as Partial<GroupHead>;
}

/** Changes the stored head of a group, as another turn would. */
export async function changeHead(testStore: TestStore, integration: string, group: string, change: Partial<GroupHead>) {
  const head = { ...(await headOf(testStore, integration, group)), ...change };
  await testStore.redis.set(testStore.store.keys.group(integration, group), document(newId(), JSON.stringify(head)));
}

/** Nothing is sent before the summary of a cold start: here it was made long ago. */
export async function markStarted({ redis, store }: Pick<TestStore, "redis" | "store">): Promise<void> {
  await redis.hset(store.keys.started, { state: "summed", since: 0 });
}

/** A firing episode of `name` that began at `firedAt`. */
export function firing(name: string, firedAt: Instant = T0, labels: Record<string, string> = {}): Alert {
  const all = { alertname: "RecordingOffline", recording_id: name, ...labels };
  return anAlert({
    key: name,
    ruleId: "RecordingOffline",
    labels: all,
    startsAt: firedAt,
    subject: { kind: "recording", id: name },
  });
}

export function integration(id: string, more: Partial<Integration> = {}): Integration {
  const receiver = id.split("/")[0] ?? id;
  return { id, name: id, receiver, type: "slack", sendResolved: true, endpoint: `hook-${id}`, paceMs: 0, ...more };
}

export function to(integration: string, group = "g", more: Partial<Destination> = {}): Destination {
  return {
    integration,
    group,
    labels: { location_id: group },
    groupWaitMs: 30 * SECOND,
    groupIntervalMs: 5 * MINUTE,
    repeatIntervalMs: 4 * HOUR,
    ...more,
  };
}

export { over };

export const fires = (alert: Alert, ...places: Destination[]): AlertChange => ({ kind: "firing", alert, to: places });
export const ends = (alert: Alert, endsAt: Instant): AlertChange => ({
  kind: "resolved",
  alert: over(alert, endsAt),
  to: [],
});

/** Commits changes as sweeps of one shard would, one after the other; gives what was woken. */
export function committer({ store }: Pick<TestStore, "store">, shard = 0) {
  let nonce = "";
  return async (now: Instant, ...changes: AlertChange[]): Promise<ReadonlyMap<string, Instant>> => {
    const key = store.keys.shard(shard);
    const committed = await store.shards.commit({ key, expected: nonce, document: "{}", now, changes });
    if (committed.outcome === "lost") throw new Error("lost a race without another replica");
    nonce = committed.nonce;
    return committed.wake;
  };
}

/** The integration and the episode these tests speak of where it does not matter which. */
export const slack = integration("ops/slack/0");
export const camera = firing("cam");

/** Claims the group due at an integration; fails where there is none. */
export async function claimed(now: Instant, token = "t1", who = slack): Promise<Claimed> {
  const claim = await groups.claim(who, token, now, LEASE);
  if (claim.kind !== "group") throw new Error(`not claimed: ${JSON.stringify(claim)}`);
  return claim;
}

/** What delivery stores after a message that named these as firing, and these as over. */
export const sentOf = (
  now: Instant,
  alerts: readonly Alert[],
  gone: readonly Alert[] = [],
  group = "g",
): Settlement => ({
  now,
  sent: true,
  notified: alerts.map((alert) => ({ alert, notifiedAt: now, groupId: group })),
  over: gone.map(({ id }) => id),
  unnotified: [],
  nextAt: alerts.length > 0 ? now + 4 * HOUR : undefined,
});
