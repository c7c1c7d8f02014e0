import { expect, test } from "vitest";
import type { RecordingState, ShardState } from "../../src/health/shard-state.ts";
import { encodeShard } from "../../src/store/shard-document.ts";
import { anAlertState, aRecordingState } from "../support/fixtures.ts";
import { storedAgain } from "../support/shard-hash.ts";

const NOW = Date.UTC(2026, 10, 20, 14, 17);
const recording = (more: Partial<RecordingState> = {}): RecordingState =>
  aRecordingState("a", {
    readAt: NOW,
    averageQuality: 0.9,
    since: NOW - 1,
    lastSeenAt: NOW - 2,
    onlineSeenAt: NOW - 2,
    ...more,
  });
const shard = (one: RecordingState): ShardState => ({
  sweptAt: NOW,
  recordings: new Map([[one.id, one]]),
  locations: new Map(),
});

const ALERTS = { RecordingFlapping: anAlertState({ startsAt: NOW, evidenceAt: NOW, firedAt: NOW }) };
const HISTORY = {
  sampledAt: NOW - 5_000,
  stretches: [
    { status: "online", from: NOW - 900_000, count: 9 },
    { status: "degraded", from: NOW - 300_000, count: 3 },
    { status: "offline", from: NOW - 65_000, count: 2 },
  ],
} as const;

test.each([
  ["alone", undefined],
  ["beside alerts", ALERTS],
] as const)("a recording's last states are stored and read again, %s", (_, alerts) => {
  const one = recording({ history: HISTORY, alerts });
  expect(storedAgain(shard(one)).recordings.get("a")).toEqual(one);
});

test("a recording that always was the same takes no room for them", () => {
  const [, location = ""] = encodeShard(shard(recording()), "token").more;
  expect(JSON.parse(location).r[0]).toHaveLength(9);
  expect(storedAgain(shard(recording())).recordings.get("a")).toEqual(recording());
});
