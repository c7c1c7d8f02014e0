/**
 * The base of every folder's error: a closed set of codes, whether a retry can help, and the cause. Callers switch on
 * `code`, never on `message`; `message` is one sentence with the next step for the reader.
 */
export abstract class CodedError<Code extends string> extends Error {
  readonly code: Code;
  readonly retryable: boolean;

  constructor(code: Code, message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable;
  }
}

/** Any thrown value as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The result of the work; undefined where it throws. */
export function unlessThrown<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
