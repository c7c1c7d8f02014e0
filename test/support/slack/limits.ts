/** Slack's limits of a message (docs.slack.dev: Block Kit reference, chat.postMessage, message metadata). */

import {
  allBlocks,
  type SlackBlock,
  type SlackBody,
  type SlackElement,
  type SlackMetadata,
} from "../../../src/demo/slack/message.ts";

const BLOCK_TYPES: ReadonlySet<string> = new Set([
  "section",
  "header",
  "divider",
  "context",
  "actions",
  "image",
  "input",
]);
/** Slack names the error and no size; this is far above what a message of ours needs. */
const METADATA_BYTES = 8_000;

/** The limits a payload breaks, in words. Empty: Slack takes it. */
export function limitsBroken(body: SlackBody): string[] {
  return problemsOf(body).map(([, words]) => words);
}

/** Slack's error for a payload beyond its limits; undefined where it takes it. */
export function limitError(body: SlackBody): string | undefined {
  return problemsOf(body)[0]?.[0];
}

/** The total over all blocks is from what Slack answers with `msg_blocks_too_long`. */
function problemsOf(body: SlackBody): [string, string][] {
  const blocks = allBlocks(body);
  const texts = blocks.flatMap(({ text, fields = [] }) => [...(text ? [text] : []), ...fields]);
  const total = texts.reduce((sum, { text }) => sum + text.length, 0);
  const of = (type: string) => blocks.filter((block) => block.type === type);
  const problems: [boolean, string, string][] = [
    [(body.text ?? "") === "" && blocks.length === 0, "no_text", "neither text nor blocks"],
    [(body.text ?? "").length > 4_000, "msg_too_long", "text over 4,000 characters"],
    [total > 12_000, "msg_blocks_too_long", `${total} characters over all blocks, 12,000 at most`],
    ...[
      [blocks.length > 50, `${blocks.length} blocks, 50 at most`],
      [blocks.some(({ type }) => !BLOCK_TYPES.has(type)), "a block of unknown type"],
      [texts.some(({ text }) => text.length === 0), "an empty text"],
      [texts.some(({ text }) => text.length > 3_000), "a text over 3,000 characters"],
      [texts.some(({ type }) => type !== "mrkdwn" && type !== "plain_text"), "a text of unknown type"],
      [of("header").some(({ text }) => (text?.text.length ?? 0) > 150), "a header over 150"],
      [of("header").some(({ text }) => text?.type !== "plain_text"), "a header that is mrkdwn"],
      [of("section").some(({ text, fields }) => !text && !fields), "a section without text"],
      [blocks.some(({ fields = [] }) => fields.length > 10), "a section with over 10 fields"],
      [blocks.some(({ fields = [] }) => fields.some(({ text }) => text.length > 2_000)), "a field over 2,000"],
      [
        of("context").some(({ elements = [] }) => !between(elements.length, 1, 10)),
        "a context of not 1 to 10 elements",
      ],
      [of("actions").some(({ elements = [] }) => !between(elements.length, 1, 25)), "actions of not 1 to 25 elements"],
      [of("actions").some(({ elements = [] }) => elements.some(isWrong)), "an element that breaks its limits"],
      [of("input").some(isWrongInput), "an input that breaks its limits"],
      [of("actions").some(({ elements = [] }) => repeats(elements.map((one) => one.action_id))), "an action_id twice"],
      [blocks.some(({ block_id: id }) => id !== undefined && !between(id.length, 1, 255)), "a block_id over 255"],
      [repeats(blocks.map(({ block_id }) => block_id)), "a block_id twice"],
      [(body.attachments ?? []).length > 20, "over 20 attachments"],
    ].map(([broken, words]): [boolean, string, string] => [broken === true, "invalid_blocks", String(words)]),
  ];
  return problems.filter(([broken]) => broken).map(([, error, words]) => [error, words]);
}

/** A button that Slack refuses (Block Kit reference: button). */
function isWrong({ type, text, action_id: id = "", url = "", value = "" }: SlackElement): boolean {
  if (id.length > 255 || url.length > 3_000 || value.length > 2_000 || type !== "button") return true;
  return typeof text !== "object" || text.type !== "plain_text" || !between(text.text.length, 1, 75);
}

/** A field that Slack refuses (Block Kit reference: input, plain_text_input). */
function isWrongInput({ label, element }: SlackBlock): boolean {
  const { type, placeholder, max_length: most = 3_000 } = element ?? {};
  if (label?.type !== "plain_text" || !between(label.text.length, 1, 2_000) || type !== "plain_text_input") return true;
  return placeholder?.type !== "plain_text" || !between(placeholder.text.length, 1, 150) || !between(most, 1, 3_000);
}

function between(length: number, least: number, most: number): boolean {
  return length >= least && length <= most;
}

function repeats(ids: readonly (string | undefined)[]): boolean {
  const given = ids.filter((id) => id !== undefined);
  return new Set(given).size < given.length;
}

/** Slack's error for metadata, `undefined` where it takes it. */
export function metadataError(metadata: unknown): string | undefined {
  const { event_type: type, event_payload: payload, ...others } = (metadata ?? {}) as Partial<SlackMetadata>;
  const isShaped =
    typeof type === "string" && /^\w{1,255}$/.test(type) && typeof payload === "object" && payload !== null;
  if (!isShaped || Object.keys(others).length > 0) return "invalid_metadata_format";
  return Buffer.byteLength(JSON.stringify(metadata)) > METADATA_BYTES ? "metadata_too_large" : undefined;
}
