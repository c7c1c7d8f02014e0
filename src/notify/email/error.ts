/** Errors of nodemailer as NotifyError. Codes are nodemailer's (its `errors.js`), replies RFC 5321's. */
import type { NodemailerError } from "nodemailer";
import type { NotifyErrorCode, NotifyErrorScope } from "../../alerting/notification.ts";
import { createRedactor } from "../../lib/redact.ts";
import { isTlsFailure } from "../../lib/tls.ts";
import { abortedError, NotifyError } from "../notifier.ts";
import type { SmtpServer } from "./transport.ts";

type SmtpFailure = Partial<NodemailerError> & {
  readonly originalCode?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly command?: string | undefined;
};

/** `sentence`: after "The mail server host:port". */
type MailVerdict = Readonly<{ code: NotifyErrorCode; retryable: boolean; scope: NotifyErrorScope; sentence: string }>;

/** The NotifyError for anything that a send throws; an aborted `signal` is a deadline or a cancellation. */
export function mailError(thrown: unknown, smtp: SmtpServer, signal?: AbortSignal): NotifyError {
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
