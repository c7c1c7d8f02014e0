/** One pooled SMTP transport; one recipient a message, so a refused address never repeats it to another. */
import nodemailer, { type NodemailerError, type SendMailOptions } from "nodemailer";
import type { NotifyErrorCode, NotifyErrorScope } from "../../alerting/model.ts";
import { unlessAborted, withTimeout } from "../../lib/abort.ts";
import type { Logger } from "../../lib/log.ts";
import { createRedactor } from "../../lib/redact.ts";
import { isTlsFailure, type TlsMaterial, tlsOptions } from "../../lib/tls.ts";
import { abortedError, NotifyError } from "../notifier.ts";

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

/** Errors of nodemailer: its codes (its `errors.js`), and replies of RFC 5321. */
type SmtpFailure = Partial<NodemailerError> & {
  readonly originalCode?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly command?: string | undefined;
};

/** `sentence`: after "The mail server host:port". */
type MailVerdict = Readonly<{ code: NotifyErrorCode; retryable: boolean; scope: NotifyErrorScope; sentence: string }>;

/** The NotifyError for anything that a send throws; an aborted `signal` is a deadline or a cancellation. */
function mailError(thrown: unknown, smtp: SmtpServer, signal?: AbortSignal): NotifyError {
  if (thrown instanceof NotifyError) return thrown;
  const server = `The mail server ${smtp.host}:${smtp.port}`;
  if (signal?.aborted) return abortedError(signal, server);
  const { code, retryable, scope, sentence } = verdictOf(Object(thrown) as SmtpFailure);
  const cause = createRedactor(secretsOf(smtp)).error(thrown);
  return new NotifyError(code, `${server} ${sentence}`, { retryable, scope, cause });
}

function verdictOf(failure: SmtpFailure): MailVerdict {
  const reply = failure.responseCode ?? 0;
  if (failure.code === "ETLS" || isTlsFailure(failure.originalCode ?? failure.code ?? "")) return verdicts.tls;
  if (failure.code === "EAUTH" || failure.code === "ENOAUTH")
    return reply >= 400 && reply < 500 ? verdicts.busy : verdicts.auth;
  if (failure.code === "ETIMEDOUT") return verdicts.timeout;
  if (failure.code === "EENVELOPE" || failure.code === "EMESSAGE") return refusal(failure, reply);
  if (reply >= 400) return verdicts.busy;
  return NETWORK_CODES.has(failure.code ?? "") ? verdicts.network : verdicts.other;
}

function refusal(failure: SmtpFailure, reply: number): MailVerdict {
  if (failure.command === "RCPT TO") return reply >= 500 ? verdicts.recipientRefused : verdicts.recipientBusy;
  if (failure.command === "API") return verdicts.recipientRefused;
  if (reply >= 400 && reply < 500) return verdicts.busy;
  if (failure.command === "MAIL FROM" && reply !== 552) return verdicts.senderRefused;
  return verdicts.messageRefused;
}

const NETWORK_CODES: ReadonlySet<string> = new Set(["EDNS", "ECONNECTION", "ESOCKET", "EPROTOCOL", "EPROXY"]);

const verdicts = {
  network: transient("network", "could not be reached: check smtp.host, smtp.port and the network."),
  tls: transient(
    "network",
    "and lenswatch failed to set up TLS: check its certificate, smtp.tls, smtp.port and smtp.require_tls.",
  ),
  timeout: transient("timeout", "did not answer in time: check that it is up and reachable."),
  auth: transient("auth", "refused the login: check smtp.username and smtp.password."),
  senderRefused: transient("auth", "refused the sender: check smtp.from and smtp.username."),
  busy: transient("server_error", "cannot accept mail for now; it is sent again."),
  recipientBusy: {
    ...transient("server_error", "cannot accept mail for this recipient for now; it is sent again."),
    scope: "message",
  },
  recipientRefused: permanent(
    "recipient_refused",
    "refused the recipient: check the address in email_configs or digests.",
  ),
  messageRefused: permanent("bad_request", "refused the message: see its reply in the cause."),
  other: transient("other", "could not be used: see the cause."),
} as const satisfies Record<string, MailVerdict>;

function transient(code: NotifyErrorCode, sentence: string): MailVerdict {
  return { code, retryable: true, scope: "endpoint", sentence };
}

function permanent(code: NotifyErrorCode, sentence: string): MailVerdict {
  return { code, retryable: false, scope: "message", sentence };
}

/** The key, and the password as it goes over the wire: LOGIN sends it in Base64, PLAIN together with the user. */
function secretsOf(smtp: SmtpServer): readonly string[] {
  const { username = "", password = "", tls } = smtp;
  const plain = [`\0${username}\0${password}`, password].map((text) => Buffer.from(text).toString("base64"));
  return [...(password === "" ? [] : plain), password, tls?.key ?? ""];
}
