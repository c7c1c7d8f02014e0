/**
 * Tables that stay tables for screen readers: on a narrow screen a row becomes a few lines, each cell with its column's
 * label, and the roles keep what the layout would remove.
 */
import { html, type Markup, nothing } from "../../lib/markup.ts";

export interface TableColumn {
  readonly head: string;
  /** Shown before the cell on a narrow screen. */
  readonly label?: string;
  readonly numeric?: boolean;
  /** Never broken into lines. */
  readonly brief?: boolean;
}

/** `rows` have a cell per column; the first one names the row. `caption` is for screen readers. */
export function tableOf(
  caption: string,
  columns: readonly TableColumn[],
  rows: readonly (readonly Markup[])[],
): Markup {
  const heads = columns.map(
    (column) => html`<th scope="col" role="columnheader"${classOf(column)}>${column.head}</th>`,
  );
  return html`<table role="table"><caption class="hidden">${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => rowOf(columns, cells))}</tbody></table>
`;
}

function rowOf(columns: readonly TableColumn[], cells: readonly Markup[]): Markup {
  const written = cells.map((cell, i) => {
    const column = columns[i];
    if (i === 0 || !column) return html`<th scope="row" role="rowheader">${cell}</th>`;
    if (cell.html === "") return html`<td role="cell"></td>`;
    const label = column.label === undefined ? nothing : html`<i aria-hidden="true">${column.label} </i>`;
    return html`<td role="cell"${classOf(column)}>${label}${cell}</td>`;
  });
  return html`<tr role="row">${written}</tr>
`;
}

function classOf({ numeric, brief }: TableColumn): Markup {
  if (numeric) return html` class="n"`;
  return brief ? html` class="t"` : nothing;
}
