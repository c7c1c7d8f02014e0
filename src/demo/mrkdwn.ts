/** Slack's mrkdwn as spans of styled text, so that page and terminal show a message as Slack would. */

export interface Span {
  readonly text: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly strike: boolean;
  readonly code: boolean;
  readonly href?: string;
}

type Style = "bold" | "italic" | "strike" | "code";
const MARKERS: Readonly<Record<string, Style>> = { "*": "bold", _: "italic", "~": "strike", "`": "code" };

/** Slack takes at most 3,000 characters in a text; what is longer is no message of ours. */
const MAX_LENGTH = 12_000;

/** Spans in order; line breaks stay `\n`. Never throws, whatever the text. */
export function parseMrkdwn(source: string): Span[] {
  const text = source.slice(0, MAX_LENGTH);
  const open = { bold: false, italic: false, strike: false, code: false };
  const spans: Span[] = [];
  let pending = "";
  const flush = () => {
    if (pending !== "") spans.push({ text: unescapeEntities(pending), ...open });
    pending = "";
  };
  let at = 0;
  while (at < text.length) {
    const character = text[at] as string;
    const end = character === "<" ? text.indexOf(">", at) : -1;
    const style = MARKERS[character];
    if (end > 0) {
      flush();
      spans.push({ ...reference(text.slice(at + 1, end)), ...open });
      at = end + 1;
      continue;
    }
    if (style && toggles(text, at, character, open[style], open.code && style !== "code")) {
      flush();
      open[style] = !open[style];
    } else {
      if (character === "\n") {
        flush();
        Object.assign(open, { bold: false, italic: false, strike: false, code: false });
      }
      pending += character;
    }
    at += 1;
  }
  flush();
  return spans;
}

/** A marker opens before a word and closes after one, on the same line; inside code it is just a character. */
function toggles(text: string, at: number, marker: string, isOpen: boolean, inCode: boolean): boolean {
  if (inCode) return false;
  const before = text[at - 1] ?? " ";
  const after = text[at + 1] ?? " ";
  if (isOpen) return !/\s/.test(before) && !isWord(after);
  if (isWord(before) || /\s/.test(after) || after === marker) return false;
  const line = text.slice(at + 1, at + 3_000).split("\n", 1)[0] ?? "";
  return line.includes(marker);
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

/** `<url|label>`, `<!date^…|fallback>`, `<@U123>`, `<!channel>`: what a person sees of it, and where it leads. */
function reference(inner: string): { text: string; href?: string } {
  const bar = inner.indexOf("|");
  const target = bar < 0 ? inner : inner.slice(0, bar);
  const label = unescapeEntities(bar < 0 ? target.replace(/^!/, "@") : inner.slice(bar + 1));
  return /^(?:https?:\/\/|mailto:)/.test(target)
    ? { text: label, href: unescapeEntities(target) }
    : { text: label };
}

function unescapeEntities(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
