/**
 * The digest for mail clients: tables, inlined styles, no image, script or anything to load. Reads at 320 px
 * and in the dark; the bars repeat what the words beside them say.
 */

import { html, type Markup, nothing } from "../lib/markup.ts";
import { bar, legend } from "./bar.ts";
import type { Digest, DigestPart, RecordingDigest } from "./digest.ts";
import type { Headline } from "./headline.ts";
import { MUTED, PART_COLOURS, STYLE_SHEET, TEXT } from "./palette.ts";
import type { GroupView, PartView } from "./view.ts";
import * as words from "./words.ts";

const TABLE = html` role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`;
const RULE = "border-top:1px solid #e3e7ec";

/** A whole HTML document. */
export function renderHtml(
  digest: Digest,
  view: readonly PartView[],
  head: Headline,
  frame: { readonly name: string; readonly externalUrl: string | undefined },
): string {
  const [troubled, quiet] = [view.filter(isTroubled), view.filter((part) => !isTroubled(part))];
  const accent = PART_COLOURS[mood(digest)];
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${head.sentence}</title><style>${{ html: STYLE_SHEET }}</style></head>
<body style="margin:0;padding:0;background:#f3f5f8;-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden">${words.preview(digest)}</div>
<table${TABLE}><tr><td class="page" align="center" style="padding:20px 8px;background:#f3f5f8">
<table${TABLE} class="card" style="max-width:640px;table-layout:fixed;word-break:break-word;background:#ffffff;font:15px/1.45 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;border-top:5px solid ${accent}">
<tr><td class="pad" style="padding:22px 28px 4px">
<div class="m" style="font-size:13px;${MUTED}">${frame.name} &nbsp;·&nbsp; ${digest.period.label}</div>
<h1 class="t" style="margin:8px 0 14px;font-size:21px;line-height:1.35;${TEXT}">${head.sentence}.</h1>${head.aside === "" ? nothing : html`<p class="m" style="margin:-6px 0 14px;${MUTED}">${head.aside}.</p>`}
<table${TABLE}><tr>${words.keyFigures(digest).map(keyFigure)}</tr></table></td></tr>
${troubled.map((part) => section(part, digest))}${legend(troubled, digest)}${quiet.map((part) => section(part, digest))}${otherAlerts(digest)}
<tr><td class="pad" style="padding:18px 28px 26px">
<div class="m line" style="${RULE};padding-top:14px;font-size:12px;${MUTED}">${footer(digest, frame.externalUrl)}</div>
</td></tr></table></td></tr></table></body></html>
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

function keyFigure({ name, value }: { name: string; value: string }): Markup {
  return html`<td class="kpi" width="25%" valign="top" style="padding:0 8px 6px 0">
<div class="m" style="font-size:12px;${MUTED}">${name}</div>
<div class="t" style="font-size:18px;font-weight:600;${TEXT}">${value === "" ? html`&ndash;` : value}</div></td>`;
}

function section(part: PartView, digest: Digest): Markup {
  const rest =
    part.moreRecordings > 0
      ? html`<tr><td colspan="2" class="m" style="padding:10px 0 2px;font-size:13px;${MUTED}">${words.moreLocations(part)}</td></tr>`
      : nothing;
  return html`<tr><td class="pad" style="padding:22px 28px 0">
<h2 class="t" style="margin:0;font-size:16px;${TEXT}"><span style="color:${PART_COLOURS[part.part]}">&#9632;</span> ${part.title} <span class="m" style="font-weight:400;white-space:nowrap;${MUTED}">${words.counted(part.total, "recording")}</span></h2>
<table${TABLE}>${part.groups.map((group) => (isTroubled(part) ? troubledGroup(part.part, group, digest) : quietGroup(part.part, group)))}${rest}</table></td></tr>
`;
}

function groupHead(part: DigestPart, { group }: GroupView, note: string): Markup {
  const uptime = words.groupUptime(part, group);
  return html`<tr><td width="100%" class="t line" style="${RULE};padding:10px 8px 4px 0;font-weight:600;${TEXT}"><span dir="auto">${words.nameOf(group.locationName, group.locationId)}</span>${
    note === ""
      ? nothing
      : html` <span class="m" style="font-weight:400;font-size:13px;${MUTED}">${note}</span>`
  }</td><td class="m line" align="right" valign="top" style="${RULE};padding:11px 0 4px;font-size:13px;white-space:nowrap;${MUTED}">${uptime}</td></tr>
`;
}

function troubledGroup(part: DigestPart, view: GroupView, digest: Digest): Markup {
  const rows = view.shown.map((recording) => recordingRows(recording, digest));
  const more =
    view.more > 0
      ? html`<tr><td colspan="2" class="m" style="padding:0 0 8px;font-size:13px;${MUTED}">${words.moreHere(view)}</td></tr>`
      : nothing;
  return html`${groupHead(part, view, words.groupNote(view.group, digest))}${togetherRow(view)}${rows}${more}`;
}

function togetherRow({ group, together }: GroupView): Markup {
  const [first] = together;
  if (!first) return nothing;
  const description = `${words.nameOf(group.locationName, group.locationId)}: ${words.counted(together.length, "recording")} together`;
  return html`<tr><td colspan="2" class="m" style="padding:0 0 4px;font-size:13px;${MUTED}">${words.togetherWords(together)}</td></tr>
<tr><td colspan="2" style="padding:0 0 10px">${bar(first.timeline, description)}</td></tr>
`;
}

function recordingRows(recording: RecordingDigest, digest: Digest): Markup {
  const uptime = words.upShare(recording.uptime);
  const times = words.outageList(recording, digest);
  const name = words.nameOf(recording.name, recording.id);
  const said = html`${words.downtime(recording, digest)}`;
  return html`<tr><td class="t" style="padding:2px 8px 0 0;${TEXT}"><span dir="auto">${name}</span></td>
<td class="t" align="right" valign="top" style="padding:2px 0 0;white-space:nowrap;${TEXT}">${said}</td></tr>
<tr><td class="m" style="padding:0 8px 4px 0;font-size:13px;${MUTED}">${times}</td>
<td class="m" align="right" valign="top" style="padding:0 0 4px;font-size:13px;white-space:nowrap;${MUTED}">${uptime}</td></tr>
<tr><td colspan="2" style="padding:0 0 10px">${bar(recording.timeline, `${name}: ${times}`)}</td></tr>
`;
}

/** Recordings without trouble share a paragraph. */
function quietGroup(part: DigestPart, view: GroupView): Markup {
  const names = view.shown.map((recording, i) => {
    const uptime = words.percent(recording.uptime);
    const figure = uptime === "" ? "" : ` ${uptime.replace(" ", "\u00a0")}`;
    return html`${i === 0 ? "" : "\u00a0· "}<span dir="auto">${words.nameOf(recording.name, recording.id)}</span>${figure}`;
  });
  const more = view.more > 0 ? ` · ${words.moreHere(view)}` : "";
  return html`${groupHead(part, view, "")}<tr><td colspan="2" class="m" style="padding:0 0 10px;font-size:13px;${MUTED}">${names}${more}</td></tr>
`;
}

function otherAlerts(digest: Digest): Markup {
  if (digest.other.length === 0) return nothing;
  const rows = words
    .otherAlerts(digest)
    .map(
      ({ name, value }) =>
        html`<tr><td class="t line" style="${RULE};padding:6px 8px 6px 0;${TEXT}">${name}</td><td class="m line" align="right" style="${RULE};padding:6px 0;font-size:13px;${MUTED}">${value}</td></tr>`,
    );
  return html`<tr><td class="pad" style="padding:22px 28px 0"><h2 class="t" style="margin:0 0 8px;font-size:16px;${TEXT}">Other alerts</h2>
<table${TABLE}>${rows}</table></td></tr>
`;
}

function footer(digest: Digest, externalUrl: string | undefined): Markup {
  const lines = words.notes(digest).map((note) => html`${note}<br>`);
  const link =
    externalUrl === undefined
      ? nothing
      : html`<br><a href="${externalUrl}" style="color:#1a66b8">See how it is now</a>`;
  return html`${lines}${link}`;
}
