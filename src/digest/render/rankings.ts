/** Locations day by day, the longest outages and who flapped, in HTML. */
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Digest, LocationDigest } from "../digest.ts";
import { HEATS, heatOf } from "./palette.ts";
import * as standing from "./ranking-words.ts";
import { TABLE } from "./table.ts";
import type { Standings } from "./view.ts";
import { counted, dayName, nameOf } from "./words.ts";

/** More days have no room for figures: then the colours are described. */
const MOST_WITH_FIGURES = 7;

export function locationDays({ locations, moreLocations }: Standings, digest: Digest): Markup {
  if (locations.length === 0) return nothing;
  const withFigures = digest.days.length <= MOST_WITH_FIGURES;
  const rows = locations.map((location) =>
    withFigures ? figureRow(location, digest) : stripRow(location, digest),
  );
  const more =
    moreLocations > 0
      ? html`<div class="m s gap">and ${counted(moreLocations, "more location")}</div>`
      : nothing;
  const head = withFigures ? html`<tr><td></td>${digest.days.map(dayHead)}</tr>` : nothing;
  const table = html`<table width="100%" cellpadding="0" cellspacing="2" border="0" class="days">${head}${rows}</table>`;
  return html`<tr><td class="pad part"><h2 class="t below">${standing.daysTitle(digest)}${withFigures ? html` <span class="m plain s">uptime in %</span>` : nothing}</h2>
${table}${withFigures ? nothing : heatLegend()}${more}</td></tr>
`;
}

function dayHead(date: string): Markup {
  return html`<th scope="col" width="8%" class="m day" title="${dayName(date)}">${dayName(date, "ccc")}</th>`;
}

function placeCell(location: LocationDigest, width: string): Markup {
  const uptime = standing.uptimeNow(location);
  return html`<th scope="row" width="${width}" class="t at"><span dir="auto">${nameOf(location.locationName, location.locationId)}</span>${
    uptime === "" ? nothing : html`<br><span class="m xs">${uptime}</span>`
  }</th>`;
}

function figureRow(location: LocationDigest, digest: Digest): Markup {
  const cells = location.days.map((uptime, i) => {
    const { name, light } = heatOf(uptime);
    const figure = uptime === undefined ? html`&ndash;` : Math.floor(uptime * 100 + 1e-6);
    return html`<td class="${name}" bgcolor="${light.back}" title="${dayName(digest.days[i] ?? "")}">${figure}</td>`;
  });
  return html`<tr>${placeCell(location, "44%")}${cells}</tr>`;
}

/** Equal neighbours are one cell. */
function stripRow(location: LocationDigest, digest: Digest): Markup {
  const runs: { heat: ReturnType<typeof heatOf>; days: number }[] = [];
  for (const heat of location.days.map(heatOf)) {
    const last = runs.at(-1);
    if (last?.heat === heat) last.days += 1;
    else runs.push({ heat, days: 1 });
  }
  const cells = runs.map(
    ({ heat: { name, light }, days }) =>
      html`<td width="${((days / location.days.length) * 100).toFixed(2)}%" height="18" class="${name}" bgcolor="${light.back}"></td>`,
  );
  const label = `${nameOf(location.locationName, location.locationId)}: ${standing.lowDays(location, digest)}`;
  return html`<tr>${placeCell(location, "36%")}<td><table role="img" aria-label="${label}" title="${standing.lowDays(location, digest)}" width="100%" cellpadding="0" cellspacing="0" border="0" class="strip"><tr>${cells}</tr></table></td></tr>`;
}

const HEAT_WORDS = ["99 % and more", "95 %", "90 %", "50 %", "less", "no figure"] as const;

function heatLegend(): Markup {
  const keys = HEATS.map(
    ({ name }, i) =>
      html`<span class="nw"><span class="${name}">&nbsp;&nbsp;</span> ${HEAT_WORDS[i] ?? ""}</span> &nbsp; `,
  );
  return html`<div class="m xs gap">${keys}</div>`;
}

export function rankings({ longest, flappers, moreFlappers }: Standings, digest: Digest): Markup {
  const more = moreFlappers > 0 ? `and ${counted(moreFlappers, "more recording")}` : "";
  return html`${ranking(
    "Longest outages",
    longest.map((one) => standing.longOutage(one, digest)),
  )}${ranking("Down again and again", flappers.map(standing.flapper), more)}`;
}

function ranking(title: string, rows: readonly standing.Ranked[], more = ""): Markup {
  if (rows.length === 0) return nothing;
  const lines = rows.map(
    ({ name, value, note }) =>
      html`<tr><td class="t line row"><span dir="auto">${name}</span>${note === "" ? nothing : html` &nbsp; <span class="m s chunk">${note}</span>`}</td><td class="t line cell nw" align="right" valign="top">${value}</td></tr>`,
  );
  const rest = more === "" ? nothing : html`<tr><td colspan="2" class="m s more">${more}</td></tr>`;
  return html`<tr><td class="pad part"><h2 class="t below">${title}</h2>
<table${TABLE}>${lines}${rest}</table></td></tr>
`;
}
