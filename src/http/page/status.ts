/** Statuses as a word and a sign, never by colour alone. */
import type { RecordingStatus } from "../../health/recording.ts";
import { count } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";

export type Counts = Readonly<Record<RecordingStatus, number>>;

/** The worst first. Unknown comes before degraded: it may be offline. */
export const worstFirst = ["offline", "unknown", "degraded", "online"] as const;

const SIGNS: Readonly<Record<RecordingStatus, string>> = { offline: "✕", unknown: "?", degraded: "▲", online: "✓" };

/** `✕ offline`. */
export function badge(status: RecordingStatus, words: string = status): Markup {
  return html`<span class="s ${status}"><span aria-hidden="true">${SIGNS[status]} </span>${words}</span>`;
}

/** `✕ 2 offline`, `✓ 4 online`: the statuses that occur, the worst first. */
export function countBadges(counts: Counts): Markup[] {
  return worstFirst
    .filter((status) => counts[status] > 0)
    .map((status) => html`${badge(status, `${count(counts[status])} ${status}`)} `);
}

/** The same as a bar, in addition to the words. */
export function shareBar(counts: Counts): Markup {
  const total = totalOf(counts);
  if (total === 0) return nothing;
  let x = 0;
  const parts = worstFirst
    .filter((status) => counts[status] > 0)
    .map((status) => {
      const width = (100 * counts[status]) / total;
      const part = html`<rect class="${status}" x="${x.toFixed(2)}" width="${width.toFixed(2)}" height="4"/>`;
      x += width;
      return part;
    });
  return html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>
`;
}

export function totalOf(counts: Counts): number {
  return counts.online + counts.offline + counts.degraded + counts.unknown;
}
