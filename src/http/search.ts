/** Words that people search by, on pages and in the API. */
import type { Recording } from "../health/recording.ts";
import type { Inventory } from "../health/shard-state.ts";

/** Names are compared up to here. */
const NAME_LENGTH = 256;

/** True where all words of `text` are in the given names together, whatever their case, accents and punctuation. */
export function textMatcher(text: string): (names: readonly string[]) => boolean {
  const words = wordsOf(text);
  return (names) => {
    const all = names.map(folded).join("\n");
    return words.every((word) => all.includes(word));
  };
}

const ASCII = /^[\0-\x7f]*$/;
/** Punctuation and white space; what they are in ASCII is found several times as fast. */
const [PUNCTUATION, PLAIN_PUNCTUATION] = [/[\p{P}\s]+/gu, /[\s!-#%-*,-/:;?@[-\]_{}]+/g];

/** `edge 7` for `Edge-7`. */
function folded(name: string): string {
  const text = name.slice(0, NAME_LENGTH);
  if (ASCII.test(text)) return text.toLowerCase().replace(PLAIN_PUNCTUATION, " ");
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(PUNCTUATION, " ");
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
): (one: Partial<Recording> & Pick<Recording, "id" | "locationId">) => boolean {
  const words = wordsOf(text);
  const named = (group: string) => folded(`${inventory.nameOf?.(group) ?? ""} ${group}`);
  /** The names that the last row shares with others: rows of a location follow each other. */
  let [of, shared] = ["", ""];
  return ({ id, locationId, name, cameraServer = "", organisation = "", timezone }) => {
    const by = `${locationId}\n${cameraServer}\n${organisation}`;
    if (by !== of) {
      const place = folded(inventory.location(locationId)?.name || locationId);
      [of, shared] = [by, [place, named(cameraServer), named(organisation)].join("\n")];
    }
    const all = `${folded(name || id)}\n${folded(id)}\n${shared}`;
    // A time zone is part of no other name only as a whole.
    const zone = timezone === text ? folded(text) : "";
    return words.every((word) => all.includes(word) || zone.includes(word));
  };
}
