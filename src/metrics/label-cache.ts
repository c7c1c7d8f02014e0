/**
 * Caches the label text of each recording until a name changes or the recording is removed. Scrapes may overlap:
 * a pass evicts only entries that neither it nor a later pass has used.
 */
import { createHash } from "node:crypto";
import { ROWS_PER_STEP } from "../health/fleet-snapshot.ts";
import type { Inventory, RecordingState } from "../health/shard-state.ts";
import { renderLabel } from "./text.ts";

interface Entry {
  readonly recording: string;
  readonly locationId: string;
  readonly location: string;
  readonly text: string;
  pass: number;
}

export interface LabelPass {
  /** `recording_id="…",recording="…",location_id="…",location="…"`. */
  labels(state: Pick<RecordingState, "id" | "locationId">): string;
  /** Drops entries not used since this pass began; yields every ROWS_PER_STEP entries. */
  evict(): Generator<string, void>;
}

export interface LabelCache {
  begin(inventory: Inventory): LabelPass;
  readonly size: number;
}

/** An empty cache. */
export function createLabelCache(): LabelCache {
  const entries = new Map<string, Entry>();
  let passes = 0;
  return {
    begin(inventory) {
      const pass = ++passes;
      return {
        labels(state) {
          const recording = inventory.recording(state.id)?.name || state.id;
          const { locationId } = state;
          const location = inventory.location(locationId)?.name || locationId;
          let entry = entries.get(state.id);
          if (entry?.recording !== recording || entry.locationId !== locationId || entry.location !== location) {
            const text = renderLabels(state.id, recording, locationId, location);
            entry = { recording, locationId, location, text, pass };
            entries.set(state.id, entry);
          }
          entry.pass = Math.max(entry.pass, pass);
          return entry.text;
        },
        *evict() {
          let seen = 0;
          for (const [id, entry] of entries) {
            if (entry.pass < pass) entries.delete(id);
            if (++seen % ROWS_PER_STEP === 0) yield "";
          }
        },
      };
    },
    get size() {
      return entries.size;
    },
  };
}

function renderLabels(id: string, recording: string, locationId: string, location: string): string {
  return [
    renderLabel("recording_id", distinct(id)),
    renderLabel("recording", recording),
    renderLabel("location_id", locationId),
    renderLabel("location", location),
  ].join(",");
}

/** Adds a digest to an id that rendering would alter, so that no two recordings share a series. */
function distinct(id: string): string {
  if (/^[\w.:-]{1,128}$/.test(id)) return id;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return `${id.slice(0, 100)}~${digest}`;
}
