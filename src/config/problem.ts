/** What is wrong with a configuration, as a colleague would say it: where, what was found, what would be right. */
import { CodedError } from "../lib/errors.ts";

export type ProblemKind = "syntax" | "unknown_key" | "environment" | "secret" | "value" | "conflict";

/** One problem. No text in it ever holds the value of a secret or of an environment variable. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Of the key, as in `rules[2].for`; empty for the file as a whole. */
  readonly path: string;
  readonly found: string;
  readonly expected: string;
  readonly suggestion?: string;
}

/** `lenswatch.yaml:12:5: rules[2].for: found "2x", expected a duration such as 30s or 1h30m; did you mean 2s?` */
export function formatProblem(problem: Problem): string {
  const where = `${problem.file}:${problem.line}:${problem.column}: `;
  const path = problem.path === "" ? "" : `${problem.path}: `;
  const hint = problem.suggestion === undefined ? "" : `; did you mean ${problem.suggestion}?`;
  return `${where}${path}found ${problem.found}, expected ${problem.expected}${hint}`;
}

export type ConfigErrorCode = "not_found" | "unreadable" | "invalid";

/** A configuration that cannot be used; `problems` is empty unless the code is `invalid`. Never retryable. */
export class ConfigError extends CodedError<ConfigErrorCode> {
  readonly problems: readonly Problem[];

  constructor(
    code: ConfigErrorCode,
    message: string,
    options: { problems?: readonly Problem[]; cause?: unknown } = {},
  ) {
    super(code, message, { retryable: false, cause: options.cause });
    this.problems = options.problems ?? [];
  }
}
