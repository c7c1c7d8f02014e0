import { expect, test } from "vitest";
import { currentStatus, type RecordingState, ROWS_PER_STEP, recordingsById } from "../../src/health/shard-state.ts";

const INTERVAL = 30_000;
const NOW = 1_000_000_000;

test.each([
  ["fresh", { status: "online", readAt: NOW - 1 }, "online"],
  ["exactly 3 intervals old", { status: "offline", readAt: NOW - 3 * INTERVAL }, "offline"],
  ["older than 3 intervals", { status: "online", readAt: NOW - 3 * INTERVAL - 1 }, "unknown"],
  ["never taken", { status: undefined, readAt: 0 }, "unknown"],
] as const)("a reading that is %s makes it %3$s", (_, state, status) => {
  expect(currentStatus(state, NOW, INTERVAL)).toBe(status);
});

test("a recording in two shards counts once, by its later reading", () => {
  const shard = (readAt: number) => ({
    sweptAt: NOW,
    recordings: new Map([["rec-1", { id: "rec-1", readAt } as RecordingState]]),
    locations: new Map(),
  });
  const step = recordingsById({ shards: [shard(2), shard(1)] }).next();
  expect(step.done && step.value.get("rec-1")?.readAt).toBe(2);
});

test("the walk yields every so many rows", () => {
  const recordings = new Map(
    Array.from({ length: 3 * ROWS_PER_STEP }, (_, i) => [`${i}`, { id: `${i}`, readAt: 1 } as RecordingState]),
  );
  const walk = recordingsById({ shards: [{ sweptAt: NOW, recordings, locations: new Map() }] });
  expect([walk.next().done, walk.next().done, walk.next().done, walk.next().done]).toEqual([false, false, false, true]);
});
