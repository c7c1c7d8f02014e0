/**
 * The digest for mail clients: tables, inlined styles, no image, script or anything to load. Reads at 320 px
 * and in the dark; the bars repeat what the words beside them say.
 */
import type { Digest, DigestPart, RecordingDigest, TimelineRun } from "./digest.ts";
import { html, type Markup, nothing } from "./markup.ts";
import { PART_COLOURS, SLOT_COLOURS, SLOT_WORDS, STYLE_SHEET } from "./palette.ts";
import type { GroupView, PartView } from "./view.ts";
import * as words from "./words.ts";

const TEXT = "color:#1f2933";
const MUTED = "color:#5f6b7a";
const TABLE = html` role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`;
const RULE = "border-top:1px solid #e3e7ec";

/** A whole HTML document. `sentence` is the headline as plain text. */
export function renderHtml(
  digest: Digest,
  view: readonly PartView[],
  sentence: string,
  frame: { readonly name: string; readonly externalUrl: string | undefined },
): string {
  const accent = PART_COLOURS[mood(digest)];
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${sentence}</title><style>${{ html: STYLE_SHEET }}</style></head>
<body style="margin:0;padding:0;background:#f3f5f8;-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden">${words.preview(digest)}</div>
<table${TABLE}><tr><td class="page" align="center" style="padding:20px 8px;background:#f3f5f8">
<table${TABLE} class="card" style="max-width:640px;background:#ffffff;font:15px/1.45 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;border-top:5px solid ${accent}">
<tr><td class="pad" style="padding:22px 28px 4px">
<div class="m" style="font-size:13px;${MUTED}">${frame.name} &nbsp;·&nbsp; ${digest.period.label}</div>
<h1 class="t" style="margin:8px 0 14px;font-size:21px;line-height:1.35;${TEXT}">${sentence}.</h1>
<table${TABLE}><tr>${words.keyFigures(digest).map(keyFigure)}</tr></table></td></tr>
${view.map((part) => section(part, digest))}${otherAlerts(digest)}${legend(view)}
<tr><td class="pad" style="padding:18px 28px 26px">
<div class="m line" style="${RULE};padding-top:14px;font-size:12px;${MUTED}">${footer(digest, frame.externalUrl)}</div>
</td></tr></table></td></tr></table></body></html>
`;
  return page.html;
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
  const compact = part.part !== "down_now" && part.part !== "down_some";
  const rest =
    part.moreRecordings > 0
      ? html`<tr><td colspan="2" class="m" style="padding:10px 0 2px;font-size:13px;${MUTED}">${words.moreLocations(part)}</td></tr>`
      : nothing;
  return html`<tr><td class="pad" style="padding:22px 28px 0">
<h2 class="t" style="margin:0;font-size:16px;${TEXT}"><span style="color:${PART_COLOURS[part.part]}">&#9632;</span> ${part.title} <span class="m" style="font-weight:400;${MUTED}">${words.counted(part.total, "recording")}</span></h2>
<table${TABLE}>${part.groups.map((group) => (compact ? quietGroup(group) : troubledGroup(group, digest)))}${rest}</table></td></tr>
`;
}

function groupHead({ group }: GroupView, note: string): Markup {
  const uptime = words.percent(group.uptime);
  return html`<tr><td class="t line" style="${RULE};padding:10px 8px 4px 0;font-weight:600;${TEXT}"><span dir="auto">${words.nameOf(group.locationName, group.locationId)}</span>${
    note === ""
      ? nothing
      : html` <span class="m" style="font-weight:400;font-size:13px;${MUTED}">${note}</span>`
  }</td><td class="m line" align="right" valign="top" style="${RULE};padding:11px 0 4px;font-size:13px;white-space:nowrap;${MUTED}">${uptime}</td></tr>
`;
}

function troubledGroup(view: GroupView, digest: Digest): Markup {
  const rows = view.shown.map((recording) => recordingRows(recording, digest));
  const more =
    view.more > 0
      ? html`<tr><td colspan="2" class="m" style="padding:0 0 8px;font-size:13px;${MUTED}">${words.moreHere(view)}</td></tr>`
      : nothing;
  return html`${groupHead(view, words.darkTimes(view.group.locationId, digest))}${rows}${more}`;
}

function recordingRows(recording: RecordingDigest, digest: Digest): Markup {
  const uptime = words.percent(recording.uptime);
  const times = words.outageList(recording, digest);
  const name = words.nameOf(recording.name, recording.id);
  const said = html`${words.downtime(recording, digest)}`;
  return html`<tr><td class="t" style="padding:2px 8px 0 0;word-break:break-word;${TEXT}"><span dir="auto">${name}</span></td>
<td class="t" align="right" valign="top" style="padding:2px 0 0;white-space:nowrap;${TEXT}">${said}</td></tr>
<tr><td class="m" style="padding:0 8px 4px 0;font-size:13px;${MUTED}">${times}</td>
<td class="m" align="right" valign="top" style="padding:0 0 4px;font-size:13px;white-space:nowrap;${MUTED}">${uptime}</td></tr>
<tr><td colspan="2" style="padding:0 0 10px">${bar(recording.timeline, `${name}: ${times}`)}</td></tr>
`;
}

function bar(runs: readonly TimelineRun[], description: string): Markup {
  const slots = runs.reduce((sum, run) => sum + run.slots, 0);
  if (slots === 0) return nothing;
  const cells = runs.map(
    (run) =>
      html`<td width="${((run.slots / slots) * 100).toFixed(2)}%" height="8" class="${run.state}" bgcolor="${SLOT_COLOURS[run.state]}" title="${SLOT_WORDS[run.state]}"></td>`,
  );
  return html`<table role="img" aria-label="${description}" width="100%" cellpadding="0" cellspacing="0" border="0" style="table-layout:fixed;font-size:1px;line-height:8px"><tr>${cells}</tr></table>`;
}

/** Recordings without trouble share a paragraph. */
function quietGroup(view: GroupView): Markup {
  const names = view.shown.map((recording, i) => {
    const uptime = words.percent(recording.uptime);
    const figure = uptime === "" ? "" : ` ${uptime.replace(" ", "\u00a0")}`;
    return html`${i === 0 ? "" : " · "}<span dir="auto">${words.nameOf(recording.name, recording.id)}</span>${figure}`;
  });
  const more = view.more > 0 ? ` · ${words.moreHere(view)}` : "";
  return html`${groupHead(view, "")}<tr><td colspan="2" class="m" style="padding:0 0 10px;font-size:13px;word-break:break-word;${MUTED}">${names}${more}</td></tr>
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

/** The colours that occur. */
function legend(view: readonly PartView[]): Markup {
  const runs = view.flatMap(({ groups }) =>
    groups.flatMap(({ shown }) => shown.flatMap(({ timeline }) => timeline)),
  );
  const states = new Set(runs.map(({ state }) => state));
  if (states.size === 0) return nothing;
  const keys = (["down", "low", "up", "blind", "closed", "none"] as const)
    .filter((state) => states.has(state))
    .map(
      (state) =>
        html`<span style="white-space:nowrap"><span style="color:${SLOT_COLOURS[state]}">&#9632;</span> ${SLOT_WORDS[state]}</span> &nbsp; `,
    );
  return html`<tr><td class="pad m" style="padding:14px 28px 0;font-size:12px;${MUTED}">${keys}</td></tr>`;
}

function footer(digest: Digest, externalUrl: string | undefined): Markup {
  const lines = words.notes(digest).map((note) => html`${note}<br>`);
  const link =
    externalUrl === undefined
      ? nothing
      : html`<br><a href="${externalUrl}" style="color:#1a66b8">See how it is now</a>`;
  return html`${lines}${link}`;
}
