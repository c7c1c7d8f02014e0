/** The interface of every channel, and its one error. */
import { createHash } from "node:crypto";
import type { Document } from "../alerting/document.ts";
import type {
  Conversation,
  FoundPost,
  Notification,
  NotifyErrorCode,
  NotifyErrorScope,
  Posted,
} from "../alerting/model.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { CodedError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";

/** The options of every channel. */
export interface ChannelOptions {
  /** Longest send, ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly clock?: Clock | undefined;
}

interface SendOptions {
  /** Ends the attempt: rejects with `timeout` where its reason is a TimeoutError, with `other` where it is not. */
  readonly signal: AbortSignal;
  /** Text alone, without blocks or HTML: the second try after a `bad_request`. */
  readonly plain?: boolean;
}

export interface Notifier {
  /** Resolves once the endpoint has accepted the message; throws NotifyError. Never retries by itself. */
  send(notification: Notification, options: SendOptions): Promise<Posted | undefined>;
  /** Posts what is no notification, such as a handover: a message of its own. Throws NotifyError. */
  post?(document: Document, options: Pick<SendOptions, "signal">): Promise<void>;
  /**
   * The posts of a conversation since then, oldest first: asked where it is unknown whether a message was accepted. Undefined: the
   * channel does not let it look.
   */
  find?(
    conversation: Pick<Conversation, "id" | "handle">,
    since: Instant,
    options: Pick<SendOptions, "signal">,
  ): Promise<readonly FoundPost[] | undefined>;
  /** The parts of its configuration that do not work though messages are accepted, as sentences; sends nothing. */
  diagnose?(options: Pick<SendOptions, "signal">): Promise<readonly string[]>;
  /** Ends what is in flight, after a short grace period at most; may be called again. */
  close(): Promise<void>;
}

interface NotifyErrorOptions {
  /** False: the same message to the same recipient would be refused again. */
  readonly retryable: boolean;
  readonly scope: NotifyErrorScope;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Why a notification was not accepted. Message and causes have no webhook URLs and no passwords. */
export class NotifyError extends CodedError<NotifyErrorCode> {
  /** Wait that the endpoint asks for in `Retry-After`, ms. */
  readonly retryAfterMs: number | undefined;
  readonly scope: NotifyErrorScope;

  constructor(code: NotifyErrorCode, message: string, options: NotifyErrorOptions) {
    super(code, message, options);
    this.retryAfterMs = options.retryAfterMs;
    this.scope = options.scope;
  }
}

/** The error of an aborted attempt: `timeout` past its deadline, `other` when it was cancelled. */
export function abortedError(signal: AbortSignal, name: string): NotifyError {
  if ((signal.reason as Error | undefined)?.name === "TimeoutError") {
    const message = `${name} did not answer in time: check that it is up and reachable.`;
    return new NotifyError("timeout", message, { retryable: true, scope: "endpoint" });
  }
  const message = `The notification was cancelled before ${name} accepted it; it is sent again.`;
  return new NotifyError("other", message, { retryable: true, scope: "message" });
}

/**
 * An endpoint without its secrets: 16 hex digits of a hash of the webhook URL, or of `smtp://host:port`. Integrations
 * with the same endpoint share its pace and its backoff.
 */
export function endpointHash(url: string): string {
  const normal = URL.canParse(url) ? new URL(url).href : url;
  return createHash("sha256").update(normal).digest("hex").slice(0, 16);
}
