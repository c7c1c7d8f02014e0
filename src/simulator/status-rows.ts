/** The live snapshot: one row per recording, changed by the faults that are on. */
import type { Instant } from "../lib/clock.ts";
import type { SimulatorContext } from "./context.ts";
import type { FaultParams } from "./faults.ts";
import { keyOf, type SimRecording } from "./fleet.ts";

/** An online recording was last heard of up to so many whole seconds ago. */
const CONTACT_SECONDS = 10;

/** Rows as served: the faults on rows applied, one hit each for the whole reply. */
export function statusRows(recordings: readonly SimRecording[], context: SimulatorContext): readonly unknown[] {
  const { faults, clock } = context;
  const rows = trueRows(recordings, clock.now());
  if (faults.take("empty_snapshot")) return [];
  const changes = (Object.keys(rowFaults) as RowFault[]).flatMap((name) => {
    const params = faults.take(name);
    return params ? [onSomeRows(name, params)] : [];
  });
  if (changes.length === 0) return rows;
  return rows
    .map((row) => changes.reduce<unknown>((changed, change) => change(changed, row.recording_id), row))
    .filter((row) => row !== undefined);
}

function trueRows(recordings: readonly SimRecording[], now: Instant) {
  const contacts = Array.from({ length: CONTACT_SECONDS }, (_, s) => new Date(now - s * 1000).toISOString());
  return recordings.map((recording) => {
    const { id, location, status, quality, lastSeenAt } = recording;
    const contact = contacts[keyOf(id) % CONTACT_SECONDS] ?? "";
    return {
      recording_id: id,
      location_id: location.id,
      // A silent one delivers nothing, and nobody notices.
      status: status === "silent" ? "online" : status,
      last_seen_utc: status === "offline" ? new Date(lastSeenAt).toISOString() : contact,
      average_quality: quality,
    };
  });
}

const WRONG: Record<string, unknown> = {
  recording_id: 42,
  location_id: ["not", "an", "id"],
  status: 1,
  last_seen_utc: 1_700_000_000,
  average_quality: "0.9",
};

type Row = Record<string, unknown>;

/** The change of a row by each fault, in the order in which they apply; undefined: the row is missing. `nth`: of its rows. */
const rowFaults = {
  unknown_status: (row: Row, { status }: FaultParams<"unknown_status">) => ({ ...row, status }),
  wrong_types(row: Row, { field }: FaultParams<"wrong_types">, nth: number) {
    const wrong = field ?? Object.keys(WRONG)[nth % Object.keys(WRONG).length] ?? "row";
    return wrong === "row" ? "not a row" : { ...row, [wrong]: WRONG[wrong] };
  },
  missing_rows: () => undefined,
};
type RowFault = keyof typeof rowFaults;

function onSomeRows<N extends RowFault>(name: N, params: FaultParams<N>): (row: unknown, id: string) => unknown {
  const only = params.recordings && new Set(params.recordings);
  const change = rowFaults[name] as (row: Row, params: FaultParams<N>, nth: number) => unknown;
  let seen = 0;
  return (row, id) => {
    if (typeof row !== "object" || row === null || (only && !only.has(id))) return row;
    const nth = seen++;
    return nth % params.every === 0 ? change(row as Row, params, Math.floor(nth / params.every)) : row;
  };
}
