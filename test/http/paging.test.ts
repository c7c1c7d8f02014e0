import fc from "fast-check";
import { expect, test } from "vitest";
import { listingOf } from "../../src/http/paging.ts";

test("whatever the order of the rows, pages give each once, by key", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ maxLength: 6 }), { maxLength: 400 }),
      fc.integer({ min: 1, max: 40 }),
      (keys, limit) => {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const query = { limit, cursor };
          const { items, nextCursor, before, total } = listingOf(keys, query, (key) => key);
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
