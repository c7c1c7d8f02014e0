/** Problems of a configuration: position in the file, key path, what was found and what is expected. */
import { CodedError } from "../lib/errors.ts";

type ConfigProblemKind = "syntax" | "unknown_key" | "environment" | "secret" | "value" | "conflict";

/** One problem. No text in it contains the value of a secret or of an environment variable. */
export interface ConfigProblem {
  readonly kind: ConfigProblemKind;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The key, as in `rules[2].for`; empty for the file as a whole. */
  readonly path: string;
  readonly found: string;
  readonly expected: string;
  readonly suggestion?: string;
}

/** `lenswatch.yaml:12:5: rules[2].for: found "2x", expected a duration such as 30s or 1h30m; did you mean 2s?` */
export function formatProblem(problem: ConfigProblem): string {
  const where = `${problem.file}:${problem.line}:${problem.column}: `;
  const path = problem.path === "" ? "" : `${problem.path}: `;
  const hint = problem.suggestion === undefined ? "" : `; did you mean ${problem.suggestion}?`;
  return `${where}${path}found ${problem.found}, expected ${problem.expected}${hint}`;
}

export type ConfigErrorCode = "not_found" | "unreadable" | "invalid";

/** A configuration that cannot be used; `problems` is empty unless the code is `invalid`. Never retryable. */
export class ConfigError extends CodedError<ConfigErrorCode> {
  readonly problems: readonly ConfigProblem[];

  constructor(code: ConfigErrorCode, message: string, more: { problems?: readonly ConfigProblem[]; cause?: unknown }) {
    super(code, message, { retryable: false, cause: more.cause });
    this.problems = more.problems ?? [];
  }
}

/** The place of a value in the file. */
export interface Position {
  readonly keyOffset: number | undefined;
  readonly offset: number;
  readonly isNothing: boolean;
  /** Environment variables the text was read from: then it is never shown. */
  readonly variables: readonly string[];
}

export interface Positions {
  /** By `pathKey`. */
  readonly positions: Map<string, Position>;
  /** Line and column of an offset, from 1. */
  position(offset: number): { line: number; column: number };
}

export type Path = readonly (string | number)[];

/** A problem before its position in the file is known. */
export interface Finding extends Pick<ConfigProblem, "kind" | "found" | "expected"> {
  readonly path: Path;
  readonly suggestion?: string | undefined;
  /** The position in the text where the path does not determine it. */
  readonly offset?: number | undefined;
  /** The position is that of the key, not of its value. */
  readonly atKey?: boolean;
}

/** A value that is valid and probably not intended. */
export function warning(path: Path, found: string, expected: string): Finding {
  return { kind: "value", path, found, expected };
}

/** Problems in the order of the file. `secrets` are the values of secret keys: they are masked in every text. */
export function toProblems(
  findings: readonly Finding[],
  document: Positions,
  { file, secrets }: { file: string; secrets: readonly string[] },
): ConfigProblem[] {
  const masked = (text: string) =>
    secrets.reduce((rest, secret) => (secret.length < 4 ? rest : rest.replaceAll(secret, "[secret]")), text);
  const problems = firstPerPath(findings).map(
    ({ kind, path, found, expected, suggestion, offset, atKey }): ConfigProblem => ({
      kind,
      file,
      ...document.position(offset ?? offsetOf(document, path, atKey)),
      path: masked(pathText(path)),
      found: masked(found),
      expected: masked(expected),
      ...(suggestion === undefined ? {} : { suggestion: masked(suggestion) }),
    }),
  );
  return problems.sort((a, b) => a.line - b.line || a.column - b.column);
}

/** The offset of the value at a path, or of its key; where the file lacks it, of the nearest parent's key. */
export function offsetOf({ positions }: Pick<Positions, "positions">, path: Path, atKey = false): number {
  const at = positions.get(pathKey(path));
  if (at) return atKey || at.isNothing ? (at.keyOffset ?? at.offset) : at.offset;
  for (let length = path.length - 1; length >= 0; length -= 1) {
    const parent = positions.get(pathKey(path.slice(0, length)));
    if (parent) return parent.keyOffset ?? parent.offset;
  }
  return 0;
}

/** One finding per path, the cause before its consequences. */
function firstPerPath(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  const unread = new Set<string>();
  return findings.filter((finding) => {
    if (finding.path.length === 0 || finding.offset !== undefined) return true;
    const path = pathKey(finding.path);
    if (seen.has(path) || finding.path.some((_, end) => unread.has(pathKey(finding.path.slice(0, end))))) return false;
    seen.add(path);
    if (finding.kind === "environment" || finding.kind === "secret") unread.add(path);
    return true;
  });
}

/** The path as the key of a map: exact, while `pathText` hides what must not be shown. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** `["rules", 2, "for"]` → `rules[2].for`. */
function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    const name = showableKey(step) ? step : "(not shown)";
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

const LOOKS_SECRET = /secret|token|passw|credential|api_?key|hooks\.slack|xox[a-z]-|xapp-|\w:\/\/[^/]*@|[?&]\w+=/i;
const LONG_RANDOM = /[A-Za-z0-9+_-]{20}/;

/** A message may quote a text: it is short, on one line, and cannot be a misplaced secret. */
export function showable(text: string): boolean {
  const long = text.length > 60 || LONG_RANDOM.test(text);
  return !long && !/\p{C}/u.test(text) && !LOOKS_SECRET.test(text);
}

/** The text in quotes, or its length where it must not be shown; the variables' names where it was read from some. */
export function quoted(text: string, variables: readonly string[] = []): string {
  if (variables.length === 0) return showable(text) ? JSON.stringify(text) : `a text of ${text.length} characters`;
  const names = variables.map((name) => `\${${name}}`).join(" and ");
  return text === "" ? `nothing in ${names}` : `an invalid value in ${names}`;
}

/** A message may quote a key: something that does not look like a key could be a value. */
export function showableKey(key: string): boolean {
  return /^[A-Za-z_][\w.-]{0,39}$/.test(key) && (/^[a-z_]+$/.test(key) || showable(key));
}
