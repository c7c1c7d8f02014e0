import { expect, test } from "vitest";
import { statusOf } from "../../src/health/shard-state.ts";

const INTERVAL = 30_000;
const NOW = 1_000_000_000;

test.each([
  ["fresh", { status: "online", readAt: NOW - 1 }, "online"],
  ["exactly 3 intervals old", { status: "offline", readAt: NOW - 3 * INTERVAL }, "offline"],
  ["older than 3 intervals", { status: "online", readAt: NOW - 3 * INTERVAL - 1 }, "unknown"],
  ["never taken", { status: undefined, readAt: 0 }, "unknown"],
] as const)("a reading that is %s makes it %3$s", (_, state, status) => {
  expect(statusOf(state, { now: NOW, statusIntervalMs: INTERVAL })).toBe(status);
});
