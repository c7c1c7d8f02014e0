/** A notification as a mail: subject, headers, and the same content as text and as HTML. */
import { createHash } from "node:crypto";
import type { Notification } from "../../alerting/notification.ts";
import { type AlertMessage, type MessageSection, messageOf, restOf } from "../message.ts";
import { renderHtml } from "./html.ts";
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
    text: renderText(message),
    html: plain ? undefined : html,
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
    messageId: `<${idPart(notification.messageId)}@${domain}>`,
    ...(first !== undefined && { references: first, inReplyTo: first }),
  };
}

function fitting(notification: Notification): { message: AlertMessage; html: string } {
  const formOf = (limit: number) => {
    const message = messageOf(notification, limit);
    return { message, html: renderHtml(message, notification.receiver) };
  };
  const forms = LIST_LENGTHS.values().map(formOf);
  return forms.find(({ html }) => Buffer.byteLength(html) <= HTML_BYTES) ?? formOf(1);
}

function renderText({ title, lead, sections, common, overview }: AlertMessage): string {
  const parts = [title, ...lead, ...sections.flatMap(sectionText), ...common];
  return `${[...parts, ...(overview ? [`${overview.label}: ${overview.url}`] : [])].join("\n\n")}\n`;
}

function sectionText(section: MessageSection): string[] {
  const { heading, entries, total } = section;
  const texts = entries.map(({ name, facts, notes, links }) => {
    const lines = [facts, ...notes, ...links.map(({ label, url }) => `${label}: ${url}`)];
    return (name === "" ? lines : [name, ...lines.map((line) => `  ${line}`)]).join("\n");
  });
  const head = heading === undefined ? [] : [heading];
  return [...head, ...texts, ...(total > entries.length ? [restOf(section, entries.length)] : [])];
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
