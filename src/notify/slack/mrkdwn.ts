/** Slack's markup: plain text escaped, bold text and links. */

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Zero-width space. */
const Z = "\u200b";

/**
 * Text that shows literally in mrkdwn. `& < >` are escaped as Slack asks for, which leaves no live mention or link.
 * Slack has no escape for `* _ ~` and backticks: a zero-width space on both sides removes the word boundary that
 * they need, and the character itself stays searchable. The same after the first colon of `:emoji:`, which `14:16:20` is not,
 * and before a `>` that would begin a quotation.
 */
export function mrkdwn(text: string): string {
  return text
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replace(/[*_~`]/g, (character) => Z + character + Z)
    .replace(/(?!(?<=\b\d\d):\d\d:\d\d\b):(?=[\w+'-]+:)/g, `:${Z}`)
    .replace(/^&gt;/, `${Z}&gt;`);
}

/** Bold text, escaped. */
export function bold(text: string): string {
  return text === "" ? "" : `*${mrkdwn(text)}*`;
}

/** A link; `url` is already percent-encoded where Slack would misread it. */
export function link({ label, url }: { readonly label: string; readonly url: string }): string {
  return `<${url.replace(/&/g, "&amp;")}|${mrkdwn(label)}>`;
}
