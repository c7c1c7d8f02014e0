/**
 * Delivery over the real scripts: whatever is remembered, claimed, refused, sent, settled, killed between any two
 * calls or sent to Redis twice, each integration hears beginnings and ends in turn, each once per crash at most.
 */
import fc from "fast-check";
import type { Redis } from "ioredis";
import { expect, it } from "vitest";
import type { Notification } from "../../src/alerting/model.ts";
import type { Destination } from "../../src/alerting/route.ts";
import type { Alert } from "../../src/health/alert.ts";
import {
  HOUR,
  integration,
  LEASE,
  MINUTE,
  markStarted,
  openTestStore,
  SECOND,
  to,
  useTestStore,
} from "../store/fixtures.ts";
import { aStart } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { down, Lab, refusal, runsOf } from "./lab.ts";

const WAIT = 30 * SECOND;
const INTERVAL = 5 * MINUTE;
const NAMES = ["a", "b", "c"] as const;
type Name = (typeof NAMES)[number];

const HOW = ["accepted", "endpoint_down", "message_refused", "killed_before", "killed_after", "lease_lost"] as const;
type How = (typeof HOW)[number];

type Event =
  | { readonly kind: "flip"; readonly name: Name }
  | { readonly kind: "pass"; readonly seconds: number }
  /** The summary of a start without memory is made, where it was not made before. */
  | { readonly kind: "sum" }
  | {
      readonly kind: "deliver";
      readonly who: 0 | 1;
      readonly how: How;
      /** Flips while the message is under way. */
      readonly during: Name | undefined;
      /** A script of this delivery is sent twice, with this flip between the two. */
      readonly twice: Name | undefined;
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
const PLACES: Readonly<Record<Name, readonly Destination[]>> = {
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
  readonly lab: Lab;
  /** Every episode that ever was, with its end. */
  readonly episodes = new Map<string, { alert: Alert; endsAt: number | undefined }>();
  readonly heard: Heard[] = [];
  readonly mayRepeat = new Map<string, number>();
  readonly keys: () => Promise<string[]>;
  /** After so many scripts one loses its reply and is sent again, with a flip between the two. */
  #lost: { after: number; readonly flips: Name } | undefined;

  constructor(redis: Redis) {
    const testStore = openTestStore(this.#doubling(redis));
    this.keys = testStore.keys;
    this.lab = new Lab(testStore, integrations, openTestStore(redis, testStore.prefix));
    this.lab.placesOf = ({ key }) => PLACES[key as Name];
    this.lab.deps.isRouted = () => true;
    this.lab.keepsLeases = true;
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

  async flip(name: Name): Promise<void> {
    const { lab, episodes } = this;
    lab.now += 1;
    const alert = lab.current.get(name);
    if (alert) episodes.set(alert.id, { alert, endsAt: lab.now });
    await lab.flip(name);
    const begun = lab.current.get(name);
    if (begun) episodes.set(begun.id, { alert: begun, endsAt: undefined });
  }

  /** One delivery run of a replica, which may be killed in it. */
  async deliver(who: 0 | 1, how: How, during?: Name): Promise<void> {
    const { lab, mayRepeat } = this;
    const { id } = integrations[who];
    let flips = during;
    let isLeaseLost = how === "lease_lost";
    lab.how = (_, n) => {
      if (how === "endpoint_down") return down;
      if (how === "message_refused") return refusal("server_error", { scope: "message" });
      if (how !== "killed_before") this.#hear(id, n);
      return how === "killed_before" || how === "killed_after" ? how : "ok";
    };
    lab.during = async () => {
      const name = flips;
      flips = undefined;
      if (name) await this.flip(name);
    };
    lab.accepted = async () => {
      if (how === "killed_after" || isLeaseLost) mayRepeat.set(id, (mayRepeat.get(id) ?? 0) + 1);
      if (!isLeaseLost) return;
      // The replica hangs until its lease is over; another one serves the group meanwhile.
      isLeaseLost = false;
      lab.now += LEASE;
      await lab.endLease(id);
      await lab.deliver(id, lab.anotherReplica());
    };
    await lab.deliver(id);
  }

  #hear(who: string, { firing, resolved }: Notification): void {
    // A member that is named again beside news is not notified a second time.
    for (const { id, key, isNew } of firing) if (isNew) this.heard.push({ who, key, id, says: "firing" });
    for (const { id, key } of resolved) this.heard.push({ who, key, id, says: "resolved" });
  }

  async apply(event: Event): Promise<void> {
    if (event.kind === "flip") return this.flip(event.name);
    if (event.kind === "pass") return this.lab.pass(event.seconds * SECOND);
    if (event.kind === "sum") return this.sum();
    const { twice, nth } = event;
    if (twice !== undefined) this.#lost = { after: nth, flips: twice };
    await this.deliver(event.who, event.how, event.during);
    this.#lost = undefined;
  }

  async sum(): Promise<void> {
    const ids = [...this.lab.current.values()].map((alert) => alert.id);
    await this.lab.store.coldStart.sum([slack.id, mail.id], ids, aStart, this.lab.now);
  }

  /** Delivers until only reminders are left. */
  async settle(): Promise<void> {
    const { lab } = this;
    await this.sum();
    await lab.pass(LEASE);
    for (let round = 0; round < 40; round++) {
      const next = Math.min(...(await lab.store.groups.nextDue(integrations.map(({ id }) => id))).values());
      if (next > lab.now + HOUR) return;
      await lab.pass(Math.max(0, next - lab.now) + 5 * MINUTE);
      for (const who of [0, 1] as const) await this.deliver(who, "accepted");
    }
    throw new Error("it never comes to rest");
  }
}

async function startOf(redis: Redis, memory: "remembers" | "remembers nothing"): Promise<World> {
  const world = new World(redis);
  if (memory === "remembers") await markStarted({ redis, store: world.lab.store });
  else await world.lab.store.coldStart.begin(world.lab.now);
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
  const testStore = useTestStore();
  const stories = fc.array(event, { minLength: 5, maxLength: 45 });
  const memories = fc.constantFrom("remembers" as const, "remembers nothing" as const);

  it("sends beginnings and ends in order, misses nothing, repeats at most one message per crash, and keeps nothing", async () => {
    await fc.assert(
      fc.asyncProperty(stories, memories, async (events, memory) => {
        const world = await startOf(testStore().redis, memory);
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
      { seed: 20_261_120, numRuns: runsOf(40) },
    );
  });
});

/** Everything but the groups' timers is deleted once all is resolved and notified. */
async function checkNothingKept(world: World): Promise<void> {
  for (const name of [...world.lab.current.keys()]) await world.flip(name as Name);
  await world.settle();
  for (const { id } of integrations) expect(await world.lab.store.groups.notified(id)).toEqual([]);
  expect(await world.lab.store.shards.alerts()).toEqual([]);
  // These go by themselves, after a while that no clock of a test moves.
  const left = (await world.keys()).filter((key) => !/^(?:grp:|storm:|logs?\b)/.test(key));
  expect(left.filter((key) => !["episodes", "integrations", "shard:0"].includes(key))).toEqual([]);
}
