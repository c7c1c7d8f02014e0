/** Long lists: their order, their navigation, their sections, and tables. */
import { count } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Listing } from "../paging.ts";

/** `61–120 of 240` with links to the other pages; nothing where there is only one. */
export function pager(
  { items, before, total, nextCursor }: Listing<unknown>,
  noun: string,
  link: (cursor: string | undefined) => string,
  order = "the worst first",
): Markup {
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

/** The section of a page with this heading. */
export function section(id: string, heading: Markup | string, body: Markup | readonly Markup[]): Markup {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
${body}</section>`;
}

/** One page of a list between the links to the others; `No recordings.` where there is none. */
export function listed(
  listing: Listing<unknown>,
  noun: string,
  link: (cursor: string | undefined) => string,
  table: Markup,
  order?: string,
): Markup {
  if (listing.total === 0) return html`<p class="soft">No ${noun}.</p>`;
  const more = pager(listing, noun, link, order);
  return html`${more}${table}${more}`;
}

/** `label` is shown before the cell on a narrow screen. `n` is a number, `t` is never broken into lines. */
export type ListingColumn = readonly [head: string, label?: string, kind?: "n" | "t"];

/**
 * Rows have a cell per column; the first one names the row. On a narrow screen a row becomes a few lines; the roles and
 * the caption keep it a table for screen readers.
 */
export function tableOf(
  caption: string,
  columns: readonly ListingColumn[],
  rows: readonly (readonly Markup[])[],
): Markup {
  const classes = columns.map(([, , kind]) => (kind ? html` class="${kind}"` : nothing));
  const labels = columns.map(([, label]) => (label ? html`<i aria-hidden="true">${label} </i>` : nothing));
  const heads = columns.map(
    ([head], i) => html`<th scope="col" role="columnheader"${classes[i] ?? nothing}>${head}</th>`,
  );
  const cellOf = (cell: Markup, i: number) => {
    if (i === 0) return html`<th scope="row" role="rowheader">${cell}</th>`;
    if (cell.html === "") return html`<td role="cell"></td>`;
    return html`<td role="cell"${classes[i] ?? nothing}>${labels[i] ?? nothing}${cell}</td>`;
  };
  return html`<table role="table"><caption class="hidden">${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => html`<tr role="row">${cells.map(cellOf)}</tr>\n`)}</tbody></table>`;
}

/** `a, b and 3 more`: the first `max` of them. */
export function firstOf<T>(all: readonly T[], max: number, markupOf: (one: T) => Markup): Markup {
  const shown = all.slice(0, max).map((one, i) => html`${i === 0 ? "" : ", "}${markupOf(one)}`);
  return html`${shown}${all.length <= max ? "" : ` and ${count(all.length - max)} more`}`;
}
