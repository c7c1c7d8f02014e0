/** A notification as a mail: subject, headers, and the same content as text and as HTML. */
import { createHash } from "node:crypto";
import { type Document, type Link, type Part, partsOf, plainText, type Row } from "../../alerting/document.ts";
import type { Notification } from "../../alerting/model.ts";
import { looks } from "../../alerting/tone.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { messageOf } from "../message.ts";
import { clean } from "../name.ts";
import type { OutgoingMail } from "./transport.ts";

/** Limits for a list of alerts, tried in turn until Gmail does not clip the mail. */
const LIST_LENGTHS = [130, 80, 40, 20, 10, 5, 2];

/** Gmail clips at 102 KB. */
const HTML_BYTES = 95_000;

/** `from` and all recipients as shown, the address in `from`, and the recipient of this copy. */
type MailAddresses = Readonly<{ from: string; sender: string; to: readonly string[]; recipient: string }>;

/** The mail for one recipient; `plain` leaves the HTML out. */
export function renderEmail(
  notification: Notification,
  { from, sender, to, recipient }: MailAddresses,
  { plain = false }: { readonly plain?: boolean } = {},
): OutgoingMail {
  const { message, html } = fitting(notification);
  const domain = domainOf(sender);
  const first = notification.conversation?.handle;
  return {
    from,
    to: [...to],
    envelope: { from: sender, to: recipient },
    subject: message.title,
    text: `${message.title}\n\n${plainText(message)}\n`,
    html: plain ? undefined : html,
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
    messageId: `<${idPart(notification.messageId)}@${domain}>`,
    ...(first !== undefined && { references: first, inReplyTo: first }),
  };
}

function fitting(notification: Notification): { message: Document; html: string } {
  const formOf = (limit: number) => {
    const message = messageOf(notification, limit);
    return { message, html: renderHtml(message, `Sent by lenswatch to the receiver ${clean(notification.receiver)}.`) };
  };
  const forms = LIST_LENGTHS.values().map(formOf);
  return forms.find(({ html }) => Buffer.byteLength(html) <= HTML_BYTES) ?? formOf(1);
}

/** The left part of a Message-ID (RFC 5322 dot-atom): as it is where it may be, else a hash of it. */
function idPart(id: string): string {
  return id.length <= 64 && /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/.test(id) ? id : hash(id);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  return /^[a-z0-9]+(?:[.-][a-z0-9]+)*$/.test(domain) && domain.length <= 100 ? domain : "lenswatch.invalid";
}

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;overflow-wrap:anywhere";
const TABLE = html`role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`;
/** The line above a row. */
const LINE = "border-top:1px solid #e8eaee";
const TEXT = "font-size:15px;line-height:22px";
const SMALL = "font-size:14px;line-height:20px";
const INK = "color:#1b1e23";
const SOFT = "color:#59606b";
const CARD =
  "max-width:600px;background:#ffffff;border:1px solid #dfe2e7;border-radius:6px;" +
  "border-collapse:separate;overflow:hidden";

const DARK = `@media (prefers-color-scheme: dark) {
.lw-page { background: #16181c !important; }
.lw-card { background: #22252b !important; border-color: #343840 !important; }
.lw-ink { color: #f1f2f4 !important; }
.lw-soft { color: #b3b8c2 !important; }
.lw-line { border-color: #343840 !important; }
.lw-link { color: #8ab4ff !important; }
}`;

const HIDDEN = "display:none;max-height:0;overflow:hidden;mso-hide:all";
/** Keeps what follows out of the preview. */
const PADDING = "&#847;&zwnj;&nbsp;".repeat(60);

/** Shown after the subject in a list of mails, which has the title: what is known beyond it. */
function preheaderOf({ lead, sections, notes: common }: Document): string {
  const lines = sections.flatMap(({ heading = "", rows }) => [
    heading,
    ...rows.slice(0, 3).flatMap(({ name, text, notes }) => (name === "" ? [text, ...notes] : `${name}: ${text}`)),
  ]);
  const all = [...common, ...lines, ...lead].filter((line) => line !== "");
  return cut(all.join(" · "), 200);
}

/** HTML for mail clients: layout tables, inlined styles, nothing loaded; a few rules for dark mode. `why`: why it was sent. */
export function renderHtml(message: Document, why: string): string {
  const { title, tone } = message;
  const rows = [
    html`<tr>
<td height="5" style="height:5px;line-height:5px;font-size:1px;background:${looks[tone].colour}">&nbsp;</td>
</tr>`,
    titleRow(title),
    ...partsOf(message).map(partRow),
    row("lw-soft lw-line", `padding:12px 20px 14px;${LINE};font-size:12px;line-height:18px;${SOFT}`, why),
  ];
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>${{ html: DARK }}</style>
</head>
<body class="lw-page" style="margin:0;padding:0;background:#f2f3f5">
<div style="${HIDDEN}">${preheaderOf(message)}${{ html: PADDING }}</div>
<table class="lw-page" ${TABLE} style="background:#f2f3f5">
<tr><td align="center" style="padding:20px 10px">
<table class="lw-card" ${TABLE} style="${CARD}">
${joined(rows)}
</table>
</td></tr>
</table>
</body>
</html>
`.html;
}

function row(classes: string, style: string, content: Markup | string): Markup {
  return html`<tr><td class="${classes}" style="${{ html: `${FONT};${style}` }}">${content}</td></tr>`;
}

function joined(parts: readonly Markup[]): Markup {
  return { html: parts.map((part) => part.html).join("\n") };
}

function titleRow(title: string): Markup {
  const style = `margin:0;font-size:20px;line-height:27px;font-weight:600;${INK}`;
  return row("", "padding:18px 20px 14px", html`<h1 class="lw-ink" style="${style}">${title}</h1>`);
}

function partRow(part: Part): Markup {
  switch (part.kind) {
    case "lead":
      return row("lw-ink", `padding:0 20px 14px;${TEXT};${INK}`, part.text);
    case "heading":
      return row(
        "lw-soft lw-line",
        `padding:14px 20px 8px;${LINE};font-size:13px;line-height:18px;font-weight:600;${SOFT}`,
        part.text,
      );
    case "row":
      return entryRow(part.row);
    case "rest":
    case "note":
      return row("lw-soft lw-line", `padding:11px 20px 12px;${LINE};${TEXT};${SOFT}`, part.text);
    case "action":
      return row("lw-line", `padding:13px 20px 15px;${LINE};${TEXT}`, anchor(part.link));
  }
}

function entryRow({ name, text, notes, links }: Row): Markup {
  const lines = [
    name === "" ? nothing : html`<div><strong>${name}</strong></div>`,
    html`<div>${text}</div>`,
    ...notes.map((note) => html`<div class="lw-soft" style="padding-top:3px;${SMALL};${SOFT}">${note}</div>`),
    links.length === 0
      ? nothing
      : html`<div style="padding-top:5px;${SMALL}">${links.map((link) => html`${anchor(link)} &nbsp; `)}</div>`,
  ];
  return row("lw-ink lw-line", `padding:11px 20px 12px;${LINE};${TEXT};${INK}`, joined(lines));
}

function anchor({ label, url }: Link): Markup {
  return html`<a class="lw-link" href="${url}" style="color:#1a5fd0;text-decoration:underline">${label}</a>`;
}
