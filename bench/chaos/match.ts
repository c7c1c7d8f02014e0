/** Which outages of a recording a line can be about, by the times it shows. Pure. */
import type { Notice } from "./messages.ts";
import type { Span } from "./timeline.ts";

/** From rendering a message to its acceptance. */
export const SENDING_MS = 3_000;
/** Times of the simulator and of the daemon differ by no more. */
export const TOLERANCE_MS = 500;
/** Lengths this close may be of the same outage: seconds are rounded, ends are read late. */
const LIKE_MS = 2_000;

/** The notices by message; in each, ends come before starts. */
export function messagesOf(notices: readonly Notice[]): Notice[][] {
  const rank = ({ kind }: Notice) => ORDER.indexOf(kind);
  return [...Map.groupBy(notices, ({ message }) => message).values()].map((lines) =>
    lines.sort((a, b) => rank(a) - rank(b)),
  );
}

const ORDER: readonly Notice["kind"][] = ["recovered", "ended", "late", "still", "firing"];

/** When the outage of a line began. */
export function beganBetween({ at, lastedMs }: Notice): Span {
  const rounding = lastedMs >= 600_000 ? 60_000 : 1_000;
  return { from: at - lastedMs - rounding - SENDING_MS, to: at - lastedMs + TOLERANCE_MS };
}

/** Outages that a start may be about, oldest first. */
export function outagesBegun(offline: readonly Span[], notice: Notice): number[] {
  const { from, to } = beganBetween(notice);
  return offline.flatMap((span, i) => (span.from <= to && span.to >= from ? [i] : []));
}

/** Zones differ by whole quarters of an hour. */
const QUARTER = 15;

/** Outages that a late notice may be about, the best match first. */
export function outagesOver(offline: readonly Span[], notice: Notice): number[] {
  const misfit = ({ from, to }: Span) => Math.abs(to - from - notice.lastedMs);
  const fitting = [...offline.entries()]
    .filter(([, span]) => fitsLate(span, notice))
    .sort(([, a], [, b]) => misfit(a) - misfit(b));
  const best = Math.min(...fitting.map(([, span]) => misfit(span)));
  return fitting.filter(([, span]) => misfit(span) <= best + LIKE_MS).map(([i]) => i);
}

function fitsLate({ from, to }: Span, { at, lastedMs, beganMinute }: Notice): boolean {
  if (from + lastedMs > at + 1_000) return false;
  const latest = Math.min(to, at - lastedMs);
  for (let began = from; ; began = Math.min(began + 30_000, latest)) {
    if (Math.floor(began / 60_000) % QUARTER === beganMinute % QUARTER) return true;
    if (began >= latest) return false;
  }
}
