import fc from "fast-check";
import { expect, it } from "vitest";
import { createFollower, logging } from "../../src/store/change-log.ts";
import { createTransact, newId } from "../../src/store/transact.ts";
import { describeWithRedis } from "../support/redis.ts";
import { useTestStore } from "./fixtures.ts";

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      id: fc.constantFrom("a", "b", "c"),
      who: fc.constantFrom(0, 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("many" as const, "empty" as const, "fail" as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("follow" as const), who: fc.constantFrom(0, 1) }) },
);

describeWithRedis("a log of writes", () => {
  const testStore = useTestStore();

  it("gives every process what is stored, reading whole only where it is far behind, new, or Redis was emptied", async () => {
    const { redis, store } = testStore();
    const { transact } = createTransact(redis, store.keys);
    const [data, log] = [`${store.keys.prefix}data`, `${store.keys.prefix}log`];
    let value = 0;
    const write = async (id: string) => {
      const [change, after] = [newId(), (await redis.lindex(log, 0)) ?? ""];
      await transact({ id: change, checks: [], writes: [["HSET", data, id, ++value], ...logging(log, change, [id])] });
      return [change, after] as const;
    };
    const process = () => {
      const known = new Map<string, string | null>();
      const one = { known, reads: 0, isFailing: false, isBehind: true };
      const follower = createFollower<readonly string[]>(redis, log, async (changes) => {
        if (one.isFailing) throw new Error("no answer");
        if (!changes) one.reads++;
        if (!changes) known.clear();
        for (const id of changes?.flat() ?? Object.keys(await redis.hgetall(data)))
          known.set(id, await redis.hget(data, id));
      });
      return Object.assign(one, follower);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: "max" }), async (steps) => {
        expect(await redis.llen(log)).toBeLessThanOrEqual(400);
        await redis.del(data, log);
        const processes = [process(), process()];
        for (const one of steps) {
          if (one.kind === "write") {
            const by = processes[one.who] ?? process();
            by.wrote(...(await write(one.id)));
            by.known.set(one.id, `${value}`);
          }
          if (one.kind === "many") for (let i = 0; i < 201; i++) await write("a");
          if (one.kind === "empty") await redis.del(data, log);
          if (one.kind === "many" || one.kind === "empty") for (const each of processes) each.isBehind = true;
          if (one.kind === "fail") for (const each of processes) each.isFailing = true;
          if (one.kind === "fail") await Promise.allSettled(processes.map(({ follow }) => follow()));
          for (const each of processes) each.isFailing = false;
          if (one.kind !== "follow") continue;
          const mine = processes[one.who] ?? process();
          const before = mine.reads;
          await mine.follow();
          expect(Object.fromEntries(mine.known)).toEqual(await redis.hgetall(data));
          if (!mine.isBehind) expect(mine.reads).toBe(before);
          mine.isBehind = (await redis.llen(log)) === 0;
        }
      }),
      { numRuns: 25 },
    );
  });
});
