/** Which dark times of a recording a line can be about, going by what it shows. Pure. */
import type { Telling } from "./messages.ts";
import type { Span } from "./timeline.ts";

/** From rendering a message to its acceptance. */
export const SENDING_MS = 3_000;
/** Times of the simulator and of the daemon differ by no more. */
export const TOLERANCE_MS = 500;
/** What is shown to have lasted so much longer or shorter may be the same: seconds are rounded, ends are seen late. */
const LIKE_MS = 2_000;

/** Of one message, what is over comes before what begins, and what was told before comes first. */
export function messagesOf(tellings: readonly Telling[]): Telling[][] {
  const rank = ({ says }: Telling) => ORDER.indexOf(says);
  return [...Map.groupBy(tellings, ({ message }) => message).values()].map((lines) =>
    lines.sort((a, b) => rank(a) - rank(b)),
  );
}

const ORDER: readonly Telling["says"][] = ["recovered", "ended", "late", "still", "firing"];

/** When the outage began that a line speaks of. */
export function beganBetween({ at, lastedMs }: Telling): Span {
  const rounding = lastedMs >= 600_000 ? 60_000 : 1_000;
  return { from: at - lastedMs - rounding - SENDING_MS, to: at - lastedMs + TOLERANCE_MS };
}

/** The dark times a beginning may be about, oldest first. */
export function outagesBegun(dark: readonly Span[], telling: Telling): number[] {
  const { from, to } = beganBetween(telling);
  return dark.flatMap((span, i) => (span.from <= to && span.to >= from ? [i] : []));
}

/** Zones differ by whole quarters of an hour. */
const QUARTER = 15;

/** The dark times a late story may be about, the one most like it first. */
export function outagesOver(dark: readonly Span[], telling: Telling): number[] {
  const misfit = ({ from, to }: Span) => Math.abs(to - from - telling.lastedMs);
  const fitting = [...dark.entries()]
    .filter(([, span]) => fitsLate(span, telling))
    .sort(([, a], [, b]) => misfit(a) - misfit(b));
  const best = Math.min(...fitting.map(([, span]) => misfit(span)));
  return fitting.filter(([, span]) => misfit(span) <= best + LIKE_MS).map(([i]) => i);
}

function fitsLate({ from, to }: Span, { at, lastedMs, beganMinute }: Telling): boolean {
  if (from + lastedMs > at + 1_000) return false;
  const latest = Math.min(to, at - lastedMs);
  for (let began = from; ; began = Math.min(began + 30_000, latest)) {
    if (Math.floor(began / 60_000) % QUARTER === beganMinute % QUARTER) return true;
    if (began >= latest) return false;
  }
}
