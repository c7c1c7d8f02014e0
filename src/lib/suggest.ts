/** Suggestions for a misspelled name. */
import { closest, distance } from "fastest-levenshtein";

const MOST_ROWS = 3;

/** The closest of the words where it is close enough to be a misspelling. */
export function closestWord(text: string, words: readonly string[]): string | undefined {
  if (words.length === 0 || text.length > 60) return undefined;
  const word = closest(text, words);
  return distance(text, word) <= Math.max(1, Math.floor(Math.max(word.length, text.length) / 3)) ? word : undefined;
}

/** At most three rows close to what was typed, the closest first: names that contain it, then similar spellings. */
export function closestRows<T extends { readonly name: string; readonly id: string }>(
  wanted: string,
  rows: readonly T[],
): T[] {
  const text = wanted.toLowerCase();
  const distanceTo = ({ name, id }: T) => {
    if (name.toLowerCase().includes(text)) return 0;
    return Math.min(distance(text, name.toLowerCase()), distance(text, id.toLowerCase()));
  };
  return rows
    .map((row) => ({ row, off: distanceTo(row) }))
    .filter(({ off }) => off <= Math.ceil(text.length / 2))
    .sort((a, b) => a.off - b.off)
    .slice(0, MOST_ROWS)
    .map(({ row }) => row);
}
