import { expect, it } from "vitest";
import type { Attempts } from "../../src/cluster/own-ticks.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import { needOf, shardJob } from "../../src/poll/needs.ts";
import { MINUTE, T0 } from "../store/fixtures.ts";

const EVERY = 10 * MINUTE;
const good = (at: number): Attempt => ({ goodAt: at, attemptedAt: at });
const failed = (at: number): Attempt => ({ goodAt: 0, attemptedAt: at, error: "No answer." });
const swept: [string, Attempt][] = [["shard:1", good(T0)]];
const uptime = (attempt: Attempt): [string, Attempt][] => [...swept, ["uptime:1", attempt]];

const job = { name: "uptime", everyMs: EVERY, run: async () => {} };
const retried = { retryMs: MINUTE };
it.each<[string, Partial<Parameters<typeof shardJob>[0]>, [string, Attempt][], string]>([
  ["not swept yet", {}, [["shard:1", failed(T0)]], "none"],
  ["unreadable since it was swept", {}, [["shard:1", { ...failed(T0), goodAt: T0 - 1, fault: "unreadable" }]], "none"],
  ["swept, never attempted", {}, swept, "at_once"],
  ["after another job", { after: "details" }, swept, "none"],
  ["after another job that failed", { after: "details" }, [...swept, ["details:1", failed(T0)]], "at_once"],
  ["failed just now", retried, uptime(failed(T0 - MINUTE + 1)), "none"],
  ["failed a while ago", retried, uptime(failed(T0 - MINUTE)), "at_once"],
  ["failed, and not to be tried again before its time", {}, uptime(failed(T0 - MINUTE)), "none"],
  ["good a while ago", retried, uptime(good(T0 - EVERY / 2 + 1)), "none"],
  ["good half the interval ago", retried, uptime(good(T0 - EVERY / 2)), "in_time"],
  ["good just now, and lacks something", { isLacking: (shard) => shard === 1 }, uptime(good(T0)), "at_once"],
])("a shard that was %s", (_, more, attempts, need) => {
  expect(shardJob({ ...job, ...more }).need?.(1, new Map(attempts), T0)).toBe(need);
});

it.each<[string, Attempt | undefined, boolean, string]>([
  ["was never read", undefined, false, "at_once"],
  ["failed a while ago", failed(T0 - MINUTE), false, "at_once"],
  ["failed just now", failed(T0 - MINUTE + 1), false, "none"],
  ["was empty a while ago", good(T0 - MINUTE), true, "at_once"],
  ["was good a while ago", good(T0 - MINUTE), false, "none"],
])("a list that %s", (_, attempt, isOwed, need) => {
  const attempts: Attempts = new Map(attempt ? [["inventory", attempt]] : []);
  expect(needOf("inventory", { everyMs: EVERY, retryMs: MINUTE, isOwed }, attempts, T0)).toBe(need);
});
