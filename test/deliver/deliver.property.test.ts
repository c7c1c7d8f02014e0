/**
 * Delivery over the real scripts: whatever is remembered, claimed, refused, sent, settled, killed between any two
 * calls or sent to Redis twice, each integration hears beginnings and ends in turn, each once per crash at most.
 */
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Notification } from "../../src/alerting/model.ts";
import type { Destination } from "../../src/alerting/route.ts";
import { createDeliver, LEASE_MS } from "../../src/deliver/deliver.ts";
import type { NotifyRefusal } from "../../src/deliver/retry-policy.ts";
import type { Alert } from "../../src/health/alert.ts";
import { silentLogger } from "../../src/lib/log.ts";
import {
  committer,
  ends,
  fires,
  firing,
  HOUR,
  integration,
  MINUTE,
  markStarted,
  openTestStore,
  SECOND,
  T0,
  type TestStore,
  to,
} from "../store/fixtures.ts";
import { describeWithRedis, startTestRedis, type TestRedis } from "../support/redis.ts";

const WAIT = 30 * SECOND;
const INTERVAL = 5 * MINUTE;
const NAMES = ["a", "b", "c"] as const;

const HOW = ["accepted", "endpoint_down", "message_refused", "killed_before", "killed_after", "lease_lost"] as const;
type How = (typeof HOW)[number];

type Event =
  | { readonly kind: "flip"; readonly name: (typeof NAMES)[number] }
  | { readonly kind: "pass"; readonly seconds: number }
  /** The summary of a start without memory is made, where it was not made before. */
  | { readonly kind: "sum" }
  | {
      readonly kind: "deliver";
      readonly who: 0 | 1;
      readonly how: How;
      /** Flips while the message is under way. */
      readonly during: (typeof NAMES)[number] | undefined;
      /** A script of this delivery is sent twice, with this flip between the two. */
      readonly twice: (typeof NAMES)[number] | undefined;
      /** Which of them: the first is the claim. */
      readonly nth: number;
    };

const name = fc.constantFrom(...NAMES);
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("flip" as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), seconds: fc.constantFrom(1, 13, 30, 60, 300, 18_000) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "sum" } as const) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("deliver" as const),
      who: fc.constantFrom(0, 1),
      how: fc.oneof({ weight: 3, arbitrary: fc.constant(HOW[0]) }, fc.constantFrom(...HOW)),
      during: fc.option(name, { nil: undefined, freq: 2 }),
      twice: fc.option(name, { nil: undefined, freq: 2 }),
      nth: fc.nat(4),
    }),
  },
);

const integrations = [integration("ops/slack/0"), integration("ops/email/0/x", { endpoint: "smtp" })] as const;
const [slack, mail] = integrations;

/** Two groups that are due at once are a storm at Slack already. */
const STORMY = { stormGroups: 1 };

/** Each alert goes to its own group and to one of all; at Slack both, by mail the first two to the one alone. */
const PLACES: Readonly<Record<(typeof NAMES)[number], readonly Destination[]>> = {
  a: [to(slack.id, "all", STORMY), to(slack.id, "a", { ...STORMY, groupWaitMs: MINUTE }), to(mail.id, "all")],
  b: [to(slack.id, "all", STORMY), to(mail.id, "all")],
  c: [to(slack.id, "c", STORMY), to(mail.id, "c", { groupWaitMs: 0 })],
};

interface Heard {
  readonly who: string;
  readonly key: string;
  readonly id: string;
  readonly says: "firing" | "resolved";
}

class World {
  readonly testStore: TestStore;
  readonly commit: ReturnType<typeof committer>;
  now = T0;
  readonly current = new Map<string, Alert>();
  /** Every episode that ever was, with its end. */
  readonly episodes = new Map<string, { alert: Alert; endsAt: number | undefined }>();
  readonly heard: Heard[] = [];
  readonly mayRepeat = new Map<string, number>();
  readonly leases = new Map<string, number>();
  /** After so many scripts one loses its reply and is sent again, with a flip between the two. */
  #lost: { after: number; readonly flips: (typeof NAMES)[number] } | undefined;

  constructor(redis: Redis) {
    this.testStore = openTestStore(this.#doubling(redis));
    this.commit = committer(openRoomLike(this.testStore, redis));
  }

  /** A connection that loses a reply: ioredis sends such a command again. */
  #doubling(redis: Redis): Redis {
    return new Proxy(redis, {
      get: (target, property) => {
        const value = Reflect.get(target, property) as unknown;
        if (typeof value !== "function") return value;
        if (!String(property).startsWith("lenswatch_")) return value.bind(target);
        return async (...args: unknown[]) => {
          const first = await value.apply(target, args);
          const lost = this.#lost;
          if (!lost || lost.after-- > 0) return first;
          this.#lost = undefined;
          await this.flip(lost.flips);
          return value.apply(target, args);
        };
      },
    });
  }

  async flip(name: (typeof NAMES)[number]): Promise<void> {
    this.now += 1;
    const alert = this.current.get(name);
    if (alert) {
      this.current.delete(name);
      this.episodes.set(alert.id, { alert, endsAt: this.now });
      await this.commit(this.now, ends(alert, this.now));
    } else {
      const begun = firing(name, this.now);
      this.current.set(name, begun);
      this.episodes.set(begun.id, { alert: begun, endsAt: undefined });
      await this.commit(this.now, fires(begun, ...PLACES[name]));
    }
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    for (const [id, until] of this.leases) {
      if (until > this.now) continue;
      await this.testStore.endLease(id);
      this.leases.delete(id);
    }
  }

  /** One delivery run of a process, which may be killed in it; nothing of it lives on. */
  async deliver(who: 0 | 1, how: How, during?: (typeof NAMES)[number]): Promise<void> {
    const target = integrations[who];
    const { groups } = this.testStore.store;
    const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
    const never = new Promise<never>(() => {});
    const refusal: NotifyRefusal = {
      code: how === "message_refused" ? "server_error" : "network",
      retryAfterMs: undefined,
      scope: how === "message_refused" ? "message" : "endpoint",
      message: "No.",
    };
    let flipped = during;
    const send = async (notification: Notification): Promise<undefined> => {
      if (flipped) await this.flip(flipped);
      flipped = undefined;
      if (how === "killed_before") return this.#killIn(target.id, kill, never);
      if (how === "endpoint_down" || how === "message_refused") throw new Error("refused");
      this.#hear(target.id, notification);
      if (how === "accepted") return;
      this.mayRepeat.set(target.id, (this.mayRepeat.get(target.id) ?? 0) + 1);
      if (how === "killed_after") return this.#killIn(target.id, kill, never);
      // The process hangs until its lease is over; another one serves the group meanwhile.
      how = "accepted";
      this.now += LEASE_MS;
      await this.testStore.endLease(target.id);
      await this.deliver(who, "accepted");
    };
    const { deliver } = createDeliver({
      clock: { now: () => this.now },
      log: silentLogger,
      groups,
      senders: new Map([[target.id, { integration: target, send }]]),
      externalUrl: undefined,
      stormMs: 30 * SECOND,
      toRefusal: () => refusal,
      wake: async () => {},
      notified() {},
      failed() {},
      suppressed() {},
    });
    await Promise.race([deliver(target.id), killed]);
  }

  #killIn(id: string, kill: () => void, never: Promise<never>): Promise<never> {
    this.leases.set(id, this.now + LEASE_MS);
    kill();
    return never;
  }

  #hear(who: string, { reason, firing, resolved }: Notification): void {
    for (const { id, key, isNew } of firing) {
      if (isNew || reason !== "reminder") this.#note({ who, key, id, says: "firing" }, isNew);
    }
    for (const { id, key } of resolved) this.#note({ who, key, id, says: "resolved" }, true);
  }

  /** A member already told is named again beside news: that is no second telling. */
  #note(heard: Heard, isNews: boolean): void {
    if (isNews) this.heard.push(heard);
  }

  async apply(event: Event): Promise<void> {
    if (event.kind === "flip") return this.flip(event.name);
    if (event.kind === "pass") return this.pass(event.seconds * SECOND);
    if (event.kind === "sum") return this.sum();
    const { twice, nth } = event;
    if (twice !== undefined) this.#lost = { after: nth, flips: twice };
    await this.deliver(event.who, event.how, event.during);
    this.#lost = undefined;
  }

  async sum(): Promise<void> {
    const ids = [...this.current.values()].map((alert) => alert.id);
    const picture = { complete: true, unsettled: 0 };
    await this.testStore.store.coldStart.sum([slack.id, mail.id], ids, picture, this.now);
  }

  /** Lets everything due be told until only reminders are left. */
  async settle(): Promise<void> {
    await this.sum();
    await this.pass(LEASE_MS);
    for (let round = 0; round < 40; round++) {
      const due = await this.testStore.store.groups.nextDue(integrations.map(({ id }) => id));
      const next = Math.min(...due.values());
      if (next > this.now + HOUR) return;
      await this.pass(Math.max(0, next - this.now) + 5 * MINUTE);
      for (const who of [0, 1] as const) await this.deliver(who, "accepted");
    }
    throw new Error("it never comes to rest");
  }
}

/** The same room without lost replies, for the sweeps. */
function openRoomLike(testStore: TestStore, redis: Redis): Pick<TestStore, "store"> {
  const { store } = openTestStore(redis, testStore.prefix);
  return { store };
}

async function startOf(redis: Redis, memory: "remembers" | "remembers nothing"): Promise<World> {
  const world = new World(redis);
  if (memory === "remembers") await markStarted(world.testStore);
  else await world.testStore.store.coldStart.begin(world.now);
  return world;
}

const heardOf = (world: World, who: string) => world.heard.filter((heard) => heard.who === who);

/** Neighbours that say the same of the same episode are one message repeated. */
function repetitions(heard: readonly Heard[]): number {
  const lastOf = new Map<string, Heard>();
  let repeated = 0;
  for (const one of heard) {
    const last = lastOf.get(one.key);
    if (last && last.id === one.id && last.says === one.says) repeated++;
    lastOf.set(one.key, one);
  }
  return repeated;
}

function checkTurns(heard: readonly Heard[]): void {
  for (const id of new Set(heard.map((one) => one.id))) {
    const says = heard.filter((one) => one.id === id).map((one) => one.says);
    const turns = says.filter((one, i) => one !== says[i - 1]).join(" ");
    expect(["firing", "firing resolved", "resolved"], `${id} was told ${turns}`).toContain(turns);
  }
}

/** What lasted longer than anything may wait was heard of; what fires now was told; what is told is over or fires. */
function checkNothingMissed(world: World, heard: readonly Heard[]): void {
  for (const [id, { alert, endsAt }] of world.episodes) {
    const mine = heard.filter((one) => one.id === id);
    const last = mine.at(-1)?.says;
    if (endsAt === undefined) expect(last, `${id} fires`).toBe("firing");
    else if (mine.length > 0) expect(last, `${id} is over`).toBe("resolved");
    else expect(endsAt - alert.firedAt, `${id} was never told`).toBeLessThan(WAIT + INTERVAL + 2);
  }
}

describeWithRedis("delivery over the real Redis", () => {
  let server: TestRedis;
  let redis: Redis;
  beforeAll(async () => {
    server = await startTestRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const stories = fc.array(event, { minLength: 5, maxLength: 45 });
  const memories = fc.constantFrom("remembers" as const, "remembers nothing" as const);

  it("sends beginnings and ends in order, misses nothing, repeats at most one message per crash, and keeps nothing", async () => {
    await fc.assert(
      fc.asyncProperty(stories, memories, async (events, memory) => {
        const world = await startOf(redis, memory);
        for (const one of events) await world.apply(one);
        await world.settle();
        for (const { id } of integrations) {
          const heard = heardOf(world, id);
          checkTurns(heard);
          checkNothingMissed(world, heard);
          const crashes = world.mayRepeat.get(id) ?? 0;
          // A message names at most the three alerts, each of which may have an end and a beginning in it.
          if (crashes === 0) expect(repetitions(heard)).toBe(0);
          expect(repetitions(heard)).toBeLessThanOrEqual(crashes * NAMES.length * 2);
        }
        await checkNothingKept(world);
      }),
      { seed: 20_261_120, numRuns: 200 },
    );
  });
});

/** Everything but the groups' timers is deleted once all is resolved and notified. */
async function checkNothingKept(world: World): Promise<void> {
  for (const { key } of [...world.current.values()]) await world.flip(key as (typeof NAMES)[number]);
  await world.settle();
  for (const { id } of integrations) expect(await world.testStore.store.groups.notified(id)).toEqual([]);
  expect(await world.testStore.store.shards.alerts()).toEqual([]);
  // These go by themselves, after a while that no clock of a test moves.
  const left = (await world.testStore.keys()).filter((key) => !/^(?:grp:|storm:|logs?\b)/.test(key));
  expect(left.filter((key) => !["incidents", "integrations", "shard:0"].includes(key))).toEqual([]);
}
