import { expect, test } from "vitest";
import { correctedClock } from "../../src/lib/clock.ts";
import { followRedisClock } from "../../src/store/redis.ts";

const T0 = Date.UTC(2026, 2, 2, 8);

/** Asks a Redis whose clock shows `there` when it answers, `roundTripMs` after it was asked; ours shows T0 then. */
async function follow({ there, roundTripMs }: { there: number; roundTripMs: number }): Promise<number> {
  const clock = correctedClock({ now: () => T0 });
  let elapsed = 0;
  const redis = {
    async time() {
      elapsed += roundTripMs;
      return [Math.floor(there / 1_000), (there % 1_000) * 1_000] as [number, number];
    },
  };
  await followRedisClock(redis as unknown as Parameters<typeof followRedisClock>[0], clock, () => elapsed);
  return clock.now() - T0;
}

test("a quick answer sets the clock", async () => {
  expect(await follow({ there: T0 + 5_000, roundTripMs: 1 })).toBe(5_000);
  expect(await follow({ there: T0 - 90_000, roundTripMs: 1 })).toBe(-89_999);
});

test("an answer that agrees moves nothing, however long it took", async () => {
  expect(await follow({ there: T0, roundTripMs: 0 })).toBe(0);
  expect(await follow({ there: T0, roundTripMs: 4_000 })).toBe(0);
  expect(await follow({ there: T0 - 3_999, roundTripMs: 4_000 })).toBe(0);
});

test("a slow answer moves the clock only as far as it proves", async () => {
  expect(await follow({ there: T0 + 700, roundTripMs: 4_000 })).toBe(700);
  expect(await follow({ there: T0 - 90_000, roundTripMs: 4_000 })).toBe(-86_000);
});
