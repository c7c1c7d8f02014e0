import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import { keysUnder } from "../../src/store/keys.ts";
import {
  createTransact,
  document,
  newId,
  type Place,
  parseRead,
  type Transact,
  type Transaction,
  writing,
} from "../../src/store/transact.ts";
import { describeWithRedis } from "../support/redis.ts";
import { useTestStore } from "./fixtures.ts";

const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_126);
const NAMES = ["a", "b", "c"] as const;

describeWithRedis("a transaction", () => {
  const testStore = useTestStore();
  let store: Transact;
  let p: string;
  beforeEach(() => {
    const keys = keysUnder(testStore().prefix);
    p = keys.prefix;
    store = createTransact(testStore().redis, keys);
  });
  const place = (name: string): Place => (name === "a" ? [`${p}a`] : [`${p}hash`, name]);
  const textAt = async (name: string) => (await store.read([place(name)]))[0].text;

  it("writes a document where there was none, and its text comes back as it was", async () => {
    for (const text of ["", "{}", "two\nlines", "ü\u{1f600}"]) {
      const id = newId();
      const [read] = await store.read([place("b")]);
      const writes = [writing(id, place("b"), text)];
      expect(await store.transact({ id, checks: [read], writes })).toEqual({ kind: "stored" });
      expect(await store.read([place("b")])).toEqual([{ place: place("b"), version: id, text }]);
    }
  });

  it("names the document that another one wrote first, and writes nothing", async () => {
    const reads = await store.read([place("a"), place("b")]);
    const other = newId();
    await store.transact({ id: other, checks: [], writes: [writing(other, place("b"), "theirs")] });
    const id = newId();
    const writes = [writing(id, place("a"), "mine"), ["SADD", `${p}set`, "x"] as const];
    expect(await store.transact({ id, checks: reads, writes })).toEqual({ kind: "conflict", place: place("b") });
    expect([await textAt("a"), await testStore().redis.exists(`${p}set`)]).toEqual([undefined, 0]);
  });

  it("writes nothing where a write has no words", async () => {
    const [set, place] = [`${p}set`, [`${p}a`] as const];
    const id = newId();
    const writes = [["HDEL", `${p}hash`], ["SADD", set], writing(id, place, "text")] as const;
    expect(await store.transact({ id, checks: [], writes })).toEqual({ kind: "stored" });
    expect([await textAt("a"), await testStore().redis.exists(set)]).toEqual(["text", 0]);
    await store.transact({ id: newId(), checks: [], writes: [writing(id, place, undefined)] });
    expect(await textAt("a")).toBeUndefined();
  });

  it("writes more at once than the stacks of Lua and of JavaScript hold", async () => {
    const pairs = Array.from({ length: 100_000 }, (_, i) => [`f${i}`, `v${i}`] as const);
    await store.transact({ id: newId(), checks: [], writes: [["HSET", `${p}many`, ...pairs.flat()]] });
    expect(await testStore().redis.hgetall(`${p}many`)).toEqual(Object.fromEntries(pairs));
  });

  it("of twenty that change one document at once each is made once", async () => {
    const count = () =>
      store.change([place("b")], ([read], id) => {
        const next = Number(read.text ?? 0) + 1;
        return { writes: [writing(id, place("b"), `${next}`)], result: next };
      });
    const results = await Promise.all(Array.from({ length: 20 }, count));
    expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(await textAt("b")).toBe("20");
  });

  it("gives up where others are faster without end", async () => {
    const change = store.change([place("b")], async (_, id) => {
      const other = newId();
      await store.transact({ id: other, checks: [], writes: [writing(other, place("b"), other)] });
      return { writes: [writing(id, place("b"), "mine")], result: undefined };
    });
    await expect(change).rejects.toMatchObject({ code: "unavailable", retryable: true });
  });

  /**
   * Two replicas move amounts between documents, by what they read at any time before; each call may be made again at any
   * time later. In a model the same transactions take effect one after the other.
   */
  it("keeps every sum, whatever is overtaken and however often a call is repeated", async () => {
    const step = fc.record({
      kind: fc.constantFrom("read", "write", "write", "repeat"),
      replica: fc.nat(1),
      names: fc.shuffledSubarray([...NAMES], { minLength: 2, maxLength: 2 }),
      amount: fc.integer({ min: -9, max: 9 }),
      nth: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        await testStore().redis.del(`${p}a`, `${p}hash`, `${p}done`);
        const model = new Map<string, { version: string; text: string }>();
        const held = [new Map<string, ReturnType<typeof parseRead>>(), new Map<string, ReturnType<typeof parseRead>>()];
        const calls: { transaction: Transaction; outcome: unknown }[] = [];
        for (const { kind, replica, names, amount, nth } of steps) {
          const mine = held[replica] ?? new Map();
          const reads = names.map((name) => mine.get(name) ?? parseRead(place(name), null));
          if (kind === "read") {
            const fresh = await store.read(names.map(place));
            for (const [i, name] of names.entries()) mine.set(name, fresh[i] ?? parseRead(place(name), null));
          } else if (kind === "write") {
            const id = newId();
            const texts = reads.map(({ text }, i) => `${Number(text ?? 0) + (i === 0 ? amount : -amount)}`);
            const writes = [
              ...names.map((name, i) => writing(id, place(name), texts[i])),
              ["SADD", `${p}done`, id] as const,
            ];
            const transaction = { id, checks: reads, writes };
            const stale = names.findIndex((name, i) => (model.get(name)?.version ?? "") !== reads[i]?.version);
            const expected =
              stale < 0 ? { kind: "stored" } : { kind: "conflict", place: place(names[stale] as string) };
            const outcome = await store.transact(transaction);
            expect(outcome).toEqual(expected);
            if (stale < 0)
              for (const [i, name] of names.entries()) model.set(name, { version: id, text: texts[i] ?? "" });
            calls.push({ transaction, outcome });
          } else {
            const call = calls[nth % Math.max(1, calls.length)];
            if (!call) continue;
            const again = await store.transact(call.transaction);
            const isLast = [...model.values()].some(({ version }) => version === call.transaction.id);
            expect(again.kind).toBe(isLast ? "already" : "conflict");
          }
          const now = await store.read(NAMES.map(place));
          expect(now.map(({ version, text }) => (version === "" ? undefined : { version, text }))).toEqual(
            NAMES.map((name) => model.get(name)),
          );
          expect(now.reduce((sum, { text }) => sum + Number(text ?? 0), 0)).toBe(0);
        }
      }),
      { seed: SEED, numRuns: 60 },
    );
  });
});

it("a document's text may have line breaks", () => {
  expect(parseRead(["k"], document("v", "a\nb"))).toEqual({ place: ["k"], version: "v", text: "a\nb" });
});
