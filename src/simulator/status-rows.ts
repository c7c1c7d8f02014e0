/** The live snapshot: one row per recording, changed by the faults that are on. */
import type { Instant } from "../lib/clock.ts";
import type { FaultName, FaultParams, Faults } from "./faults.ts";
import { keyOf, type SimRecording } from "./fleet.ts";
import { HOUR_MS, localHourOf } from "./local-time.ts";
import { hoursSinceSchedule, isWithinSchedule } from "./uptime.ts";

export interface StatusRow {
  recording_id: string;
  location_id: string;
  status: string;
  last_seen_utc: string;
  average_quality: number | null;
}

/** An online recording was last heard of up to so many whole seconds ago. */
const CONTACT_SECONDS = 10;

/** Rows as they truly are. `offlineOutsideSchedule`: a scheduled recording is offline while it does not upload. */
export function statusRows(
  recordings: readonly SimRecording[],
  now: Instant,
  offlineOutsideSchedule = false,
): StatusRow[] {
  const contacts = Array.from({ length: CONTACT_SECONDS }, (_, s) => new Date(now - s * 1000).toISOString());
  return recordings.map((recording) => {
    const { id, location, status, quality } = recording;
    const idleSince = offlineOutsideSchedule && status !== "offline" ? outsideScheduleSince(recording, now) : undefined;
    const lastSeenAt = status === "offline" ? recording.lastSeenAt : idleSince;
    return {
      recording_id: id,
      location_id: location.id,
      status: idleSince === undefined ? status : "offline",
      last_seen_utc:
        lastSeenAt === undefined ? (contacts[keyOf(id) % CONTACT_SECONDS] ?? "") : new Date(lastSeenAt).toISOString(),
      average_quality: quality,
    };
  });
}

function outsideScheduleSince(recording: SimRecording, now: Instant): Instant | undefined {
  if (!recording.useUploadingSchedule) return undefined;
  const { hour, startAt } = localHourOf(now, recording.location.timezone);
  return isWithinSchedule(recording, hour) ? undefined : startAt - hoursSinceSchedule(hour) * HOUR_MS;
}

type RowChange = (row: Record<string, unknown>, nth: number) => unknown;
const WRONG: Record<string, unknown> = {
  recording_id: 42,
  location_id: ["not", "an", "id"],
  status: 1,
  last_seen_utc: 1_700_000_000,
  average_quality: "0.9",
};
const DROPPED = Symbol("dropped");

/** Rows as served: the faults on rows applied, one hit each for the whole reply. */
export function applyRowFaults(rows: readonly StatusRow[], faults: Faults): readonly unknown[] {
  if (faults.take("empty_snapshot")) return [];
  const changes = rowFaults(faults);
  if (changes.length === 0) return rows;
  return rows
    .map((row, i) => changes.reduce<unknown>((changed, change) => change(changed, row, i), { ...row }))
    .filter((row) => row !== DROPPED);
}

type AppliedRowFault = (changed: unknown, row: StatusRow, index: number) => unknown;

function rowFaults(faults: Faults): AppliedRowFault[] {
  const found: AppliedRowFault[] = [];
  const add = <N extends RowFault>(name: N, make: (params: FaultParams<N>) => RowChange) => {
    const params = faults.take(name);
    if (params) found.push(onSomeRows(params, make(params)));
  };
  add("extra_fields", () => (row) => ({ ...row, firmware: "4.2.1", nested: { deep: [1, null] } }));
  add("null_quality", () => (row) => ({ ...row, average_quality: null }));
  add("unknown_status", ({ status }) => (row) => ({ ...row, status }));
  add(
    "no_location_id",
    () =>
      ({ location_id: _, ...row }) =>
        row,
  );
  add("no_zone_suffix", () => (row) => ({ ...row, last_seen_utc: String(row.last_seen_utc).replace("Z", "") }));
  add("wrong_types", ({ field }) => (row, nth) => {
    const wrong = field ?? Object.keys(WRONG)[nth % Object.keys(WRONG).length] ?? "row";
    return wrong === "row" ? "not a row" : { ...row, [wrong]: WRONG[wrong] };
  });
  add("missing_rows", () => () => DROPPED);
  return found;
}

type RowFault = Extract<
  FaultName,
  | "missing_rows"
  | "wrong_types"
  | "unknown_status"
  | "extra_fields"
  | "null_quality"
  | "no_location_id"
  | "no_zone_suffix"
>;

/** Applies a fault to every nth row, among those of the recordings named. */
function onSomeRows(params: { every: number; recordings?: string[] | undefined }, change: RowChange): AppliedRowFault {
  const only = params.recordings && new Set(params.recordings);
  let seen = 0;
  return (changed, row) => {
    if (typeof changed !== "object" || changed === null) return changed;
    if (only && !only.has(row.recording_id)) return changed;
    const nth = seen++;
    return nth % params.every === 0 ? change({ ...changed }, Math.floor(nth / params.every)) : changed;
  };
}
