/** A Slack webhook that records posts, checks them against Slack's limits, and gives the set answer. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInbox, type Inbox } from "./inbox.ts";

export interface SlackText {
  readonly type: "mrkdwn" | "plain_text";
  readonly text: string;
  readonly verbatim?: boolean;
}

export interface SlackBlock {
  readonly type: string;
  readonly text?: SlackText;
  readonly fields?: readonly SlackText[];
  readonly elements?: readonly unknown[];
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

/** One accepted or refused post. */
export interface SlackMessage {
  readonly body: SlackBody;
  /** The fallback text: title first. */
  readonly text: string;
  /** All visible text of all blocks, top to bottom, one line each. */
  readonly shown: string;
  /** The colour of the attachment. */
  readonly color: string | undefined;
  readonly path: string;
  readonly receivedAt: number;
}

export interface SlackAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One answer for all, `hang` to never answer, or a function of the message and its position (from 0). */
export type SlackResponder =
  | SlackAnswer
  | "hang"
  | ((message: SlackMessage, position: number) => SlackAnswer | "hang" | Promise<SlackAnswer | "hang">);

export interface SlackSink extends Inbox<SlackMessage> {
  /** The webhook's URL. */
  readonly url: string;
  /** Summaries of starts without memory, kept apart so that stories begin after them; answered on their own, 200 `ok`. */
  readonly starts: Inbox<SlackMessage> & { respond(responder: SlackResponder): void };
  /** Sets the answer from now on; default: 200 `ok`, or Slack's answer to a broken limit. */
  respond(responder: SlackResponder): void;
  close(): Promise<void>;
}

/** Start of the title of a cold start's summary. */
export const START_TITLE = "lenswatch started with an empty store";

const OK: SlackAnswer = { status: 200, body: "ok" };

/** Starts on a free port of `host` (127.0.0.1). */
export async function startSlackSink({ host = "127.0.0.1" }: { host?: string } = {}): Promise<SlackSink> {
  const inbox = createInbox<SlackMessage>("Slack message");
  const starts = createInbox<SlackMessage>("summary on Slack");
  let responder: SlackResponder = OK;
  let startResponder: SlackResponder = OK;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await read(request)) as SlackBody;
    const message: SlackMessage = {
      body,
      text: body.text ?? "",
      shown: shownOf(body),
      color: body.attachments?.[0]?.color,
      path: request.url ?? "",
      receivedAt: Date.now(),
    };
    const isStart = message.text.startsWith(START_TITLE);
    const box = isStart ? starts : inbox;
    const respond = isStart ? startResponder : responder;
    const answering = typeof respond === "function" ? respond(message, box.messages.length) : respond;
    box.push(message);
    const told = await answering;
    if (told === "hang") return;
    const problem = told === OK ? limitsBroken(body)[0] : undefined;
    const answer = problem === undefined ? told : { status: 400, body: "invalid_blocks" };
    response.writeHead(answer.status, { "content-type": "text/html", ...answer.headers });
    response.end(answer.body ?? "");
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => {
      response.writeHead(400).end("invalid_payload");
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    ...inbox,
    starts: {
      ...starts,
      respond(next) {
        startResponder = next;
      },
    },
    url: `http://${host}:${port}/services/T00000000/B00000000/secretsecretsecret`,
    respond(next) {
      responder = next;
    },
    async close() {
      inbox.end();
      starts.end();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function allBlocks(body: SlackBody): SlackBlock[] {
  return [...(body.blocks ?? []), ...(body.attachments ?? []).flatMap(({ blocks }) => blocks ?? [])];
}

function shownOf(body: SlackBody): string {
  const blocks = allBlocks(body);
  if (blocks.length === 0) return body.text ?? "";
  return blocks.map(({ text, fields = [] }) => [text, ...fields].map((part) => part?.text ?? "").join("\n")).join("\n");
}

const BLOCK_TYPES: ReadonlySet<string> = new Set(["section", "header", "divider", "context", "actions", "image"]);

/**
 * The limits a payload breaks, in words (docs.slack.dev, Block Kit reference; the total from what Slack answers with
 * `msg_blocks_too_long`). Empty: Slack takes it.
 */
export function limitsBroken(body: SlackBody): string[] {
  const blocks = allBlocks(body);
  const texts = blocks.flatMap(({ text, fields = [] }) => [...(text ? [text] : []), ...fields]);
  const total = texts.reduce((sum, { text }) => sum + text.length, 0);
  const problems: [boolean, string][] = [
    [(body.text ?? "") === "" && blocks.length === 0, "neither text nor blocks"],
    [(body.text ?? "").length > 4_000, "text over 4,000 characters"],
    [blocks.length > 50, `${blocks.length} blocks, 50 at most`],
    [total > 12_000, `${total} characters over all blocks, 12,000 at most`],
    [blocks.some(({ type }) => !BLOCK_TYPES.has(type)), "a block of unknown type"],
    [texts.some(({ text }) => text.length === 0), "an empty text"],
    [texts.some(({ text }) => text.length > 3_000), "a text over 3,000 characters"],
    [texts.some(({ type }) => type !== "mrkdwn" && type !== "plain_text"), "a text of unknown type"],
    [blocks.some(({ type, text }) => type === "header" && (text?.text.length ?? 0) > 150), "a header over 150"],
    [blocks.some(({ type, text }) => type === "header" && text?.type !== "plain_text"), "a header that is mrkdwn"],
    [blocks.some(({ type, text, fields }) => type === "section" && !text && !fields), "a section without text"],
    [blocks.some(({ fields = [] }) => fields.length > 10), "a section with over 10 fields"],
    [blocks.some(({ fields = [] }) => fields.some(({ text }) => text.length > 2_000)), "a field over 2,000"],
    [(body.attachments ?? []).length > 20, "over 20 attachments"],
  ];
  return problems.filter(([broken]) => broken).map(([, words]) => words);
}

/** Throws where Slack would refuse the payload for its size or shape. */
export function assertWithinSlackLimits(body: SlackBody): void {
  const problems = limitsBroken(body);
  if (problems.length > 0) throw new Error(`Slack would refuse this: ${problems.join("; ")}`);
}
