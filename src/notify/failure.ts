/** What all channels do alike when a send goes wrong: deadlines, cancellation, and causes without secrets. */

import { scrub } from "../lib/log.ts";
import { cut, stripControls } from "../lib/text.ts";
import { NotifyError } from "./notifier.ts";

const CAUSE_DEPTH = 4;
const CAUSE_LENGTH = 300;

/**
 * A copy of what was thrown that may be logged: type, message and code of the error and its causes, with every
 * secret blanked out and no other property taken over.
 */
export function safeCause(thrown: unknown, secrets: readonly string[], depth = 0): Error {
  const { name, message, code, cause } = Object(thrown) as Partial<Error> & { code?: unknown };
  const inner = cause !== undefined && depth < CAUSE_DEPTH ? safeCause(cause, secrets, depth + 1) : undefined;
  const copy = new Error(safeText(message ?? String(thrown), secrets), inner ? { cause: inner } : undefined);
  copy.name = safeText(name ?? "Error", secrets);
  copy.stack = `${copy.name}: ${copy.message}`;
  return typeof code === "string" ? Object.assign(copy, { code: safeText(code, secrets) }) : copy;
}

/** One printable line without any of the secrets. */
export function safeText(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length > 0);
  const blanked = known.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
  return cut(stripControls(scrub(blanked)), CAUSE_LENGTH);
}

/** The error of an attempt that was given up: `timeout` past its deadline, `other` when somebody cancelled it. */
export function abortedError(signal: AbortSignal, where: string): NotifyError {
  const late = (signal.reason as Error | undefined)?.name === "TimeoutError";
  return late
    ? new NotifyError(
        "timeout",
        `${where.charAt(0).toUpperCase()}${where.slice(1)} did not answer in time; check that it is up and reachable.`,
        {
          retryable: true,
          scope: "endpoint",
        },
      )
    : new NotifyError(
        "other",
        `The message to ${where} was cancelled before it was accepted; it is sent again.`,
        {
          retryable: true,
          scope: "message",
        },
      );
}

/** The work's value, or the signal's reason as soon as it aborts, whether or not the work obeys it. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Aborts with the given signal, or with a TimeoutError once `timeoutMs` have passed. */
export function withTimeout(signal: AbortSignal, timeoutMs: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
}
