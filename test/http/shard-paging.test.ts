import fc from "fast-check";
import { expect, test } from "vitest";
import { type Part, pageOfParts } from "../../src/http/shard-paging.ts";

const keys = fc.uniqueArray(fc.stringMatching(/^[a-c]{1,3}$/), { maxLength: 6 });
const cursorIn = (text: string | null) =>
  text === null ? undefined : Buffer.from(text, "base64url").toString().slice(3);

test("following the cursor gives every row once, in order, and no page reads more than one shard", async () => {
  await fc.assert(
    fc.asyncProperty(
      keys,
      fc.array(keys, { maxLength: 5 }),
      fc.integer({ min: 1, max: 5 }),
      async (apart, shards, limit) => {
        let read = 0;
        const partOf = (key: string, rows: readonly string[], isStored: boolean): Part<string> => ({
          key,
          isStored,
          async rows() {
            if (isStored) read += 1;
            return rows.map((row) => [row, `${key}/${row}`]);
          },
        });
        const parts = [partOf("0", apart, false), ...shards.map((rows, i) => partOf(`1${i}`, rows, true))];
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          read = 0;
          const page = await pageOfParts(parts, { limit, cursor });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          expect(read).toBeLessThanOrEqual(1);
          seen.push(...page.items);
          cursor = cursorIn(page.nextCursor);
        } while (cursor !== undefined);
        const all = [
          ...apart.map((row) => `0/${row}`),
          ...shards.flatMap((rows, i) => rows.map((row) => `1${i}/${row}`)),
        ];
        expect(seen).toEqual(all.sort());
      },
    ),
  );
});
