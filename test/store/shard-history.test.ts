import { expect, test } from "vitest";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { decodeShard, encodeShard } from "../../src/store/shard-document.ts";
import { anAlertState, aRecordingState } from "../support/fixtures.ts";

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
const document = (one: RecordingState) =>
  encodeShard({ sweptAt: NOW, recordings: new Map([[one.id, one]]), locations: new Map() });

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
  ["beside alerts", { RecordingFlapping: anAlertState({ startsAt: NOW, evidenceAt: NOW, firedAt: NOW }) }],
] as const)("a recording's last states are stored and read again, %s", (_, alerts) => {
  const one = recording({ history: HISTORY, alerts });
  expect(decodeShard(document(one)).recordings.get("a")).toEqual(one);
});

test("a recording that always was the same takes no room for them", () => {
  const row = JSON.parse(document(recording())).r[0];
  expect(row).toHaveLength(9);
  expect(decodeShard(document(recording())).recordings.get("a")).toEqual(recording());
});

test("a document from before there were any is read", () => {
  const old = `{"v":2,"t":${NOW},"l":[["L1"]],"r":[["a",0,0,0,1,2,2,0.9,0]]}`;
  expect(decodeShard(old).recordings.get("a")).toEqual(recording());
});
