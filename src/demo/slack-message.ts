/** A message as posted to a Slack webhook, reduced to what a person would see of it. */
import { z } from "zod";

export type PartKind = "header" | "text" | "context" | "divider" | "buttons";

export interface Part {
  readonly kind: PartKind;
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
  fields: z.array(Text).optional(),
  elements: z.array(z.looseObject({ type: z.string() })).optional(),
});
const Attachment = z.object({
  color: z.string().optional(),
  text: z.string().optional(),
  fallback: z.string().optional(),
  blocks: z.array(Block).max(50).optional(),
});
const Payload = z.object({
  text: z.string().optional(),
  blocks: z.array(Block).max(50).optional(),
  attachments: z.array(Attachment).max(100).optional(),
});
type Block = z.infer<typeof Block>;
type Text = z.infer<typeof Text>;

/** Undefined where Slack would refuse the payload: not JSON, another shape, or nothing to show. */
export function readSlackMessage(body: string): SlackMessage | undefined {
  const payload = Payload.safeParse(parseJson(body)).data;
  if (!payload) return undefined;
  const attachments = payload.attachments ?? [];
  const blocks = [...(payload.blocks ?? []), ...attachments.flatMap((attachment) => attachment.blocks ?? [])];
  const texts = attachments.flatMap((attachment) => (attachment.text ? [mrkdwn("text", attachment.text)] : []));
  // As in Slack, `text` is only the notification's line when there are blocks.
  const own = blocks.length === 0 && payload.text ? [mrkdwn("text", payload.text)] : [];
  const parts = [...own, ...blocks.flatMap(partsOf), ...texts];
  const title = payload.text ?? attachments[0]?.fallback ?? plain(parts[0]);
  if (parts.length === 0 || title === "") return undefined;
  const color = attachments.find((attachment) => attachment.color)?.color;
  return { title: plainText(title), color: /^#[0-9a-f]{6}$/i.test(color ?? "") ? color : undefined, parts };
}

/** The text of a part without its styles. */
export function plain(part: Part | undefined): string {
  return (part?.spans ?? []).map((span) => span.text).join("");
}

function plainText(text: string): string {
  return plain(mrkdwn("text", text));
}

function partsOf(block: Block): Part[] {
  if (block.type === "divider") return [{ kind: "divider", spans: [] }];
  if (block.type === "header") return block.text ? [literal("header", block.text.text)] : [];
  if (block.type === "context") return [{ kind: "context", spans: joined(block.elements, " ") }];
  if (block.type === "actions") return [{ kind: "buttons", spans: joined(block.elements, "   ") }];
  return [...(block.text ? [block.text] : []), ...(block.fields ?? [])].map((text) => fromText("text", text));
}

function joined(elements: Block["elements"], separator: string): MrkdwnSpan[] {
  return (elements ?? []).flatMap((element, index) => {
    const spans = spansOf(element);
    return index > 0 && spans.length > 0 ? [...literal("context", separator).spans, ...spans] : spans;
  });
}

function spansOf(element: Readonly<Record<string, unknown>>): readonly MrkdwnSpan[] {
  if (typeof element.text === "string") return fromText("context", element as Text).spans;
  const label = Text.safeParse(element.text).data;
  if (!label) return [];
  const href = typeof element.url === "string" && /^https?:/.test(element.url) ? { href: element.url } : {};
  return literal("buttons", label.text).spans.map((span) => ({ ...span, ...href }));
}

function fromText(kind: PartKind, text: Text): Part {
  return text.type === "mrkdwn" ? mrkdwn(kind, text.text) : literal(kind, text.text);
}

function mrkdwn(kind: PartKind, text: string): Part {
  return { kind, spans: parseMrkdwn(text) };
}

function literal(kind: PartKind, text: string): Part {
  return { kind, spans: [{ text, bold: false, italic: false, strike: false, code: false }] };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

export interface MrkdwnSpan {
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
export function parseMrkdwn(source: string): MrkdwnSpan[] {
  const text = source.slice(0, MAX_LENGTH);
  const open = { bold: false, italic: false, strike: false, code: false };
  const spans: MrkdwnSpan[] = [];
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
  return /^(?:https?:\/\/|mailto:)/.test(target) ? { text: label, href: unescapeEntities(target) } : { text: label };
}

function unescapeEntities(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
