/** Caches each recording's label text. Scrapes may overlap: a pass evicts only what no later pass has used. */
import { createHash } from "node:crypto";
import { type Inventory, type RecordingState, ROWS_PER_STEP } from "../health/shard-state.ts";
import { renderLabel } from "./text.ts";

interface Entry {
  readonly recording: string;
  readonly locationId: string;
  readonly location: string;
  readonly text: string;
  pass: number;
}

export type LabelCache = ReturnType<typeof createLabelCache>;

/** An empty cache. */
export function createLabelCache() {
  const entries = new Map<string, Entry>();
  let passes = 0;
  return {
    begin(inventory: Inventory) {
      const pass = ++passes;
      return {
        /** `recording_id="…",recording="…",location_id="…",location="…"`. */
        labels({ id, locationId }: Pick<RecordingState, "id" | "locationId">): string {
          const recording = inventory.recording(id)?.name || id;
          const location = inventory.location(locationId)?.name || locationId;
          let entry = entries.get(id);
          if (entry?.recording !== recording || entry.locationId !== locationId || entry.location !== location) {
            const text = renderLabels(id, recording, locationId, location);
            entry = { recording, locationId, location, text, pass };
            entries.set(id, entry);
          }
          entry.pass = Math.max(entry.pass, pass);
          return entry.text;
        },
        /** Drops entries not used since this pass began; yields every ROWS_PER_STEP entries. */
        *evict(): Generator<string, void> {
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

function renderLabels(id: string, recording: string, location_id: string, location: string): string {
  const labels = Object.entries({ recording_id: distinct(id), recording, location_id, location });
  return labels.map(([name, value]) => renderLabel(name, value)).join(",");
}

/** Adds a digest to an id that rendering would alter, so that no two recordings share a series. */
function distinct(id: string): string {
  if (/^[\w.:-]{1,128}$/.test(id)) return id;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return `${id.slice(0, 100)}~${digest}`;
}
