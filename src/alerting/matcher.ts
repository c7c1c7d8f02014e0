/**
 * Label matchers in Alertmanager's syntax: `name op value`, op one of = != =~ !~, names and values bare or in
 * double quotes with Go's escapes, several separated by commas, braces around them optional but paired. A missing
 * label is the empty string. Regular expressions are RE2's: linear in time, anchored at both ends.
 */
import { unlessThrown } from "../lib/errors.ts";
import { own } from "../lib/own.ts";
import { quoteGo, unquoteGo } from "./go-string.ts";
import { compilePattern, configuredBudget, type PatternBudget, patternCost, requestBudget } from "./pattern.ts";

export type MatchOperator = "=" | "!=" | "=~" | "!~";

/** A label matcher: a missing label is the empty string, regular expressions are anchored. */
export interface Matcher {
  readonly name: string;
  readonly operator: MatchOperator;
  readonly value: string;
  matches(value: string): boolean;
}

type TokenKind = "open" | "close" | "comma" | "operator" | "text" | "end";

interface Token {
  readonly kind: TokenKind;
  readonly value: string;
  /** The column of its first character, from 1. */
  readonly column: number;
}

const WORDS: Readonly<Record<TokenKind, string>> = {
  open: "{",
  close: "}",
  comma: "a comma",
  operator: "one of = != =~ !~",
  text: "a name or value (bare, or in double quotes)",
  end: "the end",
};

/** One matcher. Throws an Error whose message has the column and what was expected there. */
export function parseMatcher(text: string, budget = configuredBudget()): Matcher {
  const tokens = new Tokens(text);
  const matcher = readMatcher(tokens, budget);
  tokens.take("end");
  return matcher;
}

/** A list of matchers, braces optional; none from an empty text. Throws like `parseMatcher`. */
export function parseMatchers(text: string, budget = configuredBudget()): Matcher[] {
  const tokens = new Tokens(text);
  const braced = tokens.accept("open");
  const closing = braced ? "close" : "end";
  const matchers: Matcher[] = [];
  while (tokens.next.kind !== closing) {
    matchers.push(readMatcher(tokens, budget));
    if (!tokens.accept("comma")) break;
  }
  tokens.take(closing);
  if (braced) tokens.take("end");
  return matchers;
}

/** A matcher from its parts, as silences and the API give them. Throws an Error for a pattern RE2 or the budget refuses. */
export function createMatcher(
  name: string,
  operator: MatchOperator,
  value: string,
  budget = configuredBudget(),
): Matcher {
  return { name, operator, value, matches: predicate(operator, value, budget) };
}

/** The parts of their regular expressions, of which a request may have so many. */
export function matchersCost(matchers: readonly Pick<Matcher, "operator" | "value">[]): number {
  return matchers.reduce((sum, { operator, value }) => sum + (operator.endsWith("~") ? patternCost(value) : 0), 0);
}

/**
 * A matcher that was valid when it was stored; compiled when it is first asked, so that a start waits for none. One that
 * is refused by now matches nothing, so that its silence suppresses nothing.
 */
export function storedMatcher(name: string, operator: MatchOperator, value: string): Matcher {
  let matches: Matcher["matches"] | undefined;
  const ask = (text: string) => {
    matches ??= unlessThrown(() => predicate(operator, value, requestBudget())) ?? (() => false);
    return matches(text);
  };
  return { name, operator, value, matches: ask };
}

/** The text a matcher is parsed from: `severity="warning"`. */
export function formatMatcher({ name, operator, value }: Pick<Matcher, "name" | "operator" | "value">): string {
  return `${/^[a-zA-Z_:][\w:]*$/.test(name) ? name : quoteGo(name)}${operator}${quoteGo(value)}`;
}

/** A matcher as Alertmanager's API has it. */
export function toApiMatcher({ name, operator, value }: Pick<Matcher, "name" | "operator" | "value">) {
  return { name, value, isRegex: operator.endsWith("~"), isEqual: !operator.startsWith("!") };
}

/** The operator of a matcher of Alertmanager's API. */
export function operatorOf({ isRegex, isEqual }: { isRegex: boolean; isEqual: boolean }): MatchOperator {
  if (isRegex) return isEqual ? "=~" : "!~";
  return isEqual ? "=" : "!=";
}

/** True if every matcher agrees; true of an empty list. */
export function matchesAll(
  matchers: readonly Matcher[],
  labels: Readonly<Record<string, string | undefined>>,
): boolean {
  return matchers.every((matcher) => matcher.matches(own(labels, matcher.name) ?? ""));
}

function predicate(operator: MatchOperator, value: string, budget: PatternBudget): (text: string) => boolean {
  if (operator === "=") return (text) => text === value;
  if (operator === "!=") return (text) => text !== value;
  const matches = compilePattern(value, budget);
  return operator === "=~" ? matches : (text) => !matches(text);
}

function readMatcher(tokens: Tokens, budget: PatternBudget): Matcher {
  const name = tokens.take("text");
  if (name.value === "") throw new Error(`column ${name.column}: a label name cannot be empty`);
  const operator = tokens.take("operator").value as MatchOperator;
  const value = tokens.take("text");
  try {
    return createMatcher(name.value, operator, value.value, budget);
  } catch (thrown) {
    throw new Error(`column ${value.column}: ${(thrown as Error).message}`, { cause: thrown });
  }
}

/** One token, or what begins none. Each has one way to match, so reading is linear. */
const TOKEN =
  /(?<open>\{)|(?<close>\})|(?<comma>,)|(?<operator>=~|!=|!~|=)|(?<text>[^\s{}!=~,\\"'`]+)|"(?<quoted>(?:[^"\\]|\\.)*)"|\S/gs;

/** Reads tokens one ahead. */
class Tokens {
  readonly #found: Iterator<RegExpExecArray>;
  readonly #end: Token;
  next: Token;

  constructor(text: string) {
    this.#found = text.matchAll(TOKEN);
    this.#end = { kind: "end", value: "", column: text.length + 1 };
    this.next = this.#read();
  }

  accept(kind: TokenKind): boolean {
    if (this.next.kind !== kind) return false;
    this.take(kind);
    return true;
  }

  take(kind: TokenKind): Token {
    const token = this.next;
    if (token.kind !== kind) {
      const found = token.kind === "end" ? "the end" : quoteGo(token.value);
      throw new Error(`column ${token.column}: expected ${WORDS[kind]}, found ${found}`);
    }
    if (kind !== "end") this.next = this.#read();
    return token;
  }

  #read(): Token {
    const found = this.#found.next();
    return found.done ? this.#end : tokenOf(found.value);
  }
}

function tokenOf({ 0: written, index, groups = {} }: RegExpExecArray): Token {
  const column = index + 1;
  const { quoted, ...plain } = groups;
  const kind = Object.keys(plain).find((name) => plain[name] !== undefined);
  if (kind !== undefined) return { kind: kind as TokenKind, value: written, column };
  if (written === '"') throw new Error(`column ${column}: the closing double quote is missing`);
  if (quoted === undefined) throw new Error(`column ${column}: ${written} must stand inside double quotes`);
  const value = unquoteGo(quoted);
  if (value !== undefined) return { kind: "text", value, column };
  throw new Error(`column ${column}: ${written} has an escape or line break a Go string does not allow`);
}
