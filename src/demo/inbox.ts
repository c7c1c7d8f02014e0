/**
 * Receives what the demo's lenswatch sends: a webhook like Slack's, an SMTP server, and a page that shows both live. It
 * listens on loopback only and keeps the latest MAX_MESSAGES messages, in memory.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "../lib/clock.ts";
import { Closer } from "../lib/closer.ts";
import type { InboxMessage } from "./mail-server.ts";
import { startMailServer } from "./mail-server.ts";
import { renderMail, renderMessage, renderPage } from "./page.ts";
import { readSlackMessage } from "./slack-message.ts";

const MAX_MESSAGES = 300;
const MAX_BODY_BYTES = 1024 * 1024;
const MAIL_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export interface Inbox {
  /** The page. */
  readonly url: string;
  /** To be used as a Slack webhook. */
  readonly slackUrl: string;
  readonly smtp: { readonly host: string; readonly port: number };
  /** The latest, oldest first. */
  readonly messages: readonly InboxMessage[];
  /** Closes everything, open pages too. */
  close(): Promise<void>;
}

export interface InboxOptions {
  /** Of the page; 0 (the default) is any free one. */
  readonly port?: number;
  readonly clock?: Clock;
  readonly onMessage?: (message: InboxMessage) => void;
}

/** Starts webhook, SMTP server and page. Rejects, with everything closed, when one of them cannot listen. */
export async function startInbox(options: InboxOptions = {}): Promise<Inbox> {
  const closer = new Closer();
  const clock = options.clock ?? systemClock;
  const messages: InboxMessage[] = [];
  const watchers = new Set<ServerResponse>();
  let lastId = 0;

  const receive = (content: Content) => {
    lastId += 1;
    const message: InboxMessage = { id: lastId, receivedAt: clock.now(), ...content };
    messages.push(message);
    if (messages.length > MAX_MESSAGES) messages.shift();
    for (const watcher of watchers) writeEvent(watcher, message);
    options.onMessage?.(message);
  };

  const server = createServer((request, response) => {
    handle({ messages, watchers, receive }, request, response).catch(() => response.destroy());
  });
  try {
    server.listen(options.port ?? 0, "127.0.0.1");
    await once(server, "listening");
    closer.add("inbox page", () => {
      server.close();
      server.closeAllConnections();
    });
    const mail = await startMailServer((caught) => receive({ kind: "email", mail: caught }));
    closer.add("inbox SMTP", () => mail.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      url,
      slackUrl: `${url}/slack/services/demo`,
      smtp: { host: mail.host, port: mail.port },
      messages,
      close: () => closer.close(),
    };
  } catch (thrown) {
    await closer.close();
    throw thrown;
  }
}

type Content =
  | Pick<InboxMessage & { kind: "slack" }, "kind" | "slack">
  | Pick<InboxMessage & { kind: "email" }, "kind" | "mail">;

interface State {
  readonly messages: readonly InboxMessage[];
  readonly watchers: Set<ServerResponse>;
  readonly receive: (content: Content) => void;
}

async function handle(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Cache-Control", "no-store");
  const { pathname } = new URL(request.url ?? "/", "http://inbox");
  if (request.method === "POST" && pathname.startsWith("/slack/")) return takeSlack(state, request, response);
  if (request.method !== "GET" && request.method !== "HEAD") {
    return answer(response, 405, "only GET, and POST for Slack's webhook\n");
  }
  if (pathname === "/") return showPage(state, response);
  if (pathname === "/events") return watch(state, response);
  const mail = state.messages.find((message) => pathname === `/mail/${message.id}`);
  if (mail?.kind !== "email") return answer(response, 404, "not found\n");
  response.setHeader("Content-Security-Policy", MAIL_POLICY);
  return answer(response, 200, renderMail(mail), "text/html; charset=utf-8");
}

/** Answers as Slack does: `ok`, or one word for what is wrong. */
async function takeSlack(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return answer(response, 413, "payload_too_large");
    chunks.push(chunk as Buffer);
  }
  const slack = readSlackMessage(Buffer.concat(chunks).toString("utf8"));
  if (!slack) return answer(response, 400, "invalid_payload");
  state.receive({ kind: "slack", slack });
  answer(response, 200, "ok");
}

function showPage({ messages }: State, response: ServerResponse): void {
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "frame-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  response.setHeader("Content-Security-Policy", policy.join("; "));
  answer(response, 200, renderPage(messages, nonce), "text/html; charset=utf-8");
}

function watch({ messages, watchers }: State, response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write("retry: 1000\n\n");
  for (const message of messages) writeEvent(response, message);
  watchers.add(response);
  response.once("close", () => watchers.delete(response));
}

function writeEvent(response: ServerResponse, message: InboxMessage): void {
  response.write(`id: ${message.id}\ndata: ${JSON.stringify(renderMessage(message))}\n\n`);
}

function answer(response: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "Content-Type": type });
  response.end(body);
}
