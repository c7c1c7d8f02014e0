/** Visitor counts that are not to be trusted, in HTML. */
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Digest, UntrustedDay } from "../digest.ts";
import { dayFigures, explanation, remainder, TITLE } from "./count-words.ts";
import type { CountsView } from "./view.ts";
import { counted, dayName, nameOf, periodNoun } from "./words.ts";

const HEADS = ["Up", "Counted", "Usual", "Short by"] as const;

/** A line per day below its location's name; in a day's digest the name is the line. */
export function visitorCounts(view: CountsView, digest: Digest): Markup {
  if (view.total === 0) return nothing;
  const ofOneDay = periodNoun(digest) === "day";
  const heads = HEADS.map(
    (head) => html`<th scope="col" width="16%" align="right" class="m xs head-cell">${head}</th>`,
  );
  const rows = view.places.map((days) =>
    ofOneDay ? days.map((day) => row(day, placeOf(day))) : place(days),
  );
  const more = remainder(view).map((text) => html`<tr><td colspan="5" class="m s more">${text}</td></tr>`);
  return html`<tr><td class="pad part"><h2 class="t">${TITLE} <span class="m plain nw">${counted(view.total, "day")}</span></h2>
<table width="100%" cellpadding="0" cellspacing="0" border="0" class="counts"><tr><td></td>${heads}</tr>${rows.flat()}${more}</table>
<div class="m xs gap">${explanation(digest)}</div></td></tr>
`;
}

function placeOf({ locationName, locationId }: UntrustedDay): string {
  return nameOf(locationName, locationId);
}

function place(days: readonly UntrustedDay[]): Markup[] {
  const [first] = days;
  if (!first) return [];
  const name = html`<tr><th scope="rowgroup" colspan="5" align="left" class="t line row"><span dir="auto">${placeOf(first)}</span></th></tr>`;
  return [name, ...days.map((day) => row(day, dayName(day.date)))];
}

function row(day: UntrustedDay, name: string): Markup {
  const { up, entries, usual, short } = dayFigures(day);
  const figures = [up.replace(/^uptime | up$/, ""), entries, usual, short].map(
    (figure) =>
      html`<td align="right" valign="top" class="t count nw">${figure === "" ? html`&ndash;` : figure}</td>`,
  );
  return html`<tr><th scope="row" align="left" class="m count plain"><span dir="auto">${name}</span></th>${figures}</tr>`;
}
