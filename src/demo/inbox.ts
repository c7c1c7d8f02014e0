/** Receives the demo's messages on loopback: a stand-in of Slack, an SMTP server, and a page on which people answer. */
import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { type FastifyInstance, fastify } from "fastify";
import { z } from "zod";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { Closer } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import { tryJson } from "../lib/json-values.ts";
import { type CaughtMail, type StoredMail, startMailServer } from "./mail-server.ts";
import { type Article, conversationArticle, mailArticle, renderMail, renderPage } from "./page.ts";
import { allBlocks } from "./slack/message.ts";
import type { Ephemeral } from "./slack/methods.ts";
import { type SlackStandIn, startSlack } from "./slack/stand-in.ts";
import type { StandInMessage } from "./slack/workspace.ts";

/** The most mails, conversations, and replies and edits of each. */
const MAX_MESSAGES = 300;
const MAX_BODY_BYTES = 16 * 1024;
const CHANNEL = "ops-cameras";
const YOU = { user: "U0YOU", name: "you" };
const MAIL_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const PAGE_POLICY =
  "default-src 'none'; script-src 'nonce-NONCE'; style-src 'nonce-NONCE'; connect-src 'self'; frame-src 'self'; " +
  "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A message that arrived. An edit that only follows a reply is none of its own; an answer is for the person who asked. */
export type InboxEvent = { readonly at: Instant } & (
  | { readonly kind: "email"; readonly mail: CaughtMail }
  | { readonly kind: "post" | "edit"; readonly message: StandInMessage }
  | { readonly kind: "answer"; readonly text: string }
);

interface InboxOptions {
  /** The port of the page; 0 (the default) is any free one. */
  readonly port?: number;
  readonly clock?: Clock;
  readonly onEvent?: (event: InboxEvent) => void;
}

export type Inbox = Awaited<ReturnType<typeof startInbox>>;

/** Starts Slack, SMTP server and page. Rejects, with everything closed, when one of them cannot listen. */
export async function startInbox({ port = 0, clock = systemClock, onEvent = () => {} }: InboxOptions = {}) {
  const closer = new Closer();
  try {
    const slack = await startSlack({ channels: [CHANNEL], clock, keeps: MAX_MESSAGES });
    closer.add("inbox Slack", () => slack.close());
    const state = createState(slack, { clock, onEvent });
    const app = fastify({ bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
    closer.add("inbox page", () => app.close());
    addRoutes(app, state);
    const url = await app.listen({ port, host: "127.0.0.1" });
    const mail = await startMailServer((caught) => state.receiveMail(caught));
    closer.add("inbox SMTP", mail.close);
    return {
      url,
      slack,
      smtp: { host: mail.host, port: mail.port },
      /** Closes everything, open pages too. */
      close: () => closer.close(),
    };
  } catch (thrown) {
    await closer.close();
    throw thrown;
  }
}

type State = ReturnType<typeof createState>;

function createState(slack: SlackStandIn, { clock, onEvent }: { clock: Clock; onEvent(event: InboxEvent): void }) {
  const mails: StoredMail[] = [];
  const watchers = new Set<PassThrough>();
  /** Answers that only the person who asked sees, by the root it was asked at. */
  const answers = new Map<string, Ephemeral>();
  let askedAt = "";
  let lastMail = 0;

  const channel = slack.channel(CHANNEL);
  const rootOf = (ts: string) => channel.messages.find((root) => root.ts === ts);
  const publish = (article: Article) => {
    for (const watcher of watchers) writeEvent(watcher, article);
  };
  function publishRoot(ts: string): void {
    const root = rootOf(ts);
    if (root) publish(conversationArticle(root, answers.get(ts)?.body));
  }
  function answer(ts: string, message: Ephemeral): void {
    answers.set(ts, message);
    for (const old of answers.keys()) if (!rootOf(old)) answers.delete(old);
    publishRoot(ts);
    onEvent({ kind: "answer", at: clock.now(), text: message.text });
  }

  followPosts(slack, { publishRoot, onEvent, clock });
  slack.events.on("ephemeral", (message) => answer(askedAt, message));

  return {
    watchers,
    receiveMail(mail: CaughtMail): void {
      lastMail += 1;
      const stored = { id: lastMail, receivedAt: clock.now(), mail };
      if (mails.push(stored) > MAX_MESSAGES) mails.shift();
      publish(mailArticle(stored));
      onEvent({ kind: "email", at: stored.receivedAt, mail });
    },
    mail: (id: string) => mails.find((one) => String(one.id) === id),
    /** Oldest first. */
    articles(): Article[] {
      const roots = channel.messages.map((root) => conversationArticle(root, answers.get(root.ts)?.body));
      return [...roots, ...mails.map(mailArticle)].sort((a, b) => a.at - b.at);
    },
    /** Presses a button as "you"; false where that message or button is gone. */
    async press({ ts, action, typed }: z.infer<typeof Press>): Promise<boolean> {
      const root = rootOf(ts);
      const shown = [root, answers.get(ts)?.body].find((one) => one && hasAction(one, action));
      if (!root || !shown) return false;
      askedAt = ts;
      if (answers.delete(ts)) publishRoot(ts);
      const pressed = { ...root, blocks: shown.blocks ?? [] };
      await slack.press(pressed, action, { ...YOU, typed });
      return true;
    },
  };
}

function followPosts(
  slack: SlackStandIn,
  { publishRoot, onEvent, clock }: { clock: Clock; publishRoot(ts: string): void; onEvent(event: InboxEvent): void },
): void {
  /** Roots with a reply since their last edit. */
  const replied = new Set<string>();
  slack.events.on("posted", (message) => {
    if (message.threadTs !== undefined) replied.add(message.threadTs);
    publishRoot(message.threadTs ?? message.ts);
    onEvent({ kind: "post", at: clock.now(), message });
  });
  slack.events.on("edited", (message) => {
    publishRoot(message.ts);
    if (!replied.delete(message.ts)) onEvent({ kind: "edit", at: clock.now(), message });
  });
}

function hasAction(root: Pick<StandInMessage, "blocks">, action: string): boolean {
  return allBlocks(root).some(({ elements }) => elements?.some((one) => one.action_id === action));
}

const Press = z.object({ ts: z.string(), action: z.string(), typed: z.record(z.string(), z.string()) });

function addRoutes(app: FastifyInstance, state: State): void {
  app.removeAllContentTypeParsers();
  // Another site's page cannot send JSON here without asking first, which is refused.
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers({ "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" });
  });
  app.setErrorHandler<{ statusCode?: number }>(({ statusCode = 500 }, _request, reply) =>
    reply.code(statusCode).send("failed\n"),
  );
  app.setNotFoundHandler(({ method }, reply) =>
    method === "GET" || method === "HEAD"
      ? reply.code(404).send("not found\n")
      : reply.code(405).send("only GET, and what the page itself sends\n"),
  );
  app.get("/", (_request, reply) => {
    const nonce = randomBytes(16).toString("base64");
    reply.header("Content-Security-Policy", PAGE_POLICY.replaceAll("NONCE", nonce));
    return reply.type("text/html").send(renderPage(state.articles(), { channel: CHANNEL, nonce }));
  });
  app.get<{ Params: { id: string } }>("/mail/:id", ({ params }, reply) => {
    const stored = state.mail(params.id);
    if (!stored) return reply.callNotFound();
    return reply.header("Content-Security-Policy", MAIL_POLICY).type("text/html").send(renderMail(stored.mail));
  });
  app.get("/events", (_request, reply) => {
    const watcher = new PassThrough().once("close", () => state.watchers.delete(watcher));
    watcher.write("retry: 1000\n\n");
    for (const article of state.articles()) writeEvent(watcher, article);
    state.watchers.add(watcher);
    return reply.type("text/event-stream").send(watcher);
  });
  app.post("/press", async ({ body }, reply) => {
    const asked = Press.safeParse(tryJson(String(body ?? ""))).data;
    if (asked === undefined) return reply.code(400).send("not what the page sends\n");
    try {
      return (await state.press(asked)) ? reply.code(204).send() : reply.code(404).send("That button is gone.\n");
    } catch (thrown) {
      return reply.code(503).send(`lenswatch did not answer: ${toError(thrown).message}\n`);
    }
  });
}

function writeEvent(watcher: PassThrough, { html }: Article): void {
  watcher.write(`data: ${JSON.stringify(html)}\n\n`);
}
