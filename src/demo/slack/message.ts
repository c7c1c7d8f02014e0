/** A Slack message: its shape (docs.slack.dev: Block Kit reference), and what a person would see of it. */

export interface SlackText {
  readonly type: "mrkdwn" | "plain_text";
  readonly text: string;
  readonly verbatim?: boolean;
}

/** A button of an `actions` block, or the field of an `input` block. */
export interface SlackElement {
  readonly type: string;
  readonly text?: SlackText | string;
  readonly action_id?: string;
  readonly url?: string;
  readonly value?: string;
  readonly placeholder?: SlackText;
  readonly max_length?: number;
}

export interface SlackBlock {
  readonly type: string;
  readonly block_id?: string;
  readonly text?: SlackText;
  readonly fields?: readonly SlackText[];
  readonly elements?: readonly SlackElement[];
  readonly label?: SlackText;
  readonly element?: SlackElement;
}

export interface SlackBody {
  readonly text?: string;
  readonly blocks?: readonly SlackBlock[];
  readonly attachments?: readonly {
    readonly color?: string;
    readonly fallback?: string;
    readonly blocks?: readonly SlackBlock[];
  }[];
}

export interface SlackMetadata {
  readonly event_type: string;
  readonly event_payload: Readonly<Record<string, unknown>>;
}

export function allBlocks(body: SlackBody): SlackBlock[] {
  return [...(body.blocks ?? []), ...(body.attachments ?? []).flatMap(({ blocks }) => blocks ?? [])];
}

/** A paragraph of a message. */
export type Part = readonly MrkdwnSpan[];

export interface SlackMessage {
  /** The line that a lock screen shows. */
  readonly title: string;
  readonly parts: readonly Part[];
  /** Fields and buttons, below the parts. */
  readonly inputs: readonly SlackBlock[];
  readonly actions: readonly SlackElement[];
  /** Below the buttons, beside a bar of `color`, `#rrggbb`. */
  readonly attached: readonly Part[];
  readonly color: string | undefined;
}

export function readSlackMessage({ text = "", blocks = [], attachments = [] }: SlackBody): SlackMessage {
  const attached = attachments.flatMap((one) => partsOf(one.blocks ?? []));
  // In Slack too, `text` is only the notification's line when there are blocks.
  const isBare = blocks.length === 0 && attached.length === 0;
  const parts = isBare ? [parseMrkdwn(text)] : partsOf(blocks);
  return {
    title: plain(text ? parseMrkdwn(text) : [...parts, ...attached][0]),
    parts,
    inputs: blocks.filter(({ type }) => type === "input"),
    actions: allBlocks({ blocks }).flatMap(({ type, elements = [] }) => (type === "actions" ? elements : [])),
    attached,
    color: attachments.map(({ color = "" }) => color).find((color) => /^#[0-9a-f]{6}$/i.test(color)),
  };
}

/** The text of a part without its styles. */
export function plain(part: Part | undefined): string {
  return (part ?? []).map((span) => span.text).join("");
}

function partsOf(blocks: NonNullable<SlackBody["blocks"]>): Part[] {
  return blocks.flatMap(({ text }) => (text ? [partOf(text)] : []));
}

function partOf({ type, text }: SlackText): Part {
  return type === "mrkdwn" ? parseMrkdwn(text) : [{ text }];
}

export type MrkdwnSpan = { readonly text: string; readonly style?: "b" | "code"; readonly href?: string };

/** Slack takes at most 3,000 characters in a text; what is longer is no message of ours. */
const MAX_LENGTH = 12_000;
/** Bold text, code, links and mentions, as our messages have them: beside a zero-width space, a marker is an ordinary character. */
const MARKUP =
  /(?<![\w\u200b])\*(?<bold>[^\s*](?:[^*\n]|(?<=\u200b)\*)*)\*|(?<![\w\u200b])`(?<code>[^`\n]+)`|<(?<href>https?:[^|>]*)\|(?<label>[^>]*)>|<(?<mention>[!@#][\w^]+)>|[^*<`]+|./gs;

/** Spans in order; line breaks stay `\n`. Never throws, whatever the text. */
export function parseMrkdwn(source: string): MrkdwnSpan[] {
  return [...source.slice(0, MAX_LENGTH).matchAll(MARKUP)].map(({ 0: found, groups = {} }) => {
    const { bold, code, href, label, mention } = groups;
    const text = unescapeEntities(bold ?? code ?? label ?? mention?.replace("!", "@") ?? found);
    const style = bold || mention ? "b" : code ? "code" : undefined;
    return { text, ...(style && { style }), ...(href && { href: unescapeEntities(href) }) };
  });
}

function unescapeEntities(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
