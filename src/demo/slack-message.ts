/** A message as posted to a Slack webhook, reduced to what a person would see of it: sections are all lenswatch posts. */
import { z } from "zod";
import { tryJson } from "../lib/json-values.ts";

/** A paragraph of a message. */
export type Part = readonly MrkdwnSpan[];

export interface SlackMessage {
  /** What a lock screen shows. */
  readonly title: string;
  /** `#rrggbb` of the bar beside the message. */
  readonly color: string | undefined;
  readonly parts: readonly Part[];
}

const Section = z.object({ type: z.literal("section"), text: z.object({ type: z.string(), text: z.string() }) });
const Blocks = z.array(Section).max(50).default([]);
const Attachment = z.object({
  color: z.optional(z.string().transform((color) => (/^#[0-9a-f]{6}$/i.test(color) ? color : undefined))),
  blocks: Blocks,
});
const Payload = z.object({
  text: z.string().optional(),
  blocks: Blocks,
  attachments: z.array(Attachment).max(100).default([]),
});

/** Undefined where Slack would refuse the payload: not JSON, another shape, or nothing to show. */
export function readSlackMessage(body: string): SlackMessage | undefined {
  const payload = Payload.safeParse(tryJson(body)).data;
  if (!payload) return undefined;
  const { attachments, text } = payload;
  const blocks = [...payload.blocks, ...attachments.flatMap((attachment) => attachment.blocks)];
  // As in Slack, `text` is only the notification's line when there are blocks.
  const own = blocks.length === 0 && text ? [parseMrkdwn(text)] : [];
  const parts = [...own, ...blocks.map(partOf)];
  const title = text ?? plain(parts[0]);
  if (parts.length === 0 || title === "") return undefined;
  return { title: plain(parseMrkdwn(title)), color: attachments.find(({ color }) => color)?.color, parts };
}

/** The text of a part without its styles. */
export function plain(part: Part | undefined): string {
  return (part ?? []).map((span) => span.text).join("");
}

function partOf({ text: { type, text } }: z.infer<typeof Section>): Part {
  return type === "mrkdwn" ? parseMrkdwn(text) : [{ text }];
}

export type MrkdwnSpan = { readonly text: string; readonly bold?: true; readonly href?: string };

/** Slack takes at most 3,000 characters in a text; what is longer is no message of ours. */
const MAX_LENGTH = 12_000;
/** Bold text and links, as our messages have them: beside a zero-width space, a marker is an ordinary character. */
const MARKUP =
  /(?<![\w\u200b])\*(?<bold>[^\s*](?:[^*\n]|(?<=\u200b)\*)*)\*|<(?<href>https?:[^|>]*)\|(?<label>[^>]*)>|[^*<]+|./gs;

/** Spans in order; line breaks stay `\n`. Never throws, whatever the text. */
export function parseMrkdwn(source: string): MrkdwnSpan[] {
  return [...source.slice(0, MAX_LENGTH).matchAll(MARKUP)].map(({ 0: found, groups = {} }) => {
    const { bold, href, label } = groups;
    const text = unescapeEntities(bold ?? label ?? found);
    return { text, ...(bold && { bold: true }), ...(href && { href: unescapeEntities(href) }) };
  });
}

function unescapeEntities(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
