import { expect, test } from "vitest";
import { oneAtATime } from "../../src/lib/one-at-a-time.ts";

test("a call during a run gets that run, and a call after it another one", async () => {
  const runs: PromiseWithResolvers<void>[] = [];
  const run = oneAtATime(() => {
    const next = Promise.withResolvers<void>();
    runs.push(next);
    return next.promise;
  });
  const first = run();
  expect(run()).toBe(first);
  runs[0]?.resolve();
  await first;
  void run();
  expect(runs).toHaveLength(2);
});

test("a run that failed is no longer under way, and each of its callers learns of it", async () => {
  let runs = 0;
  const run = oneAtATime(async () => {
    runs += 1;
    throw new Error(`run ${runs}`);
  });
  const calls = await Promise.allSettled([run(), run()]);
  expect(calls.map((one) => one.status === "rejected" && one.reason.message)).toEqual(["run 1", "run 1"]);
  await expect(run()).rejects.toThrow("run 2");
});
