/** Spans of time as lists in order, none of which overlap. */
import type { Range } from "./mix.ts";

export function without(spans: readonly Range[], others: readonly Range[]): Range[] {
  const cuts = others.toSorted((a, b) => a.from - b.from);
  return spans.flatMap((span) => {
    const left: Range[] = [];
    let from = span.from;
    for (const cut of cuts) {
      if (cut.to <= from) continue;
      if (cut.from >= span.to) break;
      if (cut.from > from) left.push({ from, to: cut.from });
      from = cut.to;
    }
    if (from < span.to) left.push({ from, to: span.to });
    return left;
  });
}

export function longest(spans: readonly Range[]): number {
  return Math.max(0, ...spans.map(({ from, to }) => to - from));
}

/** How long two spans have in common; 0 where they do not. */
export function overlap(a: Range, b: Range): number {
  return Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from));
}
