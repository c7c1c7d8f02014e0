/** An endpoint that records posts and gives the set answer; over TLS where it gets a key. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { createInbox, type Inbox } from "./inbox.ts";

export interface HttpPost {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** The body as it came. */
  readonly text: string;
  readonly receivedAt: number;
}

export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type HttpAnswer = HttpReply | "hang";

/** One answer for all, `hang` to never answer, or a function of the post and its position (from 0). */
type HttpResponder = HttpAnswer | ((post: HttpPost, position: number) => HttpAnswer | Promise<HttpAnswer>);

export interface HttpSink extends Inbox<HttpPost> {
  /** Without a trailing slash. */
  readonly url: string;
  /** Sets the answer from now on; 200 by default. */
  respond(responder: HttpResponder): void;
  close(): Promise<void>;
}

/** Starts on a free port of 127.0.0.1. */
export async function startHttpSink(tls?: ServerOptions): Promise<HttpSink> {
  const inbox = createInbox<HttpPost>("post");
  let responder: HttpResponder = { status: 200 };

  const serve: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const post = { path: request.url ?? "", headers: request.headers, text, receivedAt: Date.now() };
    const position = inbox.messages.length;
    const answering = typeof responder === "function" ? responder(post, position) : responder;
    inbox.push(post);
    const answer = await answering;
    if (answer === "hang") return;
    response.writeHead(answer.status, answer.headers).end(answer.body ?? "");
  };

  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    ...inbox,
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    respond(next) {
      responder = next;
    },
    async close() {
      inbox.end();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
