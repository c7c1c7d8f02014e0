/** A map from which whatever was not used for so long is dropped, within as long again. */
export function createRecent<Key, Value>(keptMs: number) {
  const kept = new Map<Key, { readonly value: Value; usedAt: number }>();
  let isArmed = false;

  function evict(): void {
    const since = performance.now() - keptMs;
    for (const [key, { usedAt }] of kept) if (usedAt < since) kept.delete(key);
    isArmed = kept.size > 0;
    if (isArmed) setTimeout(evict, keptMs).unref();
  }

  return {
    get(key: Key): Value | undefined {
      const known = kept.get(key);
      if (known) known.usedAt = performance.now();
      return known?.value;
    },
    set(key: Key, value: Value): void {
      kept.set(key, { value, usedAt: performance.now() });
      if (!isArmed) setTimeout(evict, keptMs).unref();
      isArmed = true;
    },
    delete: (key: Key): boolean => kept.delete(key),
  };
}
