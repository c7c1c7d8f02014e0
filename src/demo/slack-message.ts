/** A message as posted to a Slack webhook, reduced to what a person would see of it. */
import { z } from "zod";
import { parseMrkdwn, type Span } from "./mrkdwn.ts";

export type PartKind = "header" | "text" | "context" | "divider" | "buttons";

export interface Part {
  readonly kind: PartKind;
  readonly spans: readonly Span[];
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
  const texts = attachments.flatMap((attachment) =>
    attachment.text ? [mrkdwn("text", attachment.text)] : [],
  );
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

function joined(elements: Block["elements"], separator: string): Span[] {
  return (elements ?? []).flatMap((element, index) => {
    const spans = spansOf(element);
    return index > 0 && spans.length > 0 ? [...literal("context", separator).spans, ...spans] : spans;
  });
}

function spansOf(element: Readonly<Record<string, unknown>>): readonly Span[] {
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
