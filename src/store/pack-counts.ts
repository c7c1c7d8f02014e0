/**
 * Counts as short texts: a token for each hour, runs of equal tokens as one. Eight weeks of a location take about a
 * kilobyte.
 */
import type { CountSeries } from "../counts/series.ts";
import { HOUR_MS, type Instant } from "../lib/clock.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
const MINUTE_MS = 60_000;
/** Counts below are one digit; those with two go to `TWO_DIGITS`. */
const ONE_DIGIT = 48;
const TWO_DIGITS = ONE_DIGIT + (DIGITS.length - ONE_DIGIT) * DIGITS.length;
const SHORTEST_RUN = 4;
const LONGEST_RUN = SHORTEST_RUN + DIGITS.length - 1;
const TOKEN = /(\^[0-9a-z]+\.|'?(?:[ !]|~[0-9a-z]+\.|[m-z_-].|[0-9A-Za-l]))(?:\*(.))?/gs;

/** Whole numbers from 0 by the start of their hour; `early`: hours that the service may still correct. */
export function packHours(hours: CountSeries["hours"], early: ReadonlySet<Instant>): string {
  const starts = [...hours.keys()].sort((a, b) => a - b);
  const [first = 0] = starts;
  const tokens: string[] = [];
  let next = first;
  for (const start of starts) {
    const missing = Math.floor((start - next) / HOUR_MS);
    for (let i = 0; i < missing; i++) tokens.push(" ");
    const shift = (start - next - missing * HOUR_MS) / MINUTE_MS;
    // Clocks were set by a part of an hour.
    if (shift > 0) tokens.push(`^${shift.toString(36)}.`);
    tokens.push((early.has(start) ? "'" : "") + tokenOf(hours.get(start) ?? null));
    next = start + HOUR_MS;
  }
  return `${(first / MINUTE_MS).toString(36)};${withRuns(tokens)}`;
}

function tokenOf(count: number | null): string {
  if (count === null) return "!";
  if (count < ONE_DIGIT) return DIGITS.charAt(count);
  if (count >= TWO_DIGITS) return `~${count.toString(36)}.`;
  const rest = count - ONE_DIGIT;
  return DIGITS.charAt(ONE_DIGIT + Math.floor(rest / DIGITS.length)) + DIGITS.charAt(rest % DIGITS.length);
}

function withRuns(tokens: readonly string[]): string {
  let text = "";
  for (let i = 0; i < tokens.length; ) {
    const token = tokens[i] ?? "";
    let run = 1;
    while (run < LONGEST_RUN && tokens[i + run] === token) run++;
    text += run < SHORTEST_RUN ? token.repeat(run) : `${token}*${DIGITS.charAt(run - SHORTEST_RUN)}`;
    i += run;
  }
  return text;
}

/** What `packHours` was given. */
export function unpackHours(text = ""): { hours: Map<Instant, number | null>; early: Set<Instant> } {
  const [hours, early] = [new Map<Instant, number | null>(), new Set<Instant>()];
  const [first = "0"] = text.split(";", 1);
  let at = Number.parseInt(first, 36) * MINUTE_MS;
  for (const [, token = "", run] of text.slice(first.length + 1).matchAll(TOKEN)) {
    const times = run === undefined ? 1 : SHORTEST_RUN + DIGITS.indexOf(run);
    for (let i = 0; i < times; i++) {
      if (token.startsWith("^")) at += Number.parseInt(token.slice(1), 36) * MINUTE_MS;
      else {
        const value = token.startsWith("'") ? token.slice(1) : token;
        if (value !== " ") hours.set(at, countOf(value));
        if (value !== token) early.add(at);
        at += HOUR_MS;
      }
    }
  }
  return { hours, early };
}

function countOf(token: string): number | null {
  if (token === "!") return null;
  if (token.startsWith("~")) return Number.parseInt(token.slice(1), 36);
  const [high, low] = [DIGITS.indexOf(token.charAt(0)), DIGITS.indexOf(token.charAt(1))];
  return token.length === 1 ? high : ONE_DIGIT + (high - ONE_DIGIT) * DIGITS.length + low;
}

/** Of whole minutes, oldest first: minutes since the one before, minutes it covers where they begin elsewhere, and its count. */
export function packReadings(readings: CountSeries["readings"]): string {
  let [lastAt, lastSince] = [0, -1];
  const rows = readings.map(({ at, since, count }) => {
    const covered = since === lastSince ? "" : ((at - since) / MINUTE_MS).toString(36);
    const row = [((at - lastAt) / MINUTE_MS).toString(36), covered, count === null ? "" : count.toString(36)];
    [lastAt, lastSince] = [at, since];
    return row.join(",");
  });
  return rows.join(";");
}

/** What `packReadings` was given. */
export function unpackReadings(text = ""): CountSeries["readings"] {
  let [at, since] = [0, 0];
  if (text === "") return [];
  return text.split(";").map((row) => {
    const [minutes = "", covered = "", count = ""] = row.split(",");
    at += Number.parseInt(minutes, 36) * MINUTE_MS;
    if (covered !== "") since = at - Number.parseInt(covered, 36) * MINUTE_MS;
    return { at, since, count: count === "" ? null : Number.parseInt(count, 36) };
  });
}
