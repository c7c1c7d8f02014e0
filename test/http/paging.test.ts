import fc from "fast-check";
import { expect, test } from "vitest";
import { listingOf } from "../../src/http/paging.ts";
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

test("of rows with the same key each page has the newest", async () => {
  const rows = fc.array(fc.record({ key: fc.nat(60).map(String), at: fc.nat() }), { maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 20 }), async (all, limit) => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const after = cursor ?? "";
        const keyOf = ({ key }: { key: string; at: number }) => (key <= after ? undefined : key);
        const isNewer = (one: { at: number }, other: { at: number }) => one.at > other.at;
        const { items, nextCursor } = await runYielding(listingOf(all, { limit, cursor }, keyOf, { isNewer }));
        seen.push(...items.map(({ key, at }) => `${key} ${at}`));
        cursor = nextCursor === null ? undefined : items.at(-1)?.key;
      } while (cursor !== undefined);
      const newest = new Map<string, number>();
      for (const { key, at } of all) newest.set(key, Math.max(at, newest.get(key) ?? 0));
      expect(seen).toEqual([...newest.keys()].sort().map((key) => `${key} ${newest.get(key)}`));
    }),
  );
});
