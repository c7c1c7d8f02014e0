/** Parts of a list, `size` items each, the last one shorter. */
export function* chunksOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[], undefined> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
