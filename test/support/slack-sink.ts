/** A Slack webhook that records posts, checks them against Slack's limits, and gives the set answer. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { allBlocks, type SlackBody } from "../../src/demo/slack/message.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import { limitsBroken } from "./slack/limits.ts";

export { limitsBroken, type SlackBody };

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
type SlackResponder =
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

/** In the title of a cold start's summary. */
export const START_TITLE = "lenswatch watches ";

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
    const isStart = message.text.includes(START_TITLE);
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

function shownOf(body: SlackBody): string {
  const blocks = allBlocks(body);
  if (blocks.length === 0) return body.text ?? "";
  return blocks.map(({ text, fields = [] }) => [text, ...fields].map((part) => part?.text ?? "").join("\n")).join("\n");
}

/** Throws where Slack would refuse the payload for its size or shape. */
export function assertWithinSlackLimits(body: SlackBody): void {
  const problems = limitsBroken(body);
  if (problems.length > 0) throw new Error(`Slack would refuse this: ${problems.join("; ")}`);
}
