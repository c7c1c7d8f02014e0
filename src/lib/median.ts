/** The median: the mean of the middle two where there is no middle; 0 of none. */
export function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 0 ? ((sorted[half - 1] ?? 0) + upper) / 2 : upper;
}
