/** What somebody may have meant by a name that nobody has. */
import { distance } from "fastest-levenshtein";

const MOST_NEAR = 3;

/** The rows nearest to what was typed, the nearest first: those with it in their name, then those spelled like it. */
export function nearest<T>(
  wanted: string,
  rows: readonly T[],
  namesOf: (row: T) => { readonly name: string; readonly id: string },
): T[] {
  const text = wanted.toLowerCase();
  const far = (row: T) => {
    const { name, id } = namesOf(row);
    if (name.toLowerCase().includes(text)) return 0;
    return Math.min(distance(text, name.toLowerCase()), distance(text, id.toLowerCase()));
  };
  return rows
    .map((row) => ({ row, off: far(row) }))
    .filter(({ off }) => off <= Math.ceil(text.length / 2))
    .sort((a, b) => a.off - b.off)
    .slice(0, MOST_NEAR)
    .map(({ row }) => row);
}
