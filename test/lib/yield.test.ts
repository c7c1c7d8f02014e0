import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { CHUNK, coalesced, createYielder, inChunks, runYielding, SLICE_MS } from "../../src/lib/yield.ts";

/** A clock that moves by `step` ms whenever it is looked at. */
function steppingClock(step: number): () => number {
  let at = 0;
  return () => {
    at += step;
    return at;
  };
}

describe("a breather", () => {
  test("lets work go on within a slice", () => {
    expect(createYielder(() => 0)()).toBeUndefined();
  });

  test("lets the event loop through once the slice is over, and begins another slice", async () => {
    let at = 0;
    const maybeYield = createYielder(() => at);
    at = SLICE_MS;
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await maybeYield();
    expect(turned).toBe(true);
    expect(maybeYield()).toBeUndefined();
  });
});

test("work in steps gives its result, with the event loop let through in between", async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    if (turns < 100) setImmediate(count);
  };
  setImmediate(count);
  function* work(): Generator<void, string> {
    for (let i = 0; i < 10; i += 1) yield;
    return "done";
  }
  expect(await runYielding(work(), undefined, createYielder(steppingClock(SLICE_MS)))).toBe("done");
  expect(turns).toBeGreaterThanOrEqual(9);
});

describe("work that many ask for at once", () => {
  const start = () => {
    const runs: PromiseWithResolvers<number>[] = [];
    const ask = coalesced(() => {
      const run = Promise.withResolvers<number>();
      runs.push(run);
      return run.promise;
    });
    return { runs, ask };
  };

  test("is done once more for all who ask while it runs, and begins after they asked", async () => {
    const { runs, ask } = start();
    const first = ask();
    await turn();
    const later = Array.from({ length: 100 }, ask);
    await turn();
    expect(runs).toHaveLength(1);
    runs[0]?.resolve(1);
    expect(await first).toBe(1);
    await turn();
    expect(runs).toHaveLength(2);
    runs[1]?.resolve(2);
    expect(await Promise.all(later)).toEqual(Array(100).fill(2));
  });

  test("is done again after it failed", async () => {
    const { runs, ask } = start();
    const failed = ask();
    await turn();
    runs[0]?.reject(new Error("no"));
    await expect(failed).rejects.toThrow("no");
    const again = ask();
    await turn();
    runs[1]?.resolve(3);
    expect(await again).toBe(3);
  });
});

test("what a step throws is thrown", async () => {
  // biome-ignore lint/correctness/useYield: it fails before its first step
  function* work(): Generator<void, string> {
    throw new Error("no");
  }
  await expect(runYielding(work())).rejects.toThrow("no");
});

describe("pieces in chunks", () => {
  const collect = async (pieces: Iterable<string>) => {
    const chunks: string[] = [];
    for await (const chunk of inChunks(pieces)) chunks.push(chunk);
    return chunks;
  };

  test("are joined, in order and complete", async () => {
    const pieces = Array.from({ length: 5_000 }, (_, i) => `${i}`.padStart(100, "."));
    const chunks = await collect(pieces);
    expect(chunks.join("")).toBe(pieces.join(""));
    expect(chunks).toHaveLength(Math.ceil(500_000 / (CHUNK + 100)));
  });

  test("of nothing are no chunk at all", async () => {
    expect(await collect(["", ""])).toEqual([]);
  });

  test("let the event loop through between them", async () => {
    let breaths = 0;
    const maybeYield = () => {
      breaths += 1;
      return undefined;
    };
    for await (const _ of inChunks(["a", "", "b"], maybeYield)) expect(breaths).toBe(3);
  });

  test("stop as soon as the consumer stops", async () => {
    let closed = false;
    function* endless(): Generator<string, void> {
      try {
        for (;;) yield "x".repeat(CHUNK);
      } finally {
        closed = true;
      }
    }
    for await (const chunk of inChunks(endless())) {
      expect(chunk).toHaveLength(CHUNK);
      break;
    }
    expect(closed).toBe(true);
  });
});
