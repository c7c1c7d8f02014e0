import fc from "fast-check";
import { expect, test } from "vitest";
import { listingOf, pageOfRuns } from "../../src/http/paging.ts";
import { runYielding } from "../../src/lib/yield.ts";

test("whatever the order of the rows, pages give each once, by key", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.string({ maxLength: 6 }), { maxLength: 400 }),
      fc.integer({ min: 1, max: 40 }),
      async (keys, limit) => {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const query = { limit, cursor };
          const { items, nextCursor, before, total } = await runYielding(listingOf(keys, query, (key) => key));
          expect({ before, total }).toEqual({ before: seen.length, total: keys.length });
          expect(items.length).toBeLessThanOrEqual(limit);
          seen.push(...items);
          cursor = nextCursor === null ? undefined : items.at(-1);
        } while (cursor !== undefined);
        expect(seen).toEqual([...keys].sort());
      },
    ),
    { numRuns: 100 },
  );
});

type Row = { readonly key: string; readonly at: number };

test("of sorted runs pages give each key once, by key, with the newest of its rows", async () => {
  const run = fc.array(fc.record({ key: fc.nat(60).map(String), at: fc.nat() }), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.array(run, { maxLength: 9 }), fc.integer({ min: 1, max: 20 }), async (all, limit) => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const after = cursor ?? "";
        const rows = all.map((run) => run.filter(({ key }) => key > after).sort((a, b) => (a.key < b.key ? -1 : 1)));
        const isNewer = (one: Row, other: Row) => one.at > other.at;
        const { items, nextCursor } = await runYielding(pageOfRuns(rows, { limit }, (row) => row.key, isNewer));
        seen.push(...items.map(({ key, at }) => `${key} ${at}`));
        cursor = nextCursor === null ? undefined : items.at(-1)?.key;
      } while (cursor !== undefined);
      const newest = new Map<string, number>();
      for (const { key, at } of all.flat()) newest.set(key, Math.max(at, newest.get(key) ?? 0));
      expect(seen).toEqual([...newest.keys()].sort().map((key) => `${key} ${newest.get(key)}`));
    }),
  );
});

test("a page reads no more of a run than can be on it", async () => {
  let read = 0;
  function* counted(run: readonly number[]) {
    for (const n of run) {
      read += 1;
      yield n;
    }
  }
  const runs = Array.from({ length: 100 }, (_, i) => counted(Array.from({ length: 1_000 }, (_, n) => n * 100 + i)));
  const { items } = await runYielding(
    pageOfRuns(
      runs,
      { limit: 10 },
      (n) => String(n).padStart(6, "0"),
      () => false,
    ),
  );
  expect(items).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(read).toBeLessThan(2_000);
});
