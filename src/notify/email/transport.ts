/**
 * One pooled SMTP transport, shared by alerts and digests. A message has exactly one envelope recipient, so
 * that a refused address never makes the message go twice to another.
 */
import nodemailer, { type SendMailOptions } from "nodemailer";
import { unlessAborted, withTimeout } from "../../lib/abort.ts";
import type { Logger } from "../../lib/log.ts";
import { type TlsMaterial, tlsOptions } from "../../lib/tls.ts";
import { mailError } from "./error.ts";

/** The mail server, as `smtp:` of the configuration has it. Port 465 speaks TLS from the first byte. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** True: without STARTTLS nothing is sent. False: STARTTLS is used where the server offers it. */
  readonly requireTls: boolean;
  /** Certificates of one's own; undefined: the system's authorities, and none of ours. */
  readonly tls?: TlsMaterial | undefined;
}

/** A message as it leaves. Header values are single lines; `messageId` and `references` carry their `<>`. */
export interface OutgoingMail {
  /** `Name <address>` or an address, as shown. */
  readonly from: string;
  /** As shown in To:; who gets it is the envelope's business. */
  readonly to: readonly string[];
  /** Bare addresses; one recipient per message. */
  readonly envelope: { readonly from: string; readonly to: string };
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly messageId: string;
  /** The thread: given as References and as In-Reply-To. */
  readonly references?: string | undefined;
  readonly attachments?:
    | readonly {
        readonly filename: string;
        readonly content: string | Buffer;
        readonly contentType: string;
      }[]
    | undefined;
}

export interface MailTransport {
  /** Resolves once the server has accepted the message for the recipient; throws NotifyError. */
  sendMail(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  /** Messages under way get a moment to finish, then their connections are cut. */
  close(): Promise<void>;
}

/**
 * A transport for one mail server: at most `maxConnections` connections, each message bounded by `timeoutMs` (30 s)
 * whatever the server does, nothing tried again by itself.
 */
export function createMailTransport(
  smtp: SmtpServer,
  options: { log: Logger; timeoutMs?: number; maxConnections?: number; closeTimeoutMs?: number },
): MailTransport {
  const { log, timeoutMs = 30_000, closeTimeoutMs = 2_000 } = options;
  const pool = nodemailer.createTransport({
    pool: true,
    host: smtp.host,
    port: smtp.port,
    ...(smtp.username === undefined ? {} : { auth: { user: smtp.username, pass: smtp.password ?? "" } }),
    requireTLS: smtp.requireTls,
    ...(smtp.tls && { tls: tlsOptions(smtp.tls) }),
    maxConnections: options.maxConnections ?? 3,
    // One other connection when the server had dropped an idle one: then not a byte of the message was sent.
    maxRequeues: 1,
    idleTimeout: 30_000,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  pool.on("error", (error) => log.debug({ err: mailError(error, smtp) }, "mail connection failed"));
  const underWay = new Set<Promise<unknown>>();

  async function sendMail(mail: OutgoingMail, signal: AbortSignal): Promise<void> {
    const limit = withTimeout(signal, timeoutMs);
    if (limit.aborted) throw mailError(limit.reason, smtp, limit);
    const work = Promise.resolve().then(() => pool.sendMail({ ...toNodemailer(mail), signal: limit }));
    underWay.add(work);
    try {
      await unlessAborted(work, limit);
    } catch (thrown) {
      throw mailError(thrown, smtp, limit);
    } finally {
      underWay.delete(work);
    }
  }

  async function close(): Promise<void> {
    pool.close();
    await unlessAborted(Promise.allSettled(underWay), AbortSignal.timeout(closeTimeoutMs)).catch(
      () => undefined,
    );
    pool.close({ force: true });
  }

  return { sendMail, close };
}

function toNodemailer(mail: OutgoingMail): SendMailOptions {
  return {
    from: mail.from,
    to: [...mail.to],
    envelope: { from: mail.envelope.from, to: [mail.envelope.to] },
    subject: mail.subject,
    text: mail.text,
    ...(mail.html === undefined ? {} : { html: mail.html }),
    headers: { ...mail.headers },
    messageId: mail.messageId,
    ...(mail.references === undefined ? {} : { references: mail.references, inReplyTo: mail.references }),
    ...(mail.attachments === undefined ? {} : { attachments: [...mail.attachments] }),
  };
}
