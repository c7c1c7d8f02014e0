/** Errors of nodemailer as NotifyError. Codes are nodemailer's (its `errors.js`), replies RFC 5321's. */

import type { NodemailerError } from "nodemailer";
import type { NotifyErrorCode } from "../../alerting/notification.ts";
import { createRedactor } from "../../lib/redact.ts";
import { isTlsFailure } from "../../lib/tls.ts";
import { abortedError, NotifyError, type NotifyErrorOptions, type NotifyErrorScope } from "../notifier.ts";
import type { SmtpServer } from "./transport.ts";

type SmtpFailure = Partial<NodemailerError> & {
  readonly originalCode?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly command?: string | undefined;
};

type Verdict = readonly [
  code: NotifyErrorCode,
  retryable: boolean,
  scope: NotifyErrorScope,
  /** After "The mail server host:port". */
  sentence: string,
];

/** The NotifyError for anything that a send throws; an aborted `signal` is a deadline or a cancellation. */
export function mailError(thrown: unknown, smtp: SmtpServer, signal?: AbortSignal): NotifyError {
  if (thrown instanceof NotifyError) return thrown;
  const server = `The mail server ${smtp.host}:${smtp.port}`;
  if (signal?.aborted) return abortedError(signal, server);
  const [code, retryable, scope, sentence] = judge(Object(thrown) as SmtpFailure);
  const options: NotifyErrorOptions = {
    retryable,
    scope,
    cause: createRedactor(secretsOf(smtp)).error(thrown),
  };
  return new NotifyError(code, `${server} ${sentence}`, options);
}

function judge(failure: SmtpFailure): Verdict {
  const reply = failure.responseCode ?? 0;
  if (failure.code === "ETLS" || isTlsFailure(failure.originalCode ?? failure.code ?? "")) return TLS;
  if (failure.code === "EAUTH" || failure.code === "ENOAUTH")
    return reply >= 400 && reply < 500 ? BUSY : AUTH;
  if (failure.code === "ETIMEDOUT") return TIMEOUT;
  if (failure.code === "EENVELOPE" || failure.code === "EMESSAGE") return refusal(failure, reply);
  if (reply >= 400) return BUSY;
  return NETWORK_CODES.has(failure.code ?? "") ? NETWORK : OTHER;
}

function refusal(failure: SmtpFailure, reply: number): Verdict {
  if (failure.command === "RCPT TO") return reply >= 500 ? RECIPIENT_REFUSED : RECIPIENT_LATER;
  if (failure.command === "API") return RECIPIENT_REFUSED;
  if (reply >= 400 && reply < 500) return BUSY;
  if (failure.command === "MAIL FROM" && reply !== 552) return SENDER_REFUSED;
  return MESSAGE_REFUSED;
}

const NETWORK_CODES: ReadonlySet<string> = new Set(["EDNS", "ECONNECTION", "ESOCKET", "EPROTOCOL", "EPROXY"]);

const NETWORK: Verdict = [
  "network",
  true,
  "endpoint",
  "could not be reached; check smtp.host, smtp.port and the network.",
];
const TLS: Verdict = [
  "network",
  true,
  "endpoint",
  "and lenswatch failed to set up TLS; check its certificate, smtp.tls, smtp.port and smtp.require_tls.",
];
const TIMEOUT: Verdict = [
  "timeout",
  true,
  "endpoint",
  "did not answer in time; check that it is up and reachable.",
];
const AUTH: Verdict = ["auth", true, "endpoint", "refused the login; check smtp.username and smtp.password."];
const SENDER_REFUSED: Verdict = [
  "auth",
  true,
  "endpoint",
  "does not let this sender send; check smtp.from and smtp.username.",
];
const BUSY: Verdict = ["server_error", true, "endpoint", "cannot accept mail for now; it is sent again."];
const RECIPIENT_LATER: Verdict = [
  "server_error",
  true,
  "message",
  "cannot accept mail for this recipient for now; it is sent again.",
];
const RECIPIENT_REFUSED: Verdict = [
  "recipient_refused",
  false,
  "message",
  "refused the recipient; check the address in email_configs or digests.",
];
const MESSAGE_REFUSED: Verdict = [
  "bad_request",
  false,
  "message",
  "refused the message; the cause has its reply.",
];
const OTHER: Verdict = ["other", true, "endpoint", "could not be used; see the cause."];

/** The key, and the password as it goes over the wire: LOGIN sends it in Base64, PLAIN together with the user. */
function secretsOf(smtp: SmtpServer): readonly string[] {
  const { username = "", password, tls } = smtp;
  const keys = tls?.key === undefined ? [] : [tls.key];
  if (password === undefined || password === "") return keys;
  const plain = Buffer.from(`\0${username}\0${password}`).toString("base64");
  return [plain, Buffer.from(password).toString("base64"), password, ...keys];
}
