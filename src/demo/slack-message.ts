/** A message as posted to a Slack webhook, reduced to what a person would see of it. */
import { z } from "zod";

export interface Part {
  readonly kind: "header" | "text" | "context" | "divider" | "buttons";
  readonly spans: readonly MrkdwnSpan[];
}

export interface SlackMessage {
  /** What a lock screen shows. */
  readonly title: string;
  /** `#rrggbb` of the bar beside the message. */
  readonly color: string | undefined;
  readonly parts: readonly Part[];
}

const Text = z.object({ type: z.string(), text: z.string() });
const Block = z.object({
  type: z.string(),
  text: Text.optional(),
  fields: z.array(Text).default([]),
  elements: z.array(z.looseObject({ type: z.string() })).default([]),
});
const Blocks = z.array(Block).max(50).default([]);
const Attachment = z.object({
  color: z.optional(z.string().transform((color) => (/^#[0-9a-f]{6}$/i.test(color) ? color : undefined))),
  text: z.string().optional(),
  fallback: z.string().optional(),
  blocks: Blocks,
});
const Payload = z.object({
  text: z.string().optional(),
  blocks: Blocks,
  attachments: z.array(Attachment).max(100).default([]),
});
type Block = z.infer<typeof Block>;
type Text = z.infer<typeof Text>;

/** Undefined where Slack would refuse the payload: not JSON, another shape, or nothing to show. */
export function readSlackMessage(body: string): SlackMessage | undefined {
  const payload = Payload.safeParse(parseJson(body)).data;
  if (!payload) return undefined;
  const { attachments, text } = payload;
  const blocks = [...payload.blocks, ...attachments.flatMap((attachment) => attachment.blocks)];
  // As in Slack, `text` is only the notification's line when there are blocks.
  const own = blocks.length === 0 && text ? [mrkdwn(text)] : [];
  const texts = attachments.flatMap((attachment) => (attachment.text ? [mrkdwn(attachment.text)] : []));
  const parts = [...own, ...blocks.flatMap(partsOf), ...texts];
  const title = text ?? attachments[0]?.fallback ?? plain(parts[0]);
  if (parts.length === 0 || title === "") return undefined;
  return { title: plain(mrkdwn(title)), color: attachments.find(({ color }) => color)?.color, parts };
}

/** The text of a part without its styles. */
export function plain(part: Pick<Part, "spans"> | undefined): string {
  return (part?.spans ?? []).map((span) => span.text).join("");
}

function partsOf({ type, text, fields, elements }: Block): Part[] {
  if (type === "divider") return [{ kind: "divider", spans: [] }];
  if (type === "header") return text ? [{ kind: "header", spans: [{ text: text.text }] }] : [];
  if (type === "context") return [{ kind: "context", spans: joined(elements, " ") }];
  if (type === "actions") return [{ kind: "buttons", spans: joined(elements, "   ") }];
  return [...(text ? [text] : []), ...fields].map((one) => ({ kind: "text", spans: textSpans(one) }));
}

function joined(elements: Block["elements"], separator: string): MrkdwnSpan[] {
  return elements.flatMap((element, index) => {
    const spans = spansOf(element);
    return index > 0 && spans.length > 0 ? [{ text: separator }, ...spans] : spans;
  });
}

function spansOf(element: Readonly<Record<string, unknown>>): MrkdwnSpan[] {
  if (typeof element.text === "string") return textSpans(element as Text);
  const label = Text.safeParse(element.text).data;
  if (!label) return [];
  const href = typeof element.url === "string" && /^https?:/.test(element.url) ? { href: element.url } : {};
  return [{ text: label.text, ...href }];
}

function textSpans({ type, text }: Text): MrkdwnSpan[] {
  return type === "mrkdwn" ? parseMrkdwn(text) : [{ text }];
}

function mrkdwn(text: string): Part {
  return { kind: "text", spans: parseMrkdwn(text) };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

type Style = "bold" | "italic" | "strike" | "code";
const MARKERS: Readonly<Record<string, Style>> = { "*": "bold", _: "italic", "~": "strike", "`": "code" };

export interface MrkdwnSpan extends Readonly<Partial<Record<Style, boolean>>> {
  readonly text: string;
  readonly href?: string;
}

/** Slack takes at most 3,000 characters in a text; what is longer is no message of ours. */
const MAX_LENGTH = 12_000;

/** Spans in order; line breaks stay `\n`. Never throws, whatever the text. */
export function parseMrkdwn(source: string): MrkdwnSpan[] {
  const text = source.slice(0, MAX_LENGTH);
  const spans: MrkdwnSpan[] = [];
  let open: Partial<Record<Style, boolean>> = {};
  let pending = "";
  const flush = (next = "") => {
    if (pending !== "") spans.push({ text: unescapeEntities(pending), ...open });
    pending = next;
  };
  for (const { 0: token, 1: inner, index } of text.matchAll(/<([^>]*)>|./gs)) {
    const style = MARKERS[token];
    if (inner !== undefined) {
      flush();
      spans.push({ ...reference(inner), ...open });
    } else if (token === "\n") {
      flush(token);
      open = {};
    } else if (style && (style === "code" || !open.code) && toggles(text, index, token, open[style])) {
      flush();
      open[style] = !open[style];
    } else pending += token;
  }
  flush();
  return spans;
}

/** A marker opens before a word and closes after one, on the same line. */
function toggles(text: string, at: number, marker: string, isOpen = false): boolean {
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
  return /^(?:https?:\/\/|mailto:)/.test(target) ? { text: label, href: unescapeEntities(target) } : { text: label };
}

function unescapeEntities(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
