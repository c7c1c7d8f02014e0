/** Recordings counted by status. */
import type { RecordingStatus } from "./recording.ts";

export type StatusCounts = Readonly<Record<RecordingStatus, number>>;

export function noCounts(): Record<RecordingStatus, number> {
  return { online: 0, offline: 0, degraded: 0, unknown: 0 };
}

export function totalOf({ online, offline, degraded, unknown }: StatusCounts): number {
  return online + offline + degraded + unknown;
}
