/** Words that people search by, on pages and in the API. */
import type { FleetSnapshot, RecordingState } from "../health/shard-state.ts";

/** Names are compared up to here. */
const NAME_LENGTH = 256;

/** Whether all words of `text` are in the given names together, whatever their case and accents. */
export function textMatcher(text: string): (names: readonly string[]) => boolean {
  const words = folded(text).split(/\s+/);
  return (names) => {
    const all = folded(names.map((name) => name.slice(0, NAME_LENGTH)).join("\n"));
    return words.every((word) => all.includes(word));
  };
}

function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Whether a recording is found: by its names and ids, and by what alerts of groups are about. */
export function recordingMatcher(text: string, { inventory }: FleetSnapshot): (state: RecordingState) => boolean {
  const matches = textMatcher(text);
  return ({ id, locationId }) => {
    const { name, cameraServer = "", organisation = "", timezone } = inventory.recording(id) ?? {};
    const place = inventory.location(locationId)?.name || locationId;
    // A time zone is part of no other name only as a whole.
    const zone = timezone === text ? [text] : [];
    return matches([name || id, place, id, cameraServer, organisation, ...zone]);
  };
}
