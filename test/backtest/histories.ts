/** Histories and setups made up for a test. */

import { replayLocation } from "../../src/backtest/backtest.ts";
import { replayRecording } from "../../src/backtest/recording.ts";
import { planOf, type ReplaySetup, type TimeSpan } from "../../src/backtest/setup.ts";
import type { SeenStatus } from "../../src/backtest/statuses.ts";
import type { Transition } from "../../src/health/evaluation.ts";
import type { Rule } from "../../src/health/model.ts";
import type { Location, Recording, RecordingUptime, UptimeBucket } from "../../src/health/recording.ts";
import type { Inventory } from "../../src/health/shard-state.ts";
import { rule } from "../health/shard-history.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** A Monday. */
export const MONDAY = Date.parse("2026-09-07T00:00:00Z");

/** What a bucket of history says. */
export type Kind = "fine" | "poor" | "dark" | "outside" | "null" | "none";

/** Buckets of an hour one after the other, from `from` on. */
export function bucketsOf(kinds: readonly Kind[], from: number): UptimeBucket[] {
  return kinds.flatMap((kind, i) => (kind === "none" ? [] : [bucket(kind, from + i * HOUR)]));
}

export function bucket(kind: Exclude<Kind, "none">, startAt: number): UptimeBucket {
  const ratio = { fine: 0.99, poor: 0.4, dark: 0, outside: 0, null: undefined }[kind];
  const expected = kind === "outside" ? 0 : 60;
  return anUptimeBucket(startAt, ratio, {
    withinSchedule: kind !== "outside",
    segmentsExpected: kind === "null" ? undefined : expected,
    segmentsReceived: ratio === undefined ? undefined : Math.round(expected * ratio),
    avgUptimeOnSegment: ratio === undefined ? undefined : ratio > 0 ? 1 : 0,
    pcSegmentsReceived: ratio,
  });
}

export function recording(id: string, locationId = "l1", more: Partial<Recording> = {}): Recording {
  return aRecording(id, { locationId, useUploadingSchedule: true, ...more });
}

/** Knows these recordings, and their locations as `Shop <id>`. */
export function inventoryOf(uptimes: readonly RecordingUptime[]): Inventory {
  const recordings = new Map(uptimes.map(({ recording: one }) => [one.id, one]));
  const location = (id: string): Location => ({ id, name: `Shop ${id}`, timezone: "Europe/London" });
  return { recording: (id) => recordings.get(id), location };
}

export const offline = (more: Partial<Rule> = {}) =>
  rule("RecordingOffline", { kind: "status", status: "offline" }, more);

export function setupOf(rules: readonly Rule[], more: Partial<ReplaySetup> = {}): ReplaySetup {
  return { rules, statusIntervalMs: 30_000, uptimeIntervalMs: 10 * MINUTE, isWatched: () => true, ...more };
}

/** What the rules do about these histories, recordings first, then their locations. */
export function replayed(uptimes: readonly RecordingUptime[], setup: ReplaySetup, span: TimeSpan): Transition[] {
  const now = span.to + DAY;
  const context = { setup, plan: planOf(setup.rules), span, now, inventory: inventoryOf(uptimes) };
  const locations = new Map<string, Map<string, readonly SeenStatus[]>>();
  const transitions = uptimes.flatMap((uptime) => {
    const { id, locationId } = uptime.recording;
    const replay = replayRecording(uptime, context);
    locations.set(locationId, (locations.get(locationId) ?? new Map()).set(id, replay.seen));
    return replay.transitions;
  });
  for (const [id, seen] of locations) transitions.push(...replayLocation(id, seen, context));
  return transitions;
}

export const days = (count: number): TimeSpan => ({ from: MONDAY, to: MONDAY + count * DAY });
