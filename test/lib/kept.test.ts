import { expect, test } from "vitest";
import { keptFor } from "../../src/lib/kept.ts";

test("what was read is used until it is too old, or the clock went back", async () => {
  const read = keptFor(1_000, async (now) => now);
  expect(await Promise.all([500, 1_499, 1_500, 2_000, 1_499].map(read))).toEqual([500, 500, 1_500, 1_500, 1_499]);
});

test("where reading failed, the next call reads again", async () => {
  let reads = 0;
  const read = keptFor(1_000, async () => {
    reads += 1;
    if (reads === 1) throw new Error("gone");
    return reads;
  });
  await expect(read(0)).rejects.toThrow("gone");
  expect(await read(1)).toBe(2);
});
