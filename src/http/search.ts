/** Words that people search by, on pages and in the API. */
import type { Inventory, RecordingState } from "../health/shard-state.ts";

/** Names are compared up to here. */
const NAME_LENGTH = 256;

/** Names of locations, organisations and camera servers that are compared with one form of theirs. */
const MOST_KEPT = 1_000;

/** True where all words of `text` are in the given names together, whatever their case, accents and punctuation. */
export function textMatcher(text: string): (names: readonly string[]) => boolean {
  const words = wordsOf(text);
  return (names) => {
    const all = names.map(folded).join("\n");
    return words.every((word) => all.includes(word));
  };
}

const ASCII = /^[\0-\x7f]*$/;

/** `edge 7` for `Edge-7`. */
function folded(name: string): string {
  const text = name.slice(0, NAME_LENGTH);
  const plain = ASCII.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "");
  return plain.toLowerCase().replace(/[\p{P}\s]+/gu, " ");
}

/** The words of a text: `edge 7` is one, if written `edge-7`. Punctuation alone is in no name. */
function wordsOf(text: string): string[] {
  const words = text.split(/\s+/).map((word) => folded(word).trim());
  return words.some(Boolean) ? words : [text.trim()];
}

/** True for a recording that is found: by its names and ids, and by what alerts of groups are about. */
export function recordingMatcher(
  text: string,
  inventory: Inventory,
): (state: Pick<RecordingState, "id" | "locationId">) => boolean {
  const words = wordsOf(text);
  const kept = new Map<string, string>();
  const shared = (name: string): string => {
    const known = kept.get(name) ?? folded(name);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(name, known);
    return known;
  };
  const named = (group: string) => shared(`${inventory.nameOf?.(group) ?? ""} ${group}`);
  return ({ id, locationId }) => {
    const { name, cameraServer = "", organisation = "", timezone } = inventory.recording(id) ?? {};
    const place = shared(inventory.location(locationId)?.name || locationId);
    const all = `${folded(name || id)}\n${place}\n${folded(id)}\n${[cameraServer, organisation].map(named).join("\n")}`;
    // A time zone is part of no other name only as a whole.
    const zone = timezone === text ? folded(text) : "";
    return words.every((word) => all.includes(word) || zone.includes(word));
  };
}
