import { expect, test } from "vitest";
import { judgeReadiness, type ReadinessFacts } from "../../src/http/lifecycle-routes.ts";

const NOW = 1_000_000_000;
const WELL: ReadinessFacts = {
  configLoaded: true,
  redisReachable: true,
  sweeps: { lastAttemptAt: NOW - 90_000, statusIntervalMs: 30_000 },
  endpointsDown: [],
};

test.each<[string, Partial<ReadinessFacts>, string[]]>([
  ["all is well", {}, []],
  ["it does not poll", { sweeps: undefined }, []],
  ["the configuration is not loaded", { configLoaded: false }, ["The configuration is not loaded."]],
  ["Redis is away", { redisReachable: false }, ["Redis cannot be reached."]],
  [
    "no sweep was attempted",
    { sweeps: { lastAttemptAt: undefined, statusIntervalMs: 30_000 } },
    ["No sweep was attempted yet."],
  ],
  [
    "the last sweep is more than 3 intervals ago",
    { sweeps: { lastAttemptAt: NOW - 90_001, statusIntervalMs: 30_000 } },
    ["The last sweep was attempted 1 m 30 s ago, with an interval of 30 s."],
  ],
  [
    "several things are wrong",
    { configLoaded: false, redisReachable: false },
    ["The configuration is not loaded.", "Redis cannot be reached."],
  ],
])("when %s", (_, differing, reasons) => {
  expect(judgeReadiness({ ...WELL, ...differing }, NOW)).toEqual({ ready: reasons.length === 0, reasons, notes: [] });
});

test("a service that is down is a note and no reason", () => {
  expect(judgeReadiness({ ...WELL, endpointsDown: ["uptimes"] }, NOW)).toEqual({
    ready: true,
    reasons: [],
    notes: ["The analytics service does not answer at uptimes."],
  });
});

test.each([
  ["in_time", []],
  ["unknown", []],
  ["partly", ["Not everything that is watched was read in time."]],
  ["unreachable", ["Hardly any recording was read lately."]],
] as const)("evidence that is %s is a note at most", (state, notes) => {
  expect(judgeReadiness({ ...WELL, evidence: { state } }, NOW)).toEqual({ ready: true, reasons: [], notes });
});

test("a later configuration elsewhere is a note and no reason", () => {
  const { ready, notes } = judgeReadiness({ ...WELL, standby: ["poll"] }, NOW);
  expect(ready).toBe(true);
  expect(notes).toEqual(["Another replica has a later configuration: this one takes no new work (poll)."]);
});
