/** One page of a long list, with where it stands in the whole: `61–120 of 240`. */

import { count } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { type Page, PageCollector, type PageQuery } from "../paging.ts";

export interface Listing<T> extends Page<T> {
  /** Rows before this page. */
  readonly before: number;
  readonly total: number;
}

/** Picks one page out of rows offered in any order, and counts all of them. */
export class ListingCollector<T> {
  readonly #query: PageQuery;
  readonly #collector: PageCollector<T>;
  #before = 0;
  #total = 0;

  constructor(query: PageQuery) {
    this.#query = query;
    this.#collector = new PageCollector(query);
  }

  /** Keys must be different. */
  offer(key: string, item: T): void {
    this.#total += 1;
    if (this.#query.cursor !== undefined && key <= this.#query.cursor) this.#before += 1;
    this.#collector.offer(key, item);
  }

  listing(): Listing<T> {
    return { ...this.#collector.page(), before: this.#before, total: this.#total };
  }
}

/** Which rows are shown and the way to the others; nothing where all of them are. */
export function pager(
  listing: Listing<unknown>,
  {
    noun,
    link,
    order = "the worst first",
  }: {
    readonly noun: string;
    readonly link: (cursor: string | undefined) => string;
    readonly order?: string;
  },
): Markup {
  const { items, before, total, nextCursor } = listing;
  if (items.length === total) return nothing;
  const left = total - before - items.length;
  const shown =
    items.length === 0
      ? `None of ${count(total)} ${noun} from here on.`
      : `${count(before + 1)}–${count(before + items.length)} of ${count(total)} ${noun}, ${order}.`;
  return html`<nav class="pager" aria-label="More ${noun}"><span>${shown}</span>
${before > 0 ? html`<a href="${link(undefined)}" rel="first">Back to the first</a>` : nothing}
${nextCursor === null ? nothing : html`<a href="${link(nextCursor)}" rel="next">${count(left)} more ${noun}</a>`}</nav>`;
}
