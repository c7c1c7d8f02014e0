/** Keys that sort as people would: the worst first, then by name, numbers by their size. */

/** How long a name may be in a key: a cursor is made of it. */
const NAME = 80;

/** A key of parts; `id` keeps it different from every other. */
export function sortKey(rank: number | string, names: readonly string[], id: string): string {
  return [String(rank), ...names.map(natural), id].join("\u0001").toWellFormed();
}

/** `Till 10` after `Till 9`, upper and lower case alike. */
function natural(name: string): string {
  return name
    .slice(0, NAME)
    .toLowerCase()
    .replace(/\d{1,12}/g, (digits) => digits.padStart(12, "0"));
}
