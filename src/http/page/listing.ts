/** The way through a long list: `61–120 of 240`. */
import { count } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Listing } from "../paging.ts";

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
