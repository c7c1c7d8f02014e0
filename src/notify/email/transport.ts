/** One pooled SMTP transport; one recipient a message, so a refused address never repeats it to another. */
import nodemailer, { type SendMailOptions } from "nodemailer";
import { unlessAborted, withTimeout } from "../../lib/abort.ts";
import type { Logger } from "../../lib/log.ts";
import { type TlsMaterial, tlsOptions } from "../../lib/tls.ts";
import { mailError } from "./error.ts";

/** The configuration's `smtp`. Port 465 uses TLS from the first byte. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** True: nothing is sent without STARTTLS. False: STARTTLS is used where the server offers it. */
  readonly requireTls: boolean;
  /** Undefined: the system's authorities, no client certificate. */
  readonly tls?: TlsMaterial | undefined;
}

/** A mail to one recipient, the envelope's. Header values are single lines; `messageId` and `references` include `<>`. */
export interface OutgoingMail extends SendMailOptions {
  /** Bare addresses; one recipient per message. */
  readonly envelope: { readonly from: string; readonly to: string };
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  readonly messageId: string;
  readonly references?: string | undefined;
}

export type MailTransport = ReturnType<typeof createMailTransport>;

/**
 * A transport for one mail server: at most `maxConnections` connections, each message bounded by `timeoutMs` (30 s)
 * whatever the server does, nothing retried.
 */
export function createMailTransport(
  smtp: SmtpServer,
  options: { log: Logger; timeoutMs?: number; maxConnections?: number; closeTimeoutMs?: number },
) {
  const { log, timeoutMs = 30_000, closeTimeoutMs = 2_000 } = options;
  const pool = nodemailer.createTransport({
    pool: true,
    host: smtp.host,
    port: smtp.port,
    ...(smtp.username === undefined ? {} : { auth: { user: smtp.username, pass: smtp.password ?? "" } }),
    requireTLS: smtp.requireTls,
    ...(smtp.tls && { tls: tlsOptions(smtp.tls) }),
    maxConnections: options.maxConnections ?? 3,
    // A new connection where the server had closed an idle one: no byte of the message was sent on that.
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
  const inFlight = new Set<Promise<unknown>>();

  /** Resolves once the server has accepted the message for the recipient; throws NotifyError. */
  async function sendMail(mail: OutgoingMail, signal: AbortSignal): Promise<void> {
    const limit = withTimeout(signal, timeoutMs);
    if (limit.aborted) throw mailError(limit.reason, smtp, limit);
    const work = Promise.resolve().then(() => pool.sendMail({ ...mail, signal: limit }));
    inFlight.add(work);
    try {
      await unlessAborted(work, limit);
    } catch (thrown) {
      throw mailError(thrown, smtp, limit);
    } finally {
      inFlight.delete(work);
    }
  }

  /** Messages in flight get a short grace period, then their connections are closed. */
  async function close(): Promise<void> {
    pool.close();
    await unlessAborted(Promise.allSettled(inFlight), AbortSignal.timeout(closeTimeoutMs)).catch(() => undefined);
    pool.close({ force: true });
  }

  return { sendMail, close };
}
