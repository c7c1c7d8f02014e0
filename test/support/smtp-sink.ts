/** A mail server that parses and records messages, and refuses as set. */

import type { AddressInfo } from "node:net";
import type { TlsOptions } from "node:tls";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerError } from "smtp-server";
import { createInbox, type Inbox } from "./inbox.ts";
import { START_TITLE } from "./slack-sink.ts";

interface MailMessage {
  /** The envelope's sender. */
  readonly from: string;
  /** The envelope's recipients. */
  readonly rcpts: readonly string[];
  readonly subject: string;
  /** By lower-case name, unfolded; of several, the last. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names of all headers as they came, repetitions included. */
  readonly headerNames: readonly string[];
  readonly text: string;
  readonly html: string | undefined;
  readonly attachments: Email["attachments"];
  /** The message as it came over the wire. */
  readonly raw: string;
  readonly receivedAt: number;
}

/** A reply by its code, or `hang` to never reply. */
type SmtpReply = { readonly code: number; readonly message?: string } | "hang";

export interface SmtpResponses {
  /** By recipient; `*` for all others. */
  readonly rcpt?: Readonly<Record<string, SmtpReply>>;
  readonly mailFrom?: SmtpReply;
  /** After the whole message has come in, which is then not kept. */
  readonly data?: SmtpReply;
  /** Instead of the greeting. */
  readonly connect?: SmtpReply;
  readonly auth?: SmtpReply;
}

export interface SmtpSink extends Inbox<MailMessage> {
  readonly host: string;
  readonly port: number;
  /** Summaries of cold starts, separate from the rest. */
  readonly starts: Inbox<MailMessage>;
  /** Connections opened so far. */
  readonly connections: number;
  /** Attempts to log in so far. */
  readonly logins: number;
  /** Replaces all earlier responses; `{}` accepts everything. */
  respond(responses: SmtpResponses): void;
  close(): Promise<void>;
}

/**
 * Starts on a free port of `host` (127.0.0.1), without TLS unless `tls` gives it (`{}`: a certificate nobody
 * trusts). With `login`, AUTH is asked for and only that user gets in.
 */
export async function startSmtpSink(
  options: { host?: string; tls?: TlsOptions; login?: { username: string; password: string } } = {},
): Promise<SmtpSink> {
  const { host = "127.0.0.1", tls, login } = options;
  const inbox = createInbox<MailMessage>("mail");
  const starts = createInbox<MailMessage>("summary by mail");
  let responses: SmtpResponses = {};
  let connections = 0;
  let logins = 0;

  const server = new SMTPServer({
    ...tls,
    logger: false,
    disableReverseLookup: true,
    disabledCommands: [...(tls ? [] : ["STARTTLS"]), ...(login ? [] : ["AUTH"])],
    authOptional: login === undefined,
    allowInsecureAuth: true,
    closeTimeout: 50,
    onConnect(_session, callback) {
      connections += 1;
      reply(responses.connect, callback);
    },
    onAuth(auth, _session, callback) {
      logins += 1;
      if (responses.auth) return reply(responses.auth, (error) => callback(error ?? null));
      const known = auth.username === login?.username && auth.password === login?.password;
      callback(known ? null : refusal({ code: 535, message: "Authentication failed" }), { user: auth.username });
    },
    onMailFrom: (_address, _session, callback) => reply(responses.mailFrom, callback),
    onRcptTo: ({ address }, _session, callback) => reply(responses.rcpt?.[address] ?? responses.rcpt?.["*"], callback),
    onData(stream, session, callback) {
      read(stream)
        .then(async (raw) => {
          if (responses.data) return reply(responses.data, callback);
          const { mailFrom, rcptTo } = session.envelope;
          const rcpts = rcptTo.map(({ address }) => address);
          const message = await parse(raw, { from: mailFrom ? mailFrom.address : "", rcpts });
          (message.subject.includes(START_TITLE) ? starts : inbox).push(message);
          callback(null);
        })
        .catch(callback);
    },
  });
  // Some tests have clients that disconnect in the middle.
  server.on("error", () => undefined);
  const listening = server.listen(0, host);
  await new Promise<void>((resolve, reject) => {
    listening.once("listening", resolve);
    listening.once("error", reject);
  });

  return {
    ...inbox,
    starts,
    host,
    port: (listening.address() as AddressInfo).port,
    get logins() {
      return logins;
    },
    get connections() {
      return connections;
    },
    respond(next) {
      responses = next;
    },
    async close() {
      inbox.end();
      starts.end();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function reply(wanted: SmtpReply | undefined, callback: (error?: Error | null) => void): void {
  if (wanted === "hang") return;
  callback(wanted === undefined ? null : refusal(wanted));
}

function refusal({ code, message = "refused" }: Exclude<SmtpReply, "hang">): SMTPServerError {
  return Object.assign(new Error(message), { responseCode: code });
}

async function read(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function parse(raw: Buffer, envelope: { from: string; rcpts: string[] }): Promise<MailMessage> {
  const email = await PostalMime.parse(raw);
  return {
    ...envelope,
    subject: email.subject ?? "",
    headers: Object.fromEntries(email.headers.map(({ key, value }) => [key, value])),
    headerNames: email.headers.map(({ originalKey }) => originalKey),
    text: email.text ?? "",
    html: email.html,
    attachments: email.attachments,
    raw: raw.toString("utf8"),
    receivedAt: Date.now(),
  };
}
