/**
 * A message as HTML for mail clients: tables for layout, every style inlined, nothing loaded from anywhere. The few
 * rules in the head only change the colours for dark mode.
 */
import { escapeHtml } from "../../lib/text.ts";
import type { MessageEntry } from "../entry.ts";
import type { Link } from "../link.ts";
import { type AlertMessage, type MessageSection, restOf, type Tone } from "../message.ts";
import { clean } from "../name.ts";

const COLOURS: Readonly<Record<Tone, string>> = {
  critical: "#d32f2f",
  warning: "#e08a00",
  recovered: "#2e9e5b",
  info: "#7a808a",
};

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

const DARK = `@media (prefers-color-scheme: dark) {
.lw-page { background: #16181c !important; }
.lw-card { background: #22252b !important; border-color: #343840 !important; }
.lw-ink { color: #f1f2f4 !important; }
.lw-soft { color: #b3b8c2 !important; }
.lw-line { border-color: #343840 !important; }
.lw-link { color: #8ab4ff !important; }
}`;

/** A whole document. */
export function renderHtml(message: AlertMessage, { receiver }: { readonly receiver: string }): string {
  const { title, lead, sections, common, overview } = message;
  const rows = [
    ...lead.map(leadRow),
    ...sections.flatMap(sectionRows),
    ...common.map(restRow),
    ...(overview ? [overviewRow(overview)] : []),
  ];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${DARK}</style>
</head>
<body class="lw-page" style="margin:0;padding:0;background:#f2f3f5">
<table role="presentation" class="lw-page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f2f3f5">
<tr><td align="center" style="padding:20px 10px">
<table role="presentation" class="lw-card" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;background:#ffffff;border:1px solid #dfe2e7;border-radius:6px;border-collapse:separate;overflow:hidden">
${barRow(COLOURS[message.tone])}
${titleRow(title)}
${rows.join("\n")}
<tr><td class="lw-soft lw-line" style="${FONT};padding:12px 20px 14px;border-top:1px solid #e8eaee;font-size:12px;line-height:18px;color:#6a707b">Sent by lenswatch to the receiver ${escapeHtml(clean(receiver))}.</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

function barRow(colour: string): string {
  return `<tr><td height="5" style="height:5px;line-height:5px;font-size:1px;background:${colour}">&nbsp;</td></tr>`;
}

function titleRow(title: string): string {
  return `<tr><td style="padding:18px 20px 14px"><h1 class="lw-ink" style="${FONT};margin:0;font-size:20px;line-height:27px;font-weight:600;color:#1b1e23;overflow-wrap:anywhere">${escapeHtml(title)}</h1></td></tr>`;
}

function leadRow(sentence: string): string {
  return `<tr><td class="lw-ink" style="${FONT};padding:0 20px 14px;font-size:15px;line-height:22px;color:#1b1e23">${escapeHtml(sentence)}</td></tr>`;
}

function sectionRows(section: MessageSection): string[] {
  const { heading, entries, total } = section;
  const head = heading === undefined ? [] : [headingRow(`${heading} (${total})`)];
  const rest = total > entries.length ? [restRow(restOf(section, entries.length))] : [];
  return [...head, ...entries.map(entryRow), ...rest];
}

function headingRow(text: string): string {
  return `<tr><td class="lw-soft lw-line" style="${FONT};padding:14px 20px 8px;border-top:1px solid #e8eaee;font-size:13px;line-height:18px;font-weight:600;color:#6a707b">${escapeHtml(text)}</td></tr>`;
}

function entryRow({ name, facts, notes, links }: MessageEntry): string {
  const lines = notes.map(
    (note) =>
      `<div class="lw-soft" style="padding-top:3px;font-size:14px;line-height:20px;color:#59606b">${escapeHtml(note)}</div>`,
  );
  const targets =
    links.length === 0
      ? []
      : [
          `<div style="padding-top:5px;font-size:14px;line-height:20px">${links.map(anchor).join(" &nbsp; ")}</div>`,
        ];
  return `<tr><td class="lw-ink lw-line" style="${FONT};padding:11px 20px 12px;border-top:1px solid #e8eaee;font-size:15px;line-height:22px;color:#1b1e23;overflow-wrap:anywhere"><div><strong>${escapeHtml(name)}</strong></div>
<div>${escapeHtml(facts)}</div>${[...lines, ...targets].map((line) => `\n${line}`).join("")}</td></tr>`;
}

function restRow(text: string): string {
  return `<tr><td class="lw-soft lw-line" style="${FONT};padding:11px 20px 12px;border-top:1px solid #e8eaee;font-size:15px;line-height:22px;color:#59606b">${escapeHtml(text)}</td></tr>`;
}

function overviewRow(target: Link): string {
  return `<tr><td class="lw-line" style="${FONT};padding:13px 20px 15px;border-top:1px solid #e8eaee;font-size:15px;line-height:22px">${anchor(target)}</td></tr>`;
}

function anchor({ label, url }: Link): string {
  return `<a class="lw-link" href="${escapeHtml(url)}" style="color:#1a5fd0;text-decoration:underline">${escapeHtml(label)}</a>`;
}
