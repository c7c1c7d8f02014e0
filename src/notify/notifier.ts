/** What every channel offers, and the one way it fails. */

import { createHash } from "node:crypto";
import type { Notification, NotifyErrorCode } from "../alerting/notification.ts";
import { CodedError } from "../lib/errors.ts";

export interface SendOptions {
  /** Ends the attempt: rejects with `timeout` where its reason is a TimeoutError, with `other` where it is not. */
  readonly signal: AbortSignal;
  /** Text alone, without blocks or HTML: the second try after a `bad_request`. */
  readonly plain?: boolean;
}

export interface Notifier {
  /** Resolves once the endpoint has accepted the message; throws NotifyError. Never tries again by itself. */
  send(notification: Notification, options: SendOptions): Promise<void>;
  /** Lets what is under way finish for a moment, then cuts it off; bounded, and harmless when repeated. */
  close(): Promise<void>;
}

/**
 * Whose fault it is. `endpoint`: nothing gets through there now, so everything that uses it waits. `message`: the
 * endpoint works, this message or this recipient alone was refused.
 */
export type NotifyErrorScope = "endpoint" | "message";

export interface NotifyErrorOptions {
  /** False: the same message to the same recipient would be refused again. */
  readonly retryable: boolean;
  readonly scope: NotifyErrorScope;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Why a message did not get out. Message and causes hold neither webhook URLs nor passwords. */
export class NotifyError extends CodedError<NotifyErrorCode> {
  /** What the endpoint asked for in `Retry-After`, ms. */
  readonly retryAfterMs: number | undefined;
  readonly scope: NotifyErrorScope;

  constructor(code: NotifyErrorCode, message: string, options: NotifyErrorOptions) {
    super(code, message, options);
    this.retryAfterMs = options.retryAfterMs;
    this.scope = options.scope;
  }
}

/**
 * Names an endpoint without giving it away: 16 hex digits of a hash of the webhook URL, or of `smtp://host:port`.
 * Two integrations with the same endpoint share its pace and its back-off.
 */
export function endpointOf(url: string): string {
  const normal = URL.canParse(url) ? new URL(url).href : url;
  return createHash("sha256").update(normal).digest("hex").slice(0, 16);
}

/** The URL an SMTP server is known by, for `endpointOf`. */
export function smtpUrl(smtp: { readonly host: string; readonly port: number }): string {
  return `smtp://${smtp.host.toLowerCase()}:${smtp.port}`;
}
