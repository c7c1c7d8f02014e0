import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { expect, it } from "vitest";
import { Replicas } from "../../src/cluster/active-config.ts";
import { Queues, slotQueue } from "../../src/cluster/queues.ts";
import { Schedulers } from "../../src/cluster/schedulers.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { SlotJobs } from "../../src/cluster/slot-jobs.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createRound, createTurns } from "../../src/poll/rounds.ts";
import { connectRedis } from "../../src/store/redis.ts";
import { createStore } from "../../src/store/store.ts";
import { describeWithRedis, startTestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const SHARDS = 12;
const INTERVAL_MS = 1_000;
const UPTIME_MS = 3_000;
const LOOK_MS = 100;
/** Long before a replica that is silent is forgotten. */
const WITHIN_MS = 20_000;
const PREFIX = "sharing";

type Member = Awaited<ReturnType<typeof join>>;

/** Who swept what, and whose uptime was asked for when, in order. */
interface Done {
  readonly swept: { readonly member: string; readonly shard: number }[];
  readonly uptimes: { readonly member: string; readonly shard: number; readonly at: number }[];
}

interface Habits {
  readonly requestTimeoutMs: number;
  /** Whether it begins again what is silent. */
  readonly revives: boolean;
  /** As an older build where a newer one writes. */
  readonly cannotRead?: boolean;
}

/** A replica that notes what it sweeps, as the engine wires it. */
async function join(
  member: string,
  url: string,
  { swept, uptimes }: Done,
  { requestTimeoutMs, revives, cannotRead }: Habits,
) {
  const connections: Redis[] = [];
  const connect = (name: string) => {
    const connection = connectRedis({ url }, silentLogger, name);
    connections.push(connection);
    return connection;
  };
  const { shards: store, replicas: membership, keys } = createStore(connect("store"), PREFIX);
  const replicas = new Replicas({ store: membership, clock: systemClock, log: silentLogger, roleOption: "poll" });
  const onFailed = (queue: string, error: Error) => expect.unreachable(`${queue}: ${error.message}`);
  const queues = new Queues({ connect, prefix: keys.queuePrefix, log: silentLogger, onFailed });
  const assigned = createAssigned();
  assigned.set(new Map(Array.from({ length: SHARDS }, (_, shard) => [`location ${shard}`, shard])));
  const intervals = { statusIntervalMs: INTERVAL_MS, inventoryIntervalMs: 1e9 };
  const sweep = createRound(async (shard) => {
    if (cannotRead) {
      await store.noteAttempt(`shard:${shard}`, Date.now(), "It cannot be read.", Date.now(), { fault: "unreadable" });
      return;
    }
    await store.noteAttempt(`shard:${shard}`, Date.now());
    swept.push({ member, shard });
  }, createTurns(8));
  const uptime = createRound(async (shard) => {
    await store.noteAttempt(`uptime:${shard}`, Date.now());
    uptimes.push({ member, shard, at: performance.now() });
  }, createTurns(3));
  const slotJobs = [{ name: "uptime", everyMs: UPTIME_MS, round: uptime } as const];
  const own = { clock: systemClock, log: silentLogger, queues, assigned, replicas };
  const deps = { ...own, requestTimeoutMs, ...intervals, slotJobs };
  const schedulers = new Schedulers(deps);
  const slots = new SlotJobs({ ...deps, store, schedules: schedulers, sweep });
  await queues.open();
  const { signal } = new AbortController();
  await queues.work("sweep", 8, ({ data }) => sweep([Number(data.shard)], signal));
  await replicas.announce("same");
  await replicas.share(true);
  await schedulers.assert(await store.attempts());
  const unfollow = replicas.follow(() => {});
  let latest = Promise.resolve();
  const look = async () => {
    const attempts = await store.attempts();
    await slots.follow(attempts);
    if (revives) await schedulers.revive(attempts);
  };
  const timer = setInterval(() => {
    latest = latest.then(look);
  }, LOOK_MS);
  /** Stops its work; whatever it reported stays. */
  const halt = async () => {
    clearInterval(timer);
    await latest;
    await slots.stop();
    await queues.close();
  };
  return {
    member,
    halt,
    leave: () => replicas.share(false),
    /** As a kill does: it reports no more. */
    async end() {
      unfollow();
      await halt();
      for (const connection of connections) connection.disconnect();
    },
  };
}

it("a slot that became another's while those before were taken is not taken", async () => {
  let own: ReadonlySet<number> = new Set([0, 1]);
  const taken: string[] = [];
  const slots = new SlotJobs({
    ...{ clock: systemClock, log: silentLogger, statusIntervalMs: INTERVAL_MS, slotJobs: [] },
    queues: {
      async work(queue) {
        taken.push(queue);
        own = new Set([0]);
      },
      drain: async () => {},
    },
    replicas: { ownSlots: () => own },
    assigned: { shards: () => [0, 1] },
    schedules: { takeOver: async () => {} },
    store: { attemptsOf: async () => new Map() },
    sweep: async () => {},
  });
  await slots.follow(new Map());
  expect(taken).toEqual([slotQueue(0)]);
  own = new Set([0, 1]);
  await slots.follow(new Map());
  expect(taken).toEqual([slotQueue(0), slotQueue(1)]);
  await slots.stop();
});

/** Replicas over a Redis of their own; they end with it. */
async function sharing({ requestTimeoutMs = 600_000, revives = true }: Partial<Habits> = {}) {
  const redis = await startTestRedis();
  const swept: Done["swept"] = [];
  const uptimes: Done["uptimes"] = [];
  const members: Member[] = [];

  /** As the others, where its habits do not differ. By default no shard is taken for one that nobody sweeps. */
  async function joined(names: readonly string[], more: Partial<Habits> = {}): Promise<Member[]> {
    const habits = { requestTimeoutMs, revives, ...more };
    const joining = await Promise.all(names.map((name) => join(name, redis.url, { swept, uptimes }, habits)));
    members.push(...joining);
    return joining;
  }

  /** Who swept each shard last. */
  const owners = () => new Map(swept.map(({ member, shard }) => [shard, member]));
  const sharesOf = () => Map.groupBy(owners().values(), (member) => member);

  /** Each shard was swept twice from now on; gives by whom, in order. */
  async function nextRounds(): Promise<Map<number, string[]>> {
    const from = swept.length;
    const rounds = () => Map.groupBy(swept.slice(from), ({ shard }) => shard);
    await until("each shard was swept twice", () => {
      const all = rounds();
      return all.size === SHARDS && all.values().every((sweeps) => sweeps.length >= 2);
    });
    return new Map([...rounds()].map(([shard, sweeps]) => [shard, sweeps.map(({ member }) => member)]));
  }

  const areShared = (names: readonly string[]) => () =>
    owners().size === SHARDS &&
    sharesOf().size === names.length &&
    names.every((name) => sharesOf().get(name)?.length === SHARDS / names.length);

  return {
    ...{ url: redis.url, swept, uptimes, joined, owners, nextRounds, areShared },
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map((member) => member.end()));
      await redis.stop();
    },
  };
}

describeWithRedis("replicas that share the shards", () => {
  it.concurrent("each shard stays with the same one, and each has its share; a newcomer gets one", async () => {
    await using shared = await sharing();
    const { joined, owners, nextRounds, areShared } = shared;
    await joined(["a", "b"]);
    await until("both have a share", areShared(["a", "b"]));
    let stays = false;
    // A replica that a busy machine holds up loses slots for a while; time out if they never stay.
    while (!stays) {
      await nextRounds();
      const before = owners();
      const rounds = await nextRounds();
      stays = rounds.entries().every(([shard, by]) => by.every((one) => one === before.get(shard)));
    }
    await joined(["c"]);
    await until("all three have a share", areShared(["a", "b", "c"]));
  });

  it.concurrent("the shards of one that dies are swept by the others, and of one that leaves", async () => {
    await using shared = await sharing();
    const { joined, owners, uptimes, nextRounds, areShared } = shared;
    const [a, b] = await joined(["a", "b", "c"]);
    await until("all have a share", areShared(["a", "b", "c"]));
    const before = uptimes.length;
    await a?.end();
    await until("the others have its shards", areShared(["b", "c"]), WITHIN_MS);
    const from = uptimes.length;
    const asked = () => Map.groupBy(uptimes.slice(from), ({ shard }) => shard);
    await until("the uptime of all is asked for", () => asked().size === SHARDS);
    const of = new Map(uptimes.slice(from).map(({ shard, member }) => [shard, member]));
    expect([...of].toSorted()).toEqual([...owners()].toSorted());
    for (const times of Map.groupBy(uptimes.slice(before), ({ shard }) => shard).values()) {
      const gaps = times.slice(1).map(({ at }, i) => at - (times[i]?.at ?? 0));
      expect(Math.min(...gaps), "not twice in half an interval").toBeGreaterThan(UPTIME_MS / 2 - LOOK_MS);
    }
    await b?.leave();
    await until("one has all", areShared(["c"]), WITHIN_MS);
    for (const by of (await nextRounds()).values()) expect(new Set(by)).toEqual(new Set(["c"]));
  });

  it.concurrent("the shards of one that reports itself and sweeps nothing are swept by the others", async () => {
    await using shared = await sharing({ requestTimeoutMs: INTERVAL_MS });
    const { joined, swept, nextRounds, areShared } = shared;
    const [a] = await joined(["a", "b"]);
    await until("both have a share", areShared(["a", "b"]));
    await a?.halt();
    const from = swept.length;
    await until("all are swept", () => new Set(swept.slice(from).map(({ shard }) => shard)).size === SHARDS);
    for (const by of (await nextRounds()).values()) expect(new Set(by)).toEqual(new Set(["b"]));
  });

  it.concurrent("the shards of one that cannot read them are swept by another that can", async () => {
    await using shared = await sharing({ requestTimeoutMs: 0 });
    const { joined, swept, owners } = shared;
    await joined(["a"], { cannotRead: true });
    await joined(["b"]);
    await until("all are swept", () => owners().size === SHARDS);
    const from = swept.length;
    await until("all are swept again", () => new Set(swept.slice(from).map(({ shard }) => shard)).size === SHARDS);
  });

  it.concurrent("a slot that is taken goes by the clock here, however far ahead the one of its last replica was", async () => {
    await using shared = await sharing({ revives: false });
    const { joined, owners, url } = shared;
    const connection = connectRedis({ url }, silentLogger, "ahead");
    const { keys, shards: store } = createStore(connection, PREFIX);
    const startDate = Date.now() + 3_600_000;
    for (let shard = 0; shard < SHARDS; shard++) {
      const queue = new Queue(`sweep-${shard}`, { prefix: keys.queuePrefix, connection });
      await queue.upsertJobScheduler(`slot-${shard}`, { every: INTERVAL_MS, startDate });
      // Nothing is overdue.
      await store.noteAttempt(`shard:${shard}`, startDate);
    }
    await joined(["a"]);
    await until("all are swept", () => owners().size === SHARDS);
    connection.disconnect();
  });
});
