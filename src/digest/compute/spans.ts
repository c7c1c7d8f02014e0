/** Arithmetic on stretches of time. Results are in order and do not overlap. */
import type { Span } from "../digest.ts";

/** The same time, in order, overlaps joined, empty ones left out. */
export function union(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && span.from <= last.to)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else joined.push(span);
  }
  return joined;
}

/** What of each span lies inside `bounds`. */
export function clip(spans: readonly Span[], bounds: Span): Span[] {
  return union(
    spans.map(({ from, to }) => ({ from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) })),
  );
}

/** The time of `spans` that is not in `holes`. */
export function subtract(spans: readonly Span[], holes: readonly Span[]): Span[] {
  const cuts = union(holes);
  return union(spans).flatMap((span) => {
    const rest: Span[] = [];
    let from = span.from;
    for (const hole of cuts) {
      if (hole.to <= from || hole.from >= span.to) continue;
      rest.push({ from, to: hole.from });
      from = hole.to;
    }
    rest.push({ from, to: span.to });
    return rest.filter((piece) => piece.to > piece.from);
  });
}

/** Added up, ms; overlaps count once. */
export function total(spans: readonly Span[]): number {
  return union(spans).reduce((sum, { from, to }) => sum + to - from, 0);
}
