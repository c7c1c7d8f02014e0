/** A key that sorts by rank, then by names (`Till 10` after `Till 9`, in any case); `id` makes it unique. */
export function sortKey(rank: number | string, names: readonly string[], id: string): string {
  // Names are cut, as cursors are made of keys.
  const cut = names.map((name) => name.slice(0, 80).toLowerCase());
  const natural = cut.map((name) => name.replace(/\d{1,12}/g, (digits) => digits.padStart(12, "0")));
  return [String(rank), ...natural, id].join("\u0001").toWellFormed();
}
