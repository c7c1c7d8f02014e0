/**
 * Regular expressions of matchers: RE2's, anchored at both ends, linear in time. RE2 writes `x{1000}` out a thousand
 * times, and matching takes a step for each part and character, so their size is bounded before they are compiled.
 */
import { RE2JS } from "re2js";
import { quoteGo } from "./go-string.ts";

/** The size that the patterns of one request, or of one text of the configuration, may still have. */
export type PatternBudget = { left: number };

/** 500 parts over a text of 1,024 characters, the longest label that clients can send, match in about 20 ms. */
export const requestBudget = (): PatternBudget => ({ left: 500 });
export const configuredBudget = (): PatternBudget => ({ left: 2_500 });

const LONGEST_PATTERN = 4_096;
/** The answers that are stored cost as much as this many parts. */
const BASE = 20;
/** A class of Unicode is a table; a range that ignores case is built from each of its characters. */
const TABLE = 10;
const FOLDED_RANGE = 100;
const CHARACTERS_PER_PART = 16;

const TOKEN =
  /\\Q(?<quoted>.*?)(?:\\E|$)|(?<flags>\(\?[a-zA-Z-]*\))|(?<table>\\[pP](?:\{[^}]*\}|.)?)|\\x\{[^}]*\}|\\.?|(?<set>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\\\]])*\]?)|\{(?<min>\d+)(?:,(?<max>\d*))?\}|\(\?:|./gsu;

/** At least as many parts as RE2 compiles the pattern to. 0 of mere texts: `a|b`. */
export function patternCost(pattern: string): number {
  if (textsOf(pattern)) return 0;
  const foldsCase = /\(\?[a-zA-Z]*i/.test(pattern);
  const outer: number[] = [];
  let sum = BASE;
  let last = 0;
  for (const { 0: token, groups = {} } of pattern.matchAll(TOKEN)) {
    if (token === "(" || token === "(?:") {
      outer.push(sum);
      sum = 0;
    } else if (token === ")") {
      last = sum + 2;
      sum = (outer.pop() ?? 0) + last;
    } else if (groups.quoted !== "" && groups.flags === undefined) {
      // A repetition passes over what is empty before it.
      last = tokenCost(token, groups, last);
      sum += last + (foldsCase ? foldingCost(groups.set) : 0);
    }
  }
  return outer.reduce((all, one) => all + one, sum);
}

function tokenCost(token: string, groups: Partial<Record<string, string>>, repeated: number): number {
  const { quoted, table, set, min, max } = groups;
  if (min !== undefined) return (repeated + 1) * Number(max || Number(min) + 1) - repeated;
  if (set !== undefined) {
    const tables = set.match(/\\[pP]/g)?.length ?? 0;
    return 1 + Math.floor(set.length / CHARACTERS_PER_PART) + tables * TABLE;
  }
  if (table !== undefined) return TABLE;
  if (quoted !== undefined) return quoted.length;
  return "*+?".includes(token) ? 2 : 1;
}

/** The cost of building a set that ignores case, once however often it is repeated. */
function foldingCost(set = ""): number {
  return /[^ -~]|\\[x0-7]/.test(set) ? (set.split("-").length - 1) * FOLDED_RANGE : 0;
}

/** The texts of `a|b`, which need no regular expression. */
function textsOf(pattern: string): ReadonlySet<string> | undefined {
  return /[\\.+*?()[\]{}^$]/.test(pattern) ? undefined : new Set(pattern.split("|"));
}

/** Takes the pattern's parts from the budget. Throws an Error where they are too many, or RE2 refuses the pattern. */
export function compilePattern(pattern: string, budget: PatternBudget): (text: string) => boolean {
  if (pattern.length > LONGEST_PATTERN) {
    throw new Error(`the regular expression is longer than ${LONGEST_PATTERN} characters; write a shorter one`);
  }
  const cost = patternCost(pattern);
  if (cost > budget.left) throw tooLarge(pattern);
  budget.left -= cost;
  const texts = textsOf(pattern);
  if (texts) return (text) => texts.has(text);
  const compiled = compileRe2(pattern);
  if (compiled.programSize() > cost) throw tooLarge(pattern);
  // `testExact` would build tables of up to 8 MB; with groups, it searches in memory that is used again.
  return cached((text) => compiled.matcher(text).matches());
}

function tooLarge(pattern: string): Error {
  const shown = quoteGo(pattern.length > 60 ? `${pattern.slice(0, 60)}…` : pattern);
  return new Error(`${shown} makes the regular expressions too large: repeat less, or name fewer alternatives`);
}

function compileRe2(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.replace(/^error parsing regexp: /, "") : "unreadable";
    throw new Error(`${quoteGo(pattern)} is not a regular expression RE2 understands: ${why}`, { cause: thrown });
  }
}

/** Labels have few values, and matching a pattern costs a hundred times a look-up. */
const CACHED_CHARACTERS = 50_000;
const ENTRY_CHARACTERS = 20;

function cached(ask: (text: string) => boolean): (text: string) => boolean {
  const answers = new Map<string, boolean>();
  let characters = 0;
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) return known;
    const answer = ask(text);
    characters += text.length + ENTRY_CHARACTERS;
    if (characters > CACHED_CHARACTERS) {
      answers.clear();
      characters = text.length + ENTRY_CHARACTERS;
    }
    answers.set(text, answer);
    return answer;
  };
}
