import fc from "fast-check";
import { expect, test } from "vitest";
import { PageCollector } from "../../src/http/paging.ts";

test("whatever the order of the rows, pages give each once, by key", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ maxLength: 6 }), { maxLength: 400 }),
      fc.integer({ min: 1, max: 40 }),
      (keys, limit) => {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const collector = new PageCollector<string>({ limit, cursor });
          for (const key of keys) collector.offer(key, key);
          const { items, nextCursor } = collector.page();
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
