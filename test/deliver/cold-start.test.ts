import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { createColdStart } from "../../src/deliver/cold-start.ts";
import type { SuppressibleAlert } from "../../src/deliver/suppression.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { Store } from "../../src/store/store.ts";
import { firing, HOUR, MINUTE, SECOND, T0 } from "../store/fixtures.ts";

const good = (at: number): Attempt => ({ goodAt: at, attemptedAt: at });
const failed = (at: number): Attempt => ({ goodAt: 0, attemptedAt: at, error: "no" });

const suppressed = (name: string, ...by: string[]): SuppressibleAlert => ({
  alert: firing(name),
  silencedBy: [],
  inhibitedBy: by.map((one) => firing(one)),
  mutedBy: [],
  acknowledgement: undefined,
});

/** A replica that looks, with what is stored; Redis has been empty since T0. */
function coldStartAt(stored: {
  now: number;
  attempts: Record<string, Attempt>;
  started?: Awaited<ReturnType<Store["coldStart"]["begin"]>>;
  madeBefore?: boolean;
  dueAt?: number;
}) {
  const { now, attempts, started = { gathering: "all", since: T0 } } = stored;
  const sums: { alerts: readonly string[]; complete: boolean; added?: boolean | undefined }[] = [];
  const woken: string[] = [];
  const logged: string[] = [];
  const reads: (readonly number[])[] = [];
  const clock = { at: now, now: () => clock.at };
  const assigned = createAssigned(
    async () =>
      new Map([
        ["north", 0],
        ["south", 1],
      ]),
  );
  const readAll = async (shards: readonly number[]) => {
    reads.push(shards);
    return [];
  };
  const { check } = createColdStart({
    clock,
    log: { ...silentLogger, warn: (text: string) => void logged.push(text) },
    start: {
      begin: async () => started,
      async sum(_, alerts, { complete, added }) {
        sums.push({ alerts, complete, added });
        return !stored.madeBefore;
      },
    },
    checkActive: () => undefined,
    store: { attempts: async () => new Map(Object.entries(attempts)), readAll },
    groups: {
      nextDue: async (ids) =>
        new Map(stored.dueAt === undefined ? [] : ids.slice(-1).map((id) => [id, stored.dueAt ?? 0])),
    },
    assigned,
    integrations: ["ops"],
    waiting: ["ops", "program"],
    rules: [],
    inventory: { recording: () => undefined, location: () => undefined },
    statusIntervalMs: 30 * SECOND,
    suppressed: async () => [suppressed("site"), suppressed("camera", "site")],
    wake: async (due) => void woken.push(...due.keys()),
  });
  return { check, sums, woken, logged, reads, clock };
}

const all = (at: number) => ({ inventory: good(T0 + 1), "shard:0": good(at), "shard:1": good(at) });

it("the summary is made once every shard was read, of what no other alert explains", async () => {
  const { check, sums, woken } = coldStartAt({ now: T0 + MINUTE, attempts: all(T0 + MINUTE) });
  await check();
  expect(sums).toEqual([{ alerts: [firing("site").id], complete: true, added: false }]);
  expect(woken).toEqual(["ops", "program"]);
});

it("a restart before the summary does not call the store empty", async () => {
  for (const [now, said] of [
    [T0, "Redis is empty"],
    [T0 + SECOND, "Redis was empty"],
  ] as const) {
    const { check, logged } = coldStartAt({ now, attempts: {} });
    await check();
    expect(logged).toEqual([expect.stringContaining(said)]);
  }
});

it("a store that is not empty gets none", async () => {
  const started = { gathering: undefined, since: T0 };
  const { check, sums } = coldStartAt({ now: T0 + MINUTE, attempts: all(T0 + MINUTE), started });
  await check();
  expect(sums).toEqual([]);
});

it("an integration that was added to a running installation gets one at once, and nobody is told of an empty store", async () => {
  const started = { gathering: "added", since: T0 } as const;
  const { check, sums, logged } = coldStartAt({ now: T0 + HOUR, attempts: all(T0 + HOUR), started });
  await check();
  expect(sums).toMatchObject([{ complete: true, added: true }]);
  expect(logged).toEqual([]);
});

it("the second replica to make it wakes nothing", async () => {
  const { check, woken } = coldStartAt({ now: T0 + MINUTE, attempts: all(T0 + MINUTE), madeBefore: true });
  await check();
  expect(woken).toEqual([]);
});

it.each([
  ["a shard was not read yet", { ...all(T0 + MINUTE), "shard:1": good(T0 - 1) }],
  ["the list of locations was not read yet", { ...all(T0 + MINUTE), inventory: good(T0 - 1) }],
  ["a location has no answer", { ...all(T0 + MINUTE), "shard:1": { ...good(T0 + MINUTE), stale: 1 } }],
  ["a shard could not be read", { ...all(T0 + MINUTE), "shard:1": failed(T0 + MINUTE) }],
])(
  "where %s it waits for three intervals, then says that not everything was seen; the fleet is not read meanwhile",
  async (_, attempts) => {
    const { check, sums, reads, clock } = coldStartAt({ now: T0 + MINUTE, attempts });
    await check();
    clock.at += 90 * SECOND;
    await check();
    expect(sums).toEqual([]);
    expect(reads).toEqual([]);
    clock.at += 1;
    await check();
    expect(sums).toMatchObject([{ complete: false }]);
  },
);

it("what cannot be read keeps no news waiting, once it was tried, not even a program's", async () => {
  const one = { ...all(T0 + MINUTE), "shard:1": failed(T0 + MINUTE) };
  const { check, sums } = coldStartAt({ now: T0 + MINUTE, attempts: one, dueAt: T0 + MINUTE });
  await check();
  expect(sums).toMatchObject([{ complete: false }]);
});

it("answers from long before this replica started do not count: the replica that polled has stopped", async () => {
  const { check, sums, clock } = coldStartAt({ now: T0 + HOUR, attempts: all(T0 + MINUTE) });
  await check();
  expect(sums).toEqual([]);
  clock.at += 90 * SECOND + 1;
  await check();
  expect(sums).toMatchObject([{ complete: false }]);
});
