/** Slack's markup: plain text made to show as it is, and our own bold and links around it. */

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Zero-width space. */
const Z = "\u200b";

/**
 * Text that shows literally in mrkdwn. `& < >` are escaped as Slack asks for, which leaves no live mention or link.
 * For `* _ ~` and backticks Slack has no escape; a zero-width space on both sides takes away the word boundary
 * they need to open or close anything, and the character itself still reads and searches as it is. The same
 * goes after the first colon of `:emoji:` and before a `>` that would begin a quotation.
 */
export function mrkdwn(text: string): string {
  return text
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replace(/[*_~`]/g, (character) => Z + character + Z)
    .replace(/:(?=[\w+'-]+:)/g, `:${Z}`)
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
