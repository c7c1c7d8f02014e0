/**
 * A notification as a webhook's payload: the title as one block, the list as blocks in an attachment, for its
 * colour; `text` repeats both for lock screens and for clients without blocks.
 * Limits (docs.slack.dev, Block Kit): 50 blocks, 3,000 characters a section; about 13,200 in all before Slack answers
 * `msg_blocks_too_long`; a `text` of 4,000 is advised.
 */
import type { IncomingWebhookSendArguments } from "@slack/webhook";
import { type Document, type Link, type Row, restOf, type Section } from "../../alerting/document.ts";
import type { Notification } from "../../alerting/model.ts";
import { looks } from "../../alerting/tone.ts";
import { messageOf } from "../message.ts";
import type { ActionsBlock } from "./actions.ts";
import { bold, link, mrkdwn } from "./mrkdwn.ts";

const SECTION_LENGTH = 2_900;
const TEXT_LENGTH = 3_500;
/** Together with the title and the lines that count omitted alerts it stays below the limit. */
const LIST_LENGTH = 10_000;
const COMMON_LENGTH = 1_500;
const MOST_ENTRIES = 60;
/** Lines of locations are short: a storm lists as many as fit. */
const MOST_LOCATIONS = 250;
/** Up to this many alerts are shown in detail; more get one line each. */
const DETAILED_ENTRIES = 5;

/** Additions to the message itself: whom it mentions, as markup; a block below the title. */
export interface SlackExtras {
  /** Text alone, without blocks and attachments. */
  readonly plain?: boolean;
  readonly mention?: string;
  readonly actions?: ActionsBlock | undefined;
}

/** The payload for an incoming webhook. */
export function renderSlack(notification: Notification, extras: SlackExtras = {}): IncomingWebhookSendArguments {
  return payloadOf(slackMessageOf(notification), extras);
}

/** The message, with as many entries as may be read. */
export function slackMessageOf(notification: Notification): Document {
  const isSummary = notification.groups !== undefined || notification.start !== undefined;
  return messageOf(notification, isSummary ? MOST_LOCATIONS : MOST_ENTRIES);
}

export function payloadOf(
  message: Document,
  { plain = false, mention = "", actions }: SlackExtras = {},
): IncomingWebhookSendArguments {
  const withMention = (text: string) => (mention === "" ? text : `${text} ${mention}`);
  const [title = "", ...lines] = textOf(message, plain ? oneLine : bareLine).split("\n");
  const text = [withMention(title), ...lines].join("\n");
  const noPreviews = { link_names: false, unfurl_links: false, unfurl_media: false } as const;
  if (plain) return { text, ...noPreviews };
  const blocks = listBlocks(message).map(sectionBlock);
  return {
    text,
    ...noPreviews,
    // A mention in `text` alone reaches nobody where there are blocks.
    blocks: [sectionBlock(withMention(bold(message.title))), ...(actions ? [actions] : [])],
    attachments:
      blocks.length === 0 ? [] : [{ color: looks[message.tone].colour, fallback: mrkdwn(message.title), blocks }],
  };
}

/** Text with markup. */
export function sectionBlock(text: string): {
  type: "section";
  text: { type: "mrkdwn"; text: string; verbatim: true };
} {
  return { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
}

function listBlocks(message: Document): string[] {
  const [overview] = message.actions;
  const common = fitting(message.notes.map(mrkdwn), COMMON_LENGTH);
  if (message.sections.reduce((sum, { total }) => sum + total, 0) > DETAILED_ENTRIES) {
    const lines = [...listed(message, LIST_LENGTH, oneLine), ...common];
    const isLinked = overview === undefined || lines.some((line) => line.endsWith(link(overview)));
    return packed(isLinked ? lines : [...lines, link(overview)]);
  }
  const last = [common.join("\n"), overview ? link(overview) : ""];
  return [...listed(message, LIST_LENGTH, detailed), ...last.filter((block) => block !== "")];
}

/** The whole message as one text; on a lock screen (`bareLine`) without markup and links. */
function textOf(message: Document, render: (entry: Row) => string): string {
  const title = mrkdwn(message.title);
  return [title, ...listed(message, TEXT_LENGTH - title.length, render)].join("\n");
}

function bareLine({ name, text, notes }: Row): string {
  return name === "" ? [text, ...notes].map(mrkdwn).join("\n") : `${mrkdwn(name)}: ${mrkdwn(text)}`;
}

/** All lines that fit into `limit` characters; each section counts those that do not. */
function listed(message: Document, limit: number, render: (entry: Row) => string): string[] {
  const {
    sections,
    actions: [overview],
  } = message;
  const lead = message.lead.map(mrkdwn);
  const frames = sections.map((section) => [headOf(section), restLine(section, 0, overview)]);
  let left = limit - [...lead, ...frames.flat()].join("\n").length;
  const lists = sections.map((section, i) => {
    // The first section leaves a quarter to the next: resolved alerts matter too.
    const lines = fitting(section.rows.map(render), i < sections.length - 1 ? left * 0.75 : left);
    left -= lines.join("\n").length + 1;
    const rest = lines.length < section.total ? [restLine(section, lines.length, overview)] : [];
    return [headOf(section), ...lines, ...rest].filter((line) => line !== "");
  });
  return [...lead, ...lists.flat()];
}

function fitting(lines: readonly string[], limit: number): string[] {
  let used = 0;
  const over = lines.findIndex((line) => {
    used += line.length + 1;
    return used > limit;
  });
  return over < 0 ? [...lines] : lines.slice(0, over);
}

function headOf({ heading = "" }: Section): string {
  return bold(heading);
}

/** `and 37 more`, with the link to them. */
function restLine(section: Section, shown: number, overview: Link | undefined): string {
  return [restOf(section, shown), ...(overview ? [link(overview)] : [])].join(" · ");
}

function oneLine({ name, text, links }: Row): string {
  const shown = links.filter(({ label }) => label === "Status" || label === "Runbook").map(link);
  return `${name === "" ? "" : "• "}${[[bold(name), mrkdwn(text)].filter((part) => part !== "").join(" "), ...shown].join(" · ")}`;
}

function detailed({ name, text, notes, links }: Row): string {
  const last = links.map(link).join(" · ");
  const lines = [[bold(name), mrkdwn(text)].filter((part) => part !== "").join(" · ")];
  let left = SECTION_LENGTH - last.length - (lines[0]?.length ?? 0) - 2;
  for (const note of notes.map(mrkdwn)) {
    if (note.length + 1 > left) break;
    left -= note.length + 1;
    lines.push(note);
  }
  return [...lines, last].filter((line) => line !== "").join("\n");
}

function packed(lines: readonly string[]): string[] {
  const sections: string[] = [];
  for (const line of lines) {
    const last = sections.at(-1);
    if (last === undefined || last.length + line.length + 1 > SECTION_LENGTH) sections.push(line);
    else sections[sections.length - 1] = `${last}\n${line}`;
  }
  return sections;
}
