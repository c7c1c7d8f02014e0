/**
 * Two replicas over one Redis, each of which may be killed before or after any command, or be too slow: whatever is
 * committed, silenced, acknowledged, rerouted and delivered at once, nothing is missed, ended twice, or kept.
 */
import fc from "fast-check";
import type { Redis } from "ioredis";
import { expect, it } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { destinationsOf } from "../../src/alerting/route.ts";
import type { Alert } from "../../src/health/alert.ts";
import { Lab, runsOf } from "../deliver/lab.ts";
import { KillableRedis, turns } from "../support/killable-redis.ts";
import { seededRandom } from "../support/random.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  ends,
  fires,
  firing,
  HOUR,
  headOf,
  integration,
  MINUTE,
  markStarted,
  openTestStore,
  SECOND,
  T0,
  useTestStore,
} from "./fixtures.ts";

const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_131);
const SLOW = 20 * SECOND;
/** `group_wait`, and `group_interval` after another message, as seen between two steps. */
const LATEST = 30 * SECOND + 5 * MINUTE + 3 * SLOW;
const LOCATIONS = { a: "1", b: "1", c: "2" } as const;
const SHARDS = { a: 0, b: 1, c: 0 } as const;
type Name = keyof typeof LOCATIONS;
const NAMES: readonly Name[] = ["a", "b", "c"];
const matching = (one: Name) => parseMatchers(`recording_id=${one}`);
const INHIBITION = { sourceMatchers: matching("a"), targetMatchers: matching("b"), equal: [] };
const GROUPINGS = [["location_id"], ["recording_id"], []] as const;
const RECEIVERS = ["ops", "ops", "other"] as const;
const integrations = [
  integration("ops/slack/0"),
  integration("ops/email/0/x", { endpoint: "smtp" }),
  integration("other/slack/0", { endpoint: "other" }),
] as const;
const IDS = integrations.map(({ id }) => id);

const of = <Kind extends string, More>(kind: Kind, more: { [Key in keyof More]: fc.Arbitrary<More[Key]> }) =>
  fc.record<More>(more).map((one) => ({ kind, ...one }));
const name = fc.constantFrom(...NAMES);
const op = fc.oneof(
  { weight: 3, arbitrary: of("flip", { names: name.map((one) => [one]) }) },
  { weight: 3, arbitrary: of("flip", { names: fc.uniqueArray(name, { minLength: 1 }) }) },
  { weight: 6, arbitrary: of("deliver", { who: fc.constantFrom(...IDS), isSlow: fc.nat(3).map((one) => one === 0) }) },
  { weight: 2, arbitrary: of("silence", { name, minutes: fc.constantFrom(1, 60) }) },
  { weight: 2, arbitrary: of("unsilence", {}) },
  of("acknowledge", { name }),
  of("withdraw", { name }),
  of("reroute", { by: fc.nat(2), to: fc.constantFrom(...RECEIVERS) }),
  of("reconcile", {}),
);
const kill = fc.option(fc.record({ nth: fc.nat(14), isAfter: fc.boolean() }), { nil: undefined, freq: 2 });
const step = fc.record({
  passMs: fc.constantFrom(1, SECOND, SLOW, 35 * SECOND, 35 * SECOND, 5 * MINUTE),
  ops: fc.array(fc.record({ op, by: fc.constantFrom(0 as const, 1 as const), kill }), { minLength: 1, maxLength: 3 }),
});
type Op = typeof op extends fc.Arbitrary<infer One> ? One : never;
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface Heard {
  readonly who: string;
  readonly id: string;
  readonly says: "firing" | "resolved";
  readonly message: number;
}

interface Episode {
  readonly alert: Alert;
  /** Since when nothing but the timers of its group kept it back. */
  freeFrom: number;
  /** The receiver that it was routed to last. */
  receiver: string;
  endsAt?: number;
}

class World {
  now = T0;
  readonly replicas: [ReturnType<World["start"]>, ReturnType<World["start"]>];
  readonly heard: Heard[] = [];
  readonly episodes = new Map<string, Episode>();
  /** Messages of killed or slow deliveries, which may be repeated. */
  readonly mayRepeat = new Set<number>();
  #grouping = 0;
  #receiver: (typeof RECEIVERS)[number] = "ops";
  #reroutedAt = Number.NEGATIVE_INFINITY;
  #messages = 0;
  #count = 0;
  readonly #slow = new Set<string>();
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #random: () => number;

  constructor(redis: Redis, prefix: string, seed: number) {
    [this.#redis, this.#prefix, this.#random] = [redis, prefix, seededRandom(seed)];
    this.#grouping = seed % GROUPINGS.length;
    this.replicas = [this.start(), this.start()];
  }

  start() {
    const process = new KillableRedis(this.#redis, () => Math.floor(this.#random() * 4));
    const testStore = openTestStore(process.redis, this.#prefix);
    const lab = new Lab(testStore, integrations);
    lab.inhibitRules = [INHIBITION];
    const stormy = (id: string) => ({ stormGroups: id === IDS[1] ? 1 : undefined });
    lab.placesOf = (alert) =>
      destinationsOf(alert, lab.route, integrations).map((one) => ({ ...one, ...stormy(one.integration) }));
    lab.during = () => turns(Math.floor(this.#random() * 6));
    lab.accepted = async (who, { firing: begun, resolved }) => {
      const message = this.#messages++;
      for (const { id, isNew } of begun) if (isNew) this.heard.push({ who, id, says: "firing", message });
      for (const { id } of resolved) this.heard.push({ who, id, says: "resolved", message });
      if (process.isDead) this.mayRepeat.add(message);
      if (this.#slow.delete(who)) await this.#overtake(lab, who);
    };
    return { process, testStore, lab };
  }

  /** Its lease runs out while it waits for the answer, and the other replica serves the group. */
  async #overtake(lab: Lab, who: string): Promise<void> {
    this.#mayRepeatLast(who, 0);
    this.now += SLOW;
    const { store, endLease } = openTestStore(this.#redis, this.#prefix);
    await store.releases.reconcile(this.now);
    await endLease(who);
    const other = this.replicas.find((one) => one.lab !== lab) ?? this.replicas[0];
    await this.#race(other, { kind: "flip", names: NAMES.filter(() => this.#random() < 0.5) });
    await this.#race(other, { kind: "deliver", who, isSlow: false });
  }

  async step({ passMs, ops }: Step): Promise<void> {
    await this.pass(passMs);
    for (const { by, kill } of ops) this.replicas[by].process.kill(kill);
    await Promise.all(ops.map((one) => this.#race(this.replicas[one.by], one.op)));
    this.#slow.clear();
    for (const i of [0, 1] as const) {
      if (this.replicas[i].process.isDead) this.replicas[i] = this.start();
      this.replicas[i].process.kill(undefined);
    }
    // A reload that was cut short is made again.
    const isRerouted = ops.some(({ op: { kind } }) => kind === "reroute");
    if (isRerouted) await this.do({ kind: "reroute", by: this.#grouping, to: this.#receiver });
    await this.observe(isRerouted);
  }

  /** Ended causes are released every second; the lease of a killed replica is over after a while. */
  async pass(ms: number): Promise<void> {
    await this.do({ kind: "reconcile" });
    await this.#checkReleased();
    this.now += ms;
    if (ms >= SLOW) for (const id of IDS) await this.replicas[0].testStore.endLease(id);
    await this.observe(false);
  }

  async #race(replica: World["replicas"][0], op: Op): Promise<void> {
    const before = this.#messages;
    const { promise } = replica.process.killed;
    const isKilled = (await Promise.race([this.do(op, replica), promise])) === "killed";
    if (isKilled && op.kind === "deliver") this.#mayRepeatLast(op.who, before);
  }

  #mayRepeatLast(of: string, from: number): void {
    const last = this.heard.findLast(({ who, message }) => who === of && message >= from);
    if (last) this.mayRepeat.add(last.message);
  }

  async do(op: Op, replica = this.replicas[0]): Promise<unknown> {
    const { lab } = replica;
    if (op.kind === "reroute") [this.#grouping, this.#receiver, this.#reroutedAt] = [op.by, op.to, this.now];
    const route = { ...lab.route, groupBy: GROUPINGS[this.#grouping] ?? [], receiver: this.#receiver };
    for (const one of this.replicas) Object.assign(one.lab, { now: this.now, route });
    if (op.kind === "flip") return Promise.all([0, 1].map((shard) => this.#flip(replica, shard, op.names)));
    if (op.kind === "reroute") return lab.reroute(route);
    if (op.kind === "reconcile") return lab.store.releases.reconcile(this.now);
    if (op.kind === "unsilence") for (const { id } of await lab.changes().silences()) await lab.unsilence(id);
    if (op.kind === "silence") await lab.silence(`recording_id=${op.name}`, (this.now - T0) / MINUTE + op.minutes);
    if (op.kind === "acknowledge" || op.kind === "withdraw") {
      const alert = firing(op.name, T0, { location_id: LOCATIONS[op.name] });
      await (op.kind === "withdraw" ? lab.withdraw(alert) : lab.ack(alert));
    }
    if (op.kind !== "deliver") return;
    if (op.isSlow) this.#slow.add(op.who);
    return lab.replica().deliver(op.who);
  }

  /** A sweep: what fires is in the document of the shard. */
  async #flip({ lab, testStore }: World["replicas"][0], shard: number, all: readonly Name[]): Promise<void> {
    const names: readonly string[] = all.filter((one) => SHARDS[one] === shard);
    const key = lab.store.keys.shard(shard);
    const [expected, document] = await testStore.redis.hmget(key, "n", "d");
    const before = JSON.parse(document ?? "[]") as Alert[];
    const ended = before.filter((alert) => names.includes(alert.key));
    const begun = all.flatMap((one) => {
      if (!names.includes(one) || ended.some((alert) => alert.key === one)) return [];
      const id = `${one}@${this.now}.${this.#count++}`;
      return [{ ...firing(one, this.now, { location_id: LOCATIONS[one] }), id }];
    });
    const next = JSON.stringify([...before.filter((alert) => !ended.includes(alert)), ...begun]);
    const places = begun.map((one) => fires(one, ...lab.placesOf(one)));
    const changes = [...ended.map((one) => ends(one, this.now)), ...places];
    await lab.store.shards.commit({ key, expected: expected ?? "", document: next, now: this.now, changes });
  }

  /** Gives what suppresses an alert, by when it is over. */
  async #suppressions(): Promise<(episode: Episode) => number[]> {
    const { store } = this.replicas[0].testStore;
    const [silences, acks] = [await store.silences.read(this.now), await store.acks.read()];
    const isFiring = (one: Name) => this.episodes.values().some((known) => known.alert.key === one && !known.endsAt);
    return ({ alert: { id, key } }) => [
      ...silences.filter(({ matchers: [one] }) => one?.value === key).map(({ endsAt }) => endsAt),
      ...(acks.has(id) ? [acks.get(id)?.until ?? this.now + 1] : []),
      ...(key === "b" && isFiring("a") ? [this.now + 1] : []),
    ];
  }

  async observe(isRerouted: boolean): Promise<void> {
    const { now, episodes } = this;
    const { keys } = this.replicas[0].testStore.store;
    const documents = await Promise.all([0, 1].map((shard) => this.#redis.hget(keys.shard(shard), "d")));
    const stored = documents.flatMap((one) => JSON.parse(one ?? "[]") as Alert[]);
    for (const alert of stored)
      if (!episodes.has(alert.id)) episodes.set(alert.id, { alert, freeFrom: now, receiver: "" });
    const suppressions = await this.#suppressions();
    for (const [id, episode] of episodes) {
      const until = [...suppressions(episode), ...(isRerouted ? [now] : [])];
      // What is suppressed after its end, and was not notified by then, never is.
      if (episode.endsAt !== undefined && until.some((at) => at > now)) episode.freeFrom = Number.POSITIVE_INFINITY;
      if (episode.endsAt !== undefined) continue;
      episode.receiver = this.#receiver;
      episode.freeFrom = Math.max(episode.freeFrom, ...until.map((at) => Math.min(at, now)));
      if (!stored.some((alert) => alert.id === id)) episode.endsAt = now;
    }
  }

  /** What was suppressed, and is not any more, is due at once, or `group_interval` after the last message. */
  async #checkReleased(): Promise<void> {
    // What was moved waits for the `group_wait` of its new group.
    if (this.now < this.#reroutedAt + LATEST) return;
    const { testStore } = this.replicas[0];
    const { store, redis } = testStore;
    const suppressions = await this.#suppressions();
    for (const { alert, endsAt, ...episode } of this.episodes.values()) {
      if (endsAt !== undefined || suppressions({ alert, ...episode }).some((at) => at > this.now)) continue;
      for (const place of await redis.smembers(store.keys.in(alert.id))) {
        const [id = "", group = ""] = place.split("\n");
        const { claimed, sentAt = 0, intervalMs = 0 } = await headOf(testStore, id, group);
        const entry = JSON.parse((await redis.hget(store.keys.notificationLog(id), alert.id)) ?? "{}");
        if (claimed !== undefined || !entry.waiting) continue;
        const due = Number(await redis.zscore(store.keys.due(id), group));
        expect(due, `${id}: ${alert.id} is free`).toBeLessThanOrEqual(Math.max(this.now, sentAt + intervalMs));
      }
    }
  }

  /** Delivers until only reminders are left, and what is suppressed is looked at again and again. */
  async settle(): Promise<void> {
    for (let round = 0; round < 24; round++) {
      const next = Math.min(...(await this.replicas[0].testStore.store.groups.nextDue(IDS)).values());
      if (next > this.now + HOUR) return;
      await this.pass(Math.max(SLOW, next - this.now));
      for (const who of IDS) await this.do({ kind: "deliver", who, isSlow: false }, this.replicas[round % 2]);
    }
  }

  check(): void {
    const repeatable = this.heard.filter(({ message }) => this.mayRepeat.has(message));
    const mayRepeat = repeatable.map(({ who, id, says }) => `${who} ${id} ${says}`);
    for (const who of IDS) {
      for (const [id, { endsAt, freeFrom, receiver }] of this.episodes) {
        const says = this.heard.filter((one) => one.who === who && one.id === id).map((one) => one.says);
        const heard = says.filter((one, i) => one !== says[i - 1]).join(" ");
        for (const repeated of says.filter((one, i) => one === says[i - 1])) {
          const at = mayRepeat.indexOf(`${who} ${id} ${repeated}`);
          expect(at, `${who}: ${id} is said to be ${repeated} again`).toBeGreaterThanOrEqual(0);
          mayRepeat.splice(at, 1);
        }
        const isMissing = heard === "" && who.startsWith(receiver) && freeFrom + LATEST < (endsAt ?? this.now);
        expect(isMissing, `${who}: ${id} was missed`).toBe(false);
        const right = endsAt === undefined ? ["", "firing"] : ["", "firing resolved", "resolved"];
        expect(right, `${who}: ${id}`).toContain(heard);
      }
    }
  }

  async end(): Promise<void> {
    await this.pass(HOUR);
    for (const one of NAMES) await this.do({ kind: "withdraw", name: one });
    await this.settle();
    this.check();
    const isFiring = (one: Name) => this.episodes.values().some(({ alert, endsAt }) => alert.key === one && !endsAt);
    await this.do({ kind: "flip", names: NAMES.filter(isFiring) });
    await this.observe(false);
    await this.settle();
    // What was moved out of a group before it was reminded of.
    await this.pass(4 * HOUR);
    await this.settle();
    this.check();
    await this.do({ kind: "reconcile" });
    await this.replicas[0].testStore.store.groups.collect(this.now);
  }
}

describeWithRedis("two replicas that are killed at any command", () => {
  const testStore = useTestStore();

  it("miss nothing, end everything once, repeat no more than was under way, and keep nothing", async () => {
    const steps = fc.array(step, { minLength: 15, maxLength: 30, size: "max" });
    const property = fc.asyncProperty(steps, fc.nat(), async (all, seed) => {
      const { redis } = testStore();
      const { prefix, store, keys } = openTestStore(redis);
      await markStarted({ redis, store });
      const world = new World(redis, prefix, seed);
      for (const one of all) await world.step(one);
      await world.end();
      const left = (await keys()).filter((key) =>
        /^(?:mem|in|nflog|alerts|acks|turn|claim|released|due|roots|settings|changed)\b/.test(key),
      );
      expect(left).toEqual([]);
    });
    await fc.assert(property, { seed: SEED, numRuns: runsOf(12) });
  });
});
