/**
 * A series of whole numbers as a short text: a token for each step, runs of equal tokens as one. A value below 48 takes a
 * character, one below 1,072 two. JSON leaves all of them as they are.
 */
import { HOUR_MS, type Instant, MINUTE_MS } from "../lib/clock.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
/** Values below are one digit; those with two go to `TWO_DIGITS`. */
const ONE_DIGIT = 48;
const TWO_DIGITS = ONE_DIGIT + (DIGITS.length - ONE_DIGIT) * DIGITS.length;
const SHORTEST_RUN = 4;
const LONGEST_RUN = SHORTEST_RUN + DIGITS.length - 1;
/** No time is later. */
const LAST_MS = 8.64e15;
/** By character code. */
const DIGIT_OF = Array.from({ length: 128 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)));
const TOKENS = Array.from({ length: TWO_DIGITS }, (_, value) => {
  const rest = value - ONE_DIGIT;
  if (rest < 0) return DIGITS.charAt(value);
  return DIGITS.charAt(ONE_DIGIT + Math.floor(rest / DIGITS.length)) + DIGITS.charAt(rest % DIGITS.length);
});

interface Series {
  /** Starts of whole minutes, oldest first, none less than a step after the one before. */
  readonly starts: readonly Instant[];
  /** For each start a number from 0, which is rounded; undefined where it is not known. */
  readonly values: readonly (number | undefined)[];
  readonly marks?: readonly boolean[];
  readonly stepMs?: number;
}

export function packSeries({ starts, values, marks, stepMs = HOUR_MS }: Series): string {
  let [next = 0] = starts;
  const step = stepMs === HOUR_MS ? "" : `,${(stepMs / MINUTE_MS).toString(36)}`;
  let text = `${(next / MINUTE_MS).toString(36)}${step};`;
  let last = "";
  let run = 0;
  for (let i = 0; i < starts.length; i++) {
    const at = starts[i] as Instant;
    const token = marks?.[i] ? `'${tokenOf(values[i])}` : tokenOf(values[i]);
    if (at === next && token === last && run < LONGEST_RUN) run++;
    else {
      text += asRun(last, run) + gapOf(at - next, stepMs);
      last = token;
      run = 1;
    }
    next = at + stepMs;
  }
  return text + asRun(last, run);
}

/** Steps without a point, and what clocks were set by where it is a part of a step. */
function gapOf(ms: number, stepMs: number): string {
  if (ms === 0) return "";
  const [steps, rest] = [Math.floor(ms / stepMs), ms % stepMs];
  const full = asRun(" ", LONGEST_RUN).repeat(Math.floor(steps / LONGEST_RUN));
  return `${full}${asRun(" ", steps % LONGEST_RUN)}${rest > 0 ? `^${(rest / MINUTE_MS).toString(36)}.` : ""}`;
}

function tokenOf(value: number | undefined): string {
  if (value === undefined) return "!";
  return TOKENS[value] ?? TOKENS[Math.round(value)] ?? `~${Math.round(value).toString(36)}.`;
}

function asRun(token: string, times: number): string {
  return times < SHORTEST_RUN ? token.repeat(times) : `${token}*${DIGITS.charAt(times - SHORTEST_RUN)}`;
}

/** Gives when the first point is, without reading the others; undefined where there is none. */
export function seriesStart(text: string): Instant | undefined {
  const body = text.indexOf(";") + 1;
  const at = Number.parseInt(text, 36) * MINUTE_MS;
  return body > 0 && body < text.length && Math.abs(at) < LAST_MS ? at : undefined;
}

type Visit = (at: Instant, value: number | undefined, isMarked: boolean) => void;

/** Visits the points that `packSeries` was given. Any other text gives none behind what cannot be read. */
export function unpackSeries(text: string, visit: Visit): void {
  const body = text.indexOf(";") + 1;
  const [first = "", step] = text.slice(0, Math.max(0, body - 1)).split(",");
  const stepMs = step === undefined ? HOUR_MS : Number.parseInt(step, 36) * MINUTE_MS;
  let at = Number.parseInt(first, 36) * MINUTE_MS;
  for (let i = body; i < text.length; ) {
    const isMarked = text[i] === "'";
    const begin = isMarked ? i + 1 : i;
    const token = TOKEN_OF[text.charCodeAt(begin)] ?? readToken(text, begin);
    if (!token) return;
    const end = begin + token.length;
    const isRun = text[end] === "*";
    const times = isRun ? SHORTEST_RUN + digitAt(text, end + 1) : 1;
    for (let n = 0; n < times; n++) {
      if (!(Math.abs(at) < LAST_MS)) return;
      if (token.value !== null) visit(at, token.value, isMarked);
      at += token.shiftMs ?? stepMs;
    }
    i = isRun ? end + 2 : end;
  }
}

/** `value` null is a step without a point. */
type Token = {
  readonly length: number;
  readonly value: number | null | undefined;
  readonly shiftMs: number | undefined;
};

/** Tokens of one character, by its code: most are. */
const TOKEN_OF = DIGIT_OF.map((digit, code): Token | undefined => {
  if (digit >= 0 && digit < ONE_DIGIT) return { length: 1, value: digit, shiftMs: undefined };
  const kind = String.fromCharCode(code);
  if (kind !== " " && kind !== "!") return undefined;
  return { length: 1, value: kind === "!" ? undefined : null, shiftMs: undefined };
});

function readToken(text: string, i: number): Token | undefined {
  const digit = digitAt(text, i);
  if (digit >= ONE_DIGIT) {
    const value = ONE_DIGIT + (digit - ONE_DIGIT) * DIGITS.length + digitAt(text, i + 1);
    return { length: 2, value, shiftMs: undefined };
  }
  const kind = text[i];
  const end = text.indexOf(".", i) + 1;
  const number = Number.parseInt(text.slice(i + 1, end - 1), 36);
  if (end === 0 || !Number.isSafeInteger(number)) return undefined;
  const length = end - i;
  if (kind === "~") return { length, value: number, shiftMs: undefined };
  return kind === "^" ? { length, value: null, shiftMs: number * MINUTE_MS } : undefined;
}

/** -1 where there is none. */
function digitAt(text: string, i: number): number {
  return DIGIT_OF[text.charCodeAt(i)] ?? -1;
}
