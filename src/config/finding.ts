/** A problem before it has a line: what is wrong, at which path of the configuration. */
import type { ProblemKind } from "./problem.ts";

export type Path = readonly (string | number)[];

export interface Finding {
  readonly kind: ProblemKind;
  readonly path: Path;
  readonly found: string;
  readonly expected: string;
  readonly suggestion?: string | undefined;
  /** Where in the text, when the path alone does not say it. */
  readonly offset?: number | undefined;
  /** Point at the key rather than at its value. */
  readonly atKey?: boolean;
}

/** The path as the key of a map: exact, where its text hides what may not be shown. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** `["rules", 2, "for"]` → `rules[2].for`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    const name = showableKey(step) ? step : "(not shown)";
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

const LOOKS_SECRET = /secret|token|passw|credential|api_?key|hooks\.slack|\w:\/\/[^/]*@|[?&]\w+=/i;
const LONG_RANDOM = /[A-Za-z0-9+_-]{20}/;

/** Whether a text may be repeated in a message: short, on one line, and nothing that could be a misplaced secret. */
export function showable(text: string): boolean {
  const long = text.length > 60 || LONG_RANDOM.test(text);
  return !long && !/\p{C}/u.test(text) && !LOOKS_SECRET.test(text);
}

/** The text in quotes, or its length where it may not be shown. */
export function quoted(text: string): string {
  return showable(text) ? JSON.stringify(text) : `a text of ${text.length} characters`;
}

/** The same of a text that was read from environment variables: then they are named instead. */
export function quotedText(text: string, variables: readonly string[]): string {
  if (variables.length === 0) return quoted(text);
  const names = variables.map((name) => `\${${name}}`).join(" and ");
  return text === "" ? `nothing in ${names}` : `a value that does not fit in ${names}`;
}

/** Whether a key may be repeated in a message. Something that does not look like a key could be a value. */
export function showableKey(key: string): boolean {
  return /^[A-Za-z_][\w.-]{0,39}$/.test(key) && (/^[a-z_]+$/.test(key) || showable(key));
}
