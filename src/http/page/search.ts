/** Finding names by parts of them, whatever their case and accents. */

/** Of a longer name nobody remembers the rest. */
const NAME = 256;

/** Whether all words of `text` are in the given names taken together. */
export function textMatcher(text: string): (names: readonly string[]) => boolean {
  const words = folded(text)
    .split(/\s+/)
    .filter((word) => word !== "");
  return (names) => {
    const all = folded(names.map((name) => name.slice(0, NAME)).join("\n"));
    return words.every((word) => all.includes(word));
  };
}

function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
