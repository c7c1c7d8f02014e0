/** What a status looks like: a word and a sign, and only then a colour. */
import type { RecordingStatus } from "../../health/recording.ts";
import { html, type Markup } from "../../lib/markup.ts";
import { count } from "../../lib/words.ts";

export type Counts = Readonly<Record<RecordingStatus, number>>;

/** The worst first. Unknown comes before degraded: it may be an offline one. */
export const worstFirst = ["offline", "unknown", "degraded", "online"] as const;

const SIGNS: Readonly<Record<RecordingStatus, string>> = {
  offline: "✕",
  unknown: "?",
  degraded: "▲",
  online: "✓",
};

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

export function noCounts(): Record<RecordingStatus, number> {
  return { online: 0, offline: 0, degraded: 0, unknown: 0 };
}

export function totalOf(counts: Counts): number {
  return counts.online + counts.offline + counts.degraded + counts.unknown;
}
