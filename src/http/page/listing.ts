/** Order and navigation of long lists. */
import { count } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Listing } from "../paging.ts";

/** Longest part of a name in a key, as cursors are made of keys. */
const NAME = 80;

/** A key that sorts by rank, then by names (`Till 10` after `Till 9`, in any case); `id` makes it unique. */
export function sortKey(rank: number | string, names: readonly string[], id: string): string {
  const natural = (name: string) =>
    name
      .slice(0, NAME)
      .toLowerCase()
      .replace(/\d{1,12}/g, (digits) => digits.padStart(12, "0"));
  return [String(rank), ...names.map(natural), id].join("\u0001").toWellFormed();
}

interface PagerOptions {
  readonly noun: string;
  readonly link: (cursor: string | undefined) => string;
  readonly order?: string;
}

/** `61–120 of 240` with links to the other pages; nothing where there is only one. */
export function pager(listing: Listing<unknown>, options: PagerOptions): Markup {
  const { noun, link, order = "the worst first" } = options;
  const { items, before, total, nextCursor } = listing;
  if (items.length === total) return nothing;
  const left = total - before - items.length;
  const shown =
    items.length === 0
      ? `None of ${count(total)} ${noun} from here on.`
      : `${count(before + 1)}–${count(before + items.length)} of ${count(total)} ${noun}, ${order}.`;
  const first = html`<a href="${link(undefined)}" rel="first">Back to the first</a>`;
  const next = html`<a href="${link(nextCursor ?? undefined)}" rel="next">${count(left)} more ${noun}</a>`;
  return html`<nav class="pager" aria-label="More ${noun}"><span>${shown}</span>
${before > 0 ? first : nothing}
${nextCursor === null ? nothing : next}</nav>`;
}
