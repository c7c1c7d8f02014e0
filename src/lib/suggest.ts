/** Suggestions for a misspelled name. */
import { closest, distance } from "fastest-levenshtein";

const MOST_ROWS = 3;

/** The closest of the words where it is close enough to be a misspelling. */
export function closestWord(text: string, words: readonly string[]): string | undefined {
  if (words.length === 0 || text.length > 60) return undefined;
  const word = closest(text, words);
  return distance(text, word) <= Math.max(1, Math.floor(Math.max(word.length, text.length) / 3)) ? word : undefined;
}

type Row = { readonly name: string; readonly id: string };

/** At most three rows close to what was typed, the closest first: names that contain it, then similar spellings. */
export function closestRows<T extends Row>(wanted: string, rows: readonly T[]): T[] {
  const text = wanted.toLowerCase();
  const most = Math.ceil(text.length / 2);
  const near: { readonly row: T; readonly off: number }[] = [];
  for (const row of rows) {
    const [name, id] = [row.name.toLowerCase(), row.id.toLowerCase()];
    const off = name.includes(text) ? 0 : Math.min(distance(text, name), distance(text, id));
    if (off <= most) near.push({ row, off });
  }
  return near
    .sort((a, b) => a.off - b.off || a.row.name.length - b.row.name.length)
    .slice(0, MOST_ROWS)
    .map(({ row }) => row);
}
