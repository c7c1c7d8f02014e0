/** Receives the demo's messages on loopback: a webhook like Slack's, an SMTP server, and a page showing both. */
import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { type FastifyInstance, fastify } from "fastify";
import { type Clock, systemClock } from "../lib/clock.ts";
import { Closer } from "../lib/closer.ts";
import { type InboxMessage, type Received, startMailServer } from "./mail-server.ts";
import { renderMail, renderMessage, renderPage } from "./page.ts";
import { readSlackMessage } from "./slack-message.ts";

const MAX_MESSAGES = 300;
const MAX_BODY_BYTES = 1024 * 1024;
const MAIL_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const PAGE_POLICY =
  "default-src 'none'; script-src 'nonce-NONCE'; style-src 'nonce-NONCE'; connect-src 'self'; frame-src 'self'; " +
  "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface InboxOptions {
  /** Of the page; 0 (the default) is any free one. */
  readonly port?: number;
  readonly clock?: Clock;
  readonly onMessage?: (message: InboxMessage) => void;
}

export type Inbox = Awaited<ReturnType<typeof startInbox>>;

/** Starts webhook, SMTP server and page. Rejects, with everything closed, when one of them cannot listen. */
export async function startInbox({ port = 0, clock = systemClock, onMessage }: InboxOptions = {}) {
  const closer = new Closer();
  const messages: InboxMessage[] = [];
  const watchers = new Set<PassThrough>();
  let lastId = 0;

  const receive = (content: Received) => {
    lastId += 1;
    const message: InboxMessage = { id: lastId, receivedAt: clock.now(), ...content };
    messages.push(message);
    if (messages.length > MAX_MESSAGES) messages.shift();
    for (const watcher of watchers) writeEvent(watcher, message);
    onMessage?.(message);
  };

  try {
    const app = fastify({ bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
    closer.add("inbox page", () => app.close());
    addRoutes(app, { messages, watchers, receive });
    const url = await app.listen({ port, host: "127.0.0.1" });
    const mail = await startMailServer((caught) => receive({ kind: "email", mail: caught }));
    closer.add("inbox SMTP", mail.close);
    return {
      url,
      /** To be used as a Slack webhook. */
      slackUrl: `${url}/slack/services/demo`,
      smtp: { host: mail.host, port: mail.port },
      /** The latest, oldest first. */
      messages: messages as readonly InboxMessage[],
      /** Closes everything, open pages too. */
      close: () => closer.close(),
    };
  } catch (thrown) {
    await closer.close();
    throw thrown;
  }
}

type State = Readonly<{
  messages: readonly InboxMessage[];
  watchers: Set<PassThrough>;
  receive(content: Received): void;
}>;

function addRoutes(app: FastifyInstance, { messages, watchers, receive }: State): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers({ "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" });
  });
  app.setErrorHandler<{ statusCode?: number }>(({ statusCode = 500 }, _request, reply) =>
    reply.code(statusCode).send(statusCode === 413 ? "payload_too_large" : "failed"),
  );
  app.setNotFoundHandler(({ method }, reply) =>
    method === "GET" || method === "HEAD"
      ? reply.code(404).send("not found\n")
      : reply.code(405).send("only GET, and POST for Slack's webhook\n"),
  );
  // Answers as Slack does: `ok`, or one word for what is wrong.
  app.post("/slack/*", async ({ body }, reply) => {
    const slack = readSlackMessage(String(body ?? ""));
    if (!slack) return reply.code(400).send("invalid_payload");
    receive({ kind: "slack", slack });
    return "ok";
  });
  app.get("/", (_request, reply) => {
    const nonce = randomBytes(16).toString("base64");
    reply.header("Content-Security-Policy", PAGE_POLICY.replaceAll("NONCE", nonce));
    return reply.type("text/html").send(renderPage(messages, nonce));
  });
  app.get<{ Params: { id: string } }>("/mail/:id", ({ params }, reply) => {
    const mail = messages.find(({ id }) => String(id) === params.id);
    if (mail?.kind !== "email") return reply.callNotFound();
    return reply.header("Content-Security-Policy", MAIL_POLICY).type("text/html").send(renderMail(mail));
  });
  app.get("/events", (_request, reply) => {
    const watcher = new PassThrough().once("close", () => watchers.delete(watcher));
    watcher.write("retry: 1000\n\n");
    for (const message of messages) writeEvent(watcher, message);
    watchers.add(watcher);
    return reply.type("text/event-stream").send(watcher);
  });
}

function writeEvent(watcher: PassThrough, message: InboxMessage): void {
  watcher.write(`id: ${message.id}\ndata: ${JSON.stringify(renderMessage(message))}\n\n`);
}
