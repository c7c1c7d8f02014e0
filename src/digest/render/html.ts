/** The digest for mail clients: tables, nothing to load, readable at 320 px and in dark mode (`digest.css`). */
import { percent } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { UP_ALL_THE_TIME } from "../digest.ts";
import type { DigestSection, SectionRow } from "./section.ts";
import { type DigestView, partTones } from "./view.ts";
import { dayName } from "./words.ts";

/** Placeholder of the recipient's own link; escaped text cannot contain it. */
export const UNSUBSCRIBE_HERE = "<!--unsubscribe-->";

/** Attributes of a table that is there for the layout alone. */
const CELLS = html`cellpadding="0" cellspacing="0" border="0"`;
const PLAIN = html`width="100%" ${CELLS}`;
const LAYOUT = html`role="presentation" ${PLAIN}`;
const DAYS_TABLE = html`width="100%" cellpadding="0" cellspacing="2" border="0" class="days"`;
/** Outlook for Windows knows no `max-width`. */
const OUTLOOK_BEGIN = html`<!--[if mso]><table role="presentation" width="640" align="center" ${CELLS}>
<tr><td><![endif]-->`;
const OUTLOOK_END = html`<!--[if mso]></td></tr></table><![endif]-->`;

/** A whole HTML document, styles not yet in the elements. `embedded`: the style sheet of its head. */
export function renderDigestHtml(view: DigestView, embedded: string): string {
  const { head, about, sections, externalUrl } = view;
  const link = externalUrl === undefined ? nothing : html`<a href="${externalUrl}">Open the status page</a> &nbsp; `;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${head.sentence}</title><style>${{ html: embedded }}</style></head>
<body>
<div class="preview">${view.preview}</div>
<table ${LAYOUT}><tr><td class="page" align="center">${OUTLOOK_BEGIN}
<table ${LAYOUT} class="card top-${view.tone}">
<tr><td class="pad head">
<div class="m s">${about[0]} &nbsp;·&nbsp; ${about[1]}</div>
<h1 class="t">${head.sentence}.</h1>${head.aside === "" ? nothing : html`<p class="m aside">${head.aside}.</p>`}
<table ${LAYOUT}><tr>${view.figures.map(keyFigure)}</tr></table></td></tr>
${sections.map((one) => section(one, view))}
<tr><td class="pad foot">
<div class="m line xs fine">${view.notes.map((note) => html`${note}<br>`)}
<br>${link}${{ html: UNSUBSCRIBE_HERE }}</div>
</td></tr></table>${OUTLOOK_END}</td></tr></table></body></html>`;
  return page.html;
}

function keyFigure({ name, value, was }: DigestView["figures"][number]): Markup {
  return html`<td class="kpi" width="25%">
<div class="m xs">${name}</div>
<div class="t figure">${figure(value)}</div>${was === "" ? nothing : html`<div class="m was">${was}</div>`}</td>`;
}

function figure(value: string | number): string | number | Markup {
  return value === "" ? html`&ndash;` : value;
}

/** More days have no room for figures: then the colours are explained. */
const MOST_WITH_FIGURES = 7;

function section({ title, count = "", part, rows, explanation }: DigestSection, view: DigestView): Markup {
  const [first] = rows;
  const withFigures = view.days.length <= MOST_WITH_FIGURES;
  const hasDays = first?.heat !== undefined;
  const heads = hasDays && withFigures ? html`<tr><td></td>${view.days.map(dayHead)}</tr>` : nothing;
  const dot = part === undefined ? nothing : html`<span class="dot-${partTones[part]}">&#9632;</span> `;
  const beside = hasDays && withFigures ? "uptime in %" : count;
  const legend = hasDays && !withFigures ? html`<div class="m xs gap">${HEATS.map(legendKey)}</div>` : nothing;
  return html`<tr><td class="pad part">
<h2 class="${first?.level === "location" ? "t" : "t below"}">${dot}${title}${small(beside, "m s plain nw")}</h2>
<table ${hasDays ? DAYS_TABLE : LAYOUT}>${heads}
${rows.map((row) => rowMarkup(row, view, hasDays && withFigures ? view.days.length + 1 : 2))}</table>
${legend}${explanation === undefined ? nothing : html`<div class="m xs gap">${explanation}</div>`}</td></tr>`;
}

/** Text in a class of its own after other text; nothing where it is empty. */
function small(text: string, className: string): Markup {
  return text === "" ? nothing : html` <span class="${className}">${text}</span>`;
}

function dayHead(date: string): Markup {
  return html`<th scope="col" width="8%" class="m day" title="${dayName(date)}">${dayName(date, "ccc")}</th>`;
}

function rowMarkup(row: SectionRow, view: DigestView, columns: number): Markup {
  const { level, name: label = "", value = "", note = "", heat } = row;
  if (heat) return view.days.length <= MOST_WITH_FIGURES ? dayFigures(row, heat, view) : dayStrip(row, heat);
  if (label === "") {
    const space = level === "inside" ? "end" : "more";
    return html`<tr><td colspan="${columns}" dir="auto" class="m s ${space}">${note}</td></tr>`;
  }
  const [left, after, right] = level === "location" ? ["location", "plain", "m side s"] : ["row", "chunk", "t cell"];
  return html`<tr><td width="100%" class="t line ${left}">${name(label)}${small(note, `m s ${after}`)}</td>
<td class="line nw ${right}">${value}</td></tr>`;
}

/** A name may be written in either direction. */
function name(text: string): Markup {
  return html`<span dir="auto">${text}</span>`;
}

function legendKey({ name: className, words }: { name: string; words: string }): Markup {
  return html`<span class="nw"><span class="${className}">&nbsp;&nbsp;</span> ${words}</span> &nbsp; `;
}

/** Steps of a day's uptime, best first; -1 is no figure. */
const HEATS = [
  { name: "h5", from: 0.99, words: "99 % and more" },
  { name: "h4", from: 0.95, words: "95 %" },
  { name: "h3", from: 0.9, words: "90 %" },
  { name: "h2", from: 0.5, words: "50 %" },
  { name: "h1", from: 0, words: "less" },
  { name: "h0", from: -1, words: "no figure" },
] as const;

function heatOf(ratio = -1): (typeof HEATS)[number]["name"] {
  return HEATS.find(({ from }) => ratio >= from)?.name ?? "h0";
}

type Heat = NonNullable<SectionRow["heat"]>;

function dayFigures(row: SectionRow, heat: Heat, { days }: DigestView): Markup {
  const cells = heat.days.map((uptime, i) => {
    const percentage = uptime === undefined ? "" : Math.floor(uptime * 100 + 1e-6);
    return html`<td class="${heatOf(uptime)}" title="${dayName(days[i] ?? "")}">${figure(percentage)}</td>`;
  });
  return html`<tr>${dayLocation(row, "44%")}${cells}</tr>`;
}

/** A cell for each day, as wide as its share; equal neighbours are one. */
function dayStrip(row: SectionRow, { days, low }: Heat): Markup {
  const runs: { heat: string; length: number }[] = [];
  const label = low || `no day below ${percent(UP_ALL_THE_TIME)}`;
  for (const heat of days.map(heatOf)) {
    const last = runs.at(-1);
    if (last?.heat === heat) last.length += 1;
    else runs.push({ heat, length: 1 });
  }
  const cells = runs.map(({ heat, length }) => {
    const width = ((length / days.length) * 100).toFixed(2);
    return html`<td width="${width}%" height="18" class="${heat}" title="${label}"></td>`;
  });
  return html`<tr>${dayLocation(row, "36%")}<td>
<table role="img" aria-label="${row.name ?? ""}: ${label}" ${PLAIN} class="strip"><tr>
${cells}</tr></table></td></tr>`;
}

function dayLocation({ name: label = "", value = "" }: SectionRow, width: string): Markup {
  const uptime = value === "" ? nothing : html`<br><span class="m xs">${value}</span>`;
  return html`<th scope="row" width="${width}" class="t at">${name(label)}${uptime}</th>`;
}
