/**
 * The digest for mail clients: tables, no image, script or anything to load; its classes become inlined styles. Reads
 * at 320 px and in the dark; the bars repeat what the words beside them say.
 */

import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Digest, DigestPart, RecordingDigest } from "../digest.ts";
import { bar, legend } from "./bar.ts";
import { visitorCounts } from "./counts.ts";
import type { Headline } from "./headline.ts";
import { locationDays, rankings } from "./rankings.ts";
import { EMBEDDED } from "./style-sheet.ts";
import { TABLE } from "./table.ts";
import type { DigestView, GroupView, PartView } from "./view.ts";
import * as words from "./words.ts";

/** Outlook for Windows knows no `max-width`. */
const OUTLOOK_BEGIN = {
  html: `<!--[if mso]><table role="presentation" width="640" align="center" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->`,
};
const OUTLOOK_END = { html: "<!--[if mso]></td></tr></table><![endif]-->" };

/** Where each reader's own link stands: no text in the digest can look like it, since all of it is escaped. */
export const UNSUBSCRIBE_HERE = "<!--unsubscribe-->";

/** A whole HTML document, its styles not yet in the elements. */
export function renderHtml(
  digest: Digest,
  { parts, standings, counts }: DigestView,
  head: Headline,
  frame: { readonly name: string; readonly externalUrl: string | undefined },
): string {
  const [troubled, quiet] = [parts.filter(isTroubled), parts.filter((part) => !isTroubled(part))];
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${head.sentence}</title><style>${{ html: EMBEDDED }}</style></head>
<body>
<div class="preview">${words.preview(digest)}</div>
<table${TABLE}><tr><td class="page" align="center">${OUTLOOK_BEGIN}
<table${TABLE} class="card top-${mood(digest)}">
<tr><td class="pad head">
<div class="m s">${frame.name} &nbsp;·&nbsp; ${digest.period.label}</div>
<h1 class="t">${head.sentence}.</h1>${head.aside === "" ? nothing : html`<p class="m aside">${head.aside}.</p>`}
<table${TABLE}><tr>${words.keyFigures(digest).map(keyFigure)}</tr></table></td></tr>
${troubled.map((part) => section(part, digest))}${legend(troubled, digest)}${rankings(standings, digest)}${locationDays(standings, digest)}${visitorCounts(counts, digest)}${quiet.map((part) => section(part, digest))}${otherAlerts(digest)}
<tr><td class="pad foot">
<div class="m line xs fine">${footer(digest, frame.externalUrl)}</div>
</td></tr></table>${OUTLOOK_END}</td></tr></table></body></html>
`;
  return page.html;
}

function isTroubled({ part }: PartView): boolean {
  return part === "down_now" || part === "down_some";
}

/** The part that gives the digest its colour. */
function mood({ totals, dark }: Digest): DigestPart {
  if (totals.downNow > 0) return "down_now";
  if (totals.downSome > 0 || dark.length > 0) return "down_some";
  return totals.up > 0 ? "up" : "unknown";
}

function keyFigure({ name, value, was = "" }: words.Figure): Markup {
  return html`<td class="kpi" width="25%" valign="top">
<div class="m xs">${name}</div>
<div class="t figure">${value === "" ? html`&ndash;` : value}</div>${was === "" ? nothing : html`<div class="m was">${was}</div>`}</td>`;
}

function section(part: PartView, digest: Digest): Markup {
  const rest =
    part.moreRecordings > 0
      ? html`<tr><td colspan="2" class="m s more">${words.moreLocations(part)}</td></tr>`
      : nothing;
  return html`<tr><td class="pad part">
<h2 class="t"><span class="dot-${part.part}">&#9632;</span> ${part.title} <span class="m plain nw">${words.counted(part.total, "recording")}</span></h2>
<table${TABLE}>${part.groups.map((group) => (isTroubled(part) ? troubledGroup(part.part, group, digest) : quietGroup(part.part, group)))}${rest}</table></td></tr>
`;
}

function groupHead(part: DigestPart, { group }: GroupView, note: string): Markup {
  const uptime = words.groupUptime(part, group);
  return html`<tr><td width="100%" class="t line place"><span dir="auto">${words.nameOf(group.locationName, group.locationId)}</span>${
    note === "" ? nothing : html` <span class="m s plain">${note}</span>`
  }</td><td class="m line s nw side" align="right" valign="top">${uptime}</td></tr>
`;
}

function troubledGroup(part: DigestPart, view: GroupView, digest: Digest): Markup {
  const rows = view.shown.map((recording) => recordingRows(recording, view, digest));
  const more =
    view.more > 0 ? html`<tr><td colspan="2" class="m s end">${words.moreHere(view)}</td></tr>` : nothing;
  return html`${groupHead(part, view, words.groupNote(view.group, digest))}${togetherRow(view)}${rows}${more}`;
}

function togetherRow({ group, together }: GroupView): Markup {
  const [first] = together;
  if (!first) return nothing;
  const description = `${words.nameOf(group.locationName, group.locationId)}: ${words.counted(together.length, "recording")} together`;
  return html`<tr><td colspan="2" class="m s note">${words.togetherWords(group, together)}</td></tr>
<tr><td colspan="2" class="end">${bar(first.timeline, description)}</td></tr>
`;
}

function recordingRows(recording: RecordingDigest, { group }: GroupView, digest: Digest): Markup {
  const uptime = words.upShare(recording.uptime);
  const times = words.outageList(recording, digest);
  const name = words.nameAt(recording, group);
  const said = html`${words.downtime(recording, digest)}`;
  return html`<tr><td class="t name"><span dir="auto">${name}</span></td>
<td class="t said nw" align="right" valign="top">${said}</td></tr>
<tr><td class="m s note">${times}</td>
<td class="m s under nw" align="right" valign="top">${uptime}</td></tr>
<tr><td colspan="2" class="end">${bar(recording.timeline, `${name}: ${times}`)}</td></tr>
`;
}

/** Recordings without trouble share a paragraph. */
function quietGroup(part: DigestPart, view: GroupView): Markup {
  const names = view.shown.map((recording, i) => {
    const uptime = words.percent(recording.uptime);
    const figure = uptime === "" ? "" : ` ${uptime.replace(" ", "\u00a0")}`;
    return html`${i === 0 ? "" : "\u00a0· "}<span dir="auto">${words.nameAt(recording, view.group)}</span>${figure}`;
  });
  const more = view.more > 0 ? ` · ${words.moreHere(view)}` : "";
  return html`${groupHead(part, view, "")}<tr><td colspan="2" class="m s end">${names}${more}</td></tr>
`;
}

function otherAlerts(digest: Digest): Markup {
  if (digest.other.length === 0) return nothing;
  const rows = words
    .otherAlerts(digest)
    .map(
      ({ name, value }) =>
        html`<tr><td class="t line row">${name}</td><td class="m s line cell" align="right">${value}</td></tr>`,
    );
  return html`<tr><td class="pad part"><h2 class="t below">Other alerts</h2>
<table${TABLE}>${rows}</table></td></tr>
`;
}

function footer(digest: Digest, externalUrl: string | undefined): Markup {
  const lines = words.notes(digest).map((note) => html`${note}<br>`);
  const link =
    externalUrl === undefined ? nothing : html`<a href="${externalUrl}">See how it is now</a> &nbsp; `;
  return html`${lines}<br>${link}${{ html: UNSUBSCRIBE_HERE }}`;
}
