/** Value types of configuration keys. Each parses the text as written and describes what is expected. */
import { isIP } from "node:net";
import { CronExpressionParser } from "cron-parser";
import { IANAZone } from "luxon";
import { z } from "zod";
import { formatDuration, parseDuration } from "../lib/duration.ts";
import { unlessThrown } from "../lib/errors.ts";
import { closestWord } from "../lib/suggest.ts";
import { inMs } from "./key.ts";

type Reading<T extends {}> =
  | { readonly value: T; readonly suggestion?: never }
  | { readonly value?: never; readonly suggestion?: string | undefined };

/** A text with a meaning. `expected` finishes the sentence "expected …". */
export function leaf<T extends {}>(expected: string, read: (text: string) => Reading<T>): z.ZodType<T> {
  return z.string({ error: expected }).transform((text, context) => {
    const reading = read(text);
    if (reading.value !== undefined) return reading.value;
    context.addIssue({ code: "custom", message: expected, params: { suggestion: reading.suggestion } });
    return z.NEVER;
  });
}

/** A text that passes a test, as it is. */
export function textThat(expected: string, passes: (text: string) => boolean): z.ZodType<string> {
  return leaf(expected, (text) => (passes(text) ? { value: text } : {}));
}

/** A text that matches, as it is. */
export function textMatching(expected: string, pattern: RegExp): z.ZodType<string> {
  return textThat(expected, (text) => pattern.test(text));
}

/** A list; a single text stands for a list of one. */
export function oneOrMore<T>(each: z.ZodType<T>, expected: string): z.ZodType<T[]> {
  const list = z.array(each, { error: expected });
  return z.preprocess((value) => (typeof value === "string" ? [value] : value), list);
}

/** A duration in ms between two others, all as Prometheus writes them. */
export function duration(min: string, max: string) {
  const [least, most] = [parseDuration(min) ?? 0, parseDuration(max) ?? 0];
  const schema = leaf<number>(`a duration such as 30s or 1h30m, from ${min} to ${max}`, (text) => {
    const value = parseDuration(text);
    if (value === undefined) return { suggestion: text.length < 20 ? likelyDuration(text) : undefined };
    return value >= least && value <= most ? { value } : {};
  });
  return inMs(schema);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

/** `30` → `30s`, `2 min` → `2m`, `1.5h` → `1h30m`. */
function likelyDuration(text: string): string | undefined {
  const [, count, word = "s"] = /^(\d{1,9}(?:\.\d{1,3})?) ?([a-z]{1,7})?$/i.exec(text) ?? [];
  const unit = UNITS[word.toLowerCase() === "ms" ? "ms" : word.charAt(0).toLowerCase()];
  return count === undefined || unit === undefined ? undefined : formatDuration(Number(count) * unit);
}

/** A ratio as `70%` or `0.7`; parsed, 0–1. */
export const ratio: z.ZodType<number> = leaf("a ratio such as 70% or 0.7", (text) => {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,9})?)(%?)$/.exec(text) ?? [];
  if (digits === undefined) return {};
  const value = Number(digits) / (percent ? 100 : 1);
  if (value <= 1) return { value };
  return { suggestion: value <= 100 && !percent ? `${digits}%` : undefined };
});

export function integer(min: number, max: number): z.ZodType<number> {
  return leaf(`a whole number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : {};
  });
}

export const trueOrFalse: z.ZodType<boolean> = leaf("true or false", (text) => {
  const lower = text.toLowerCase();
  if (lower === "true" || lower === "false") return { value: lower === "true" };
  return { suggestion: { yes: "true", on: "true", no: "false", off: "false" }[lower] };
});

export function oneOf<const T extends string>(...words: readonly T[]): z.ZodType<T> {
  return leaf(enumerate(words), (text) => {
    const value = words.find((word) => word === text);
    return value === undefined ? { suggestion: closestWord(text, words) } : { value };
  });
}

/** `a, b or c`. */
export function enumerate(words: readonly string[]): string {
  return words.join(", ").replace(/, ([^,]*)$/, " or $1");
}

/** Any text of one line. */
export const line: z.ZodType<string> = textThat(
  "a text of one line, at most 1000 characters",
  (text) => text.trim() !== "" && text.length <= 1000 && !/\p{Cc}/u.test(text),
);

/** Any text. */
export const prose: z.ZodType<string> = textThat("a text of at most 4000 characters", (text) => text.length <= 4000);

/** A secret sent in a header: visible ASCII. */
export const token = textMatching("a text without spaces or control characters", /^[\x21-\x7e]{1,4096}$/);

/** A name that identities contain: `/` and `#` separate their parts. */
export const name: z.ZodType<string> = textThat(
  "a name of at most 100 characters, without / # { or }",
  (text) => text.length <= 100 && text.trim() === text && text !== "" && !/[/#{}]|\p{C}/u.test(text),
);

/** An id of the service; its contract says 24 hex digits, which is not enforced. */
export const id = textMatching("an id", /^[\x21-\x7e]{1,128}$/);

/** Prometheus' label names. */
export const LABEL_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const email: z.ZodType<string> = textThat(
  "one e-mail address such as ops@example.com",
  (text) => text.length <= 254 && z.regexes.html5Email.test(text),
);

export const zone: z.ZodType<string> = leaf("an IANA time zone such as Europe/London", (text) => {
  if (/^[A-Za-z][\w/+-]{0,63}$/.test(text) && IANAZone.isValidZone(text)) return { value: text };
  return { suggestion: closestWord(text, Intl.supportedValuesOf("timeZone")) };
});

const fiveFields = "five cron fields such as 0 8 * * * (minute, hour, day of month, month, day of week)";
export const cron: z.ZodType<string> = leaf(fiveFields, (text) => {
  const hasFiveFields = text.length <= 100 && text.trim().split(/\s+/).length === 5;
  const options = { tz: "UTC", currentDate: new Date(0) };
  const firesEver = () => unlessThrown(() => CronExpressionParser.parse(text, options).hasNext());
  return hasFiveFields && !/(^|[\s,])h/i.test(text) && firesEver() ? { value: text.trim() } : {};
});

/** An address to listen on: `host:port`, `[::1]:9595`, or `:9595` for all interfaces. */
export const listen = hostAndPort("127.0.0.1:9595 or [::1]:9595", /^[A-Za-z0-9.-]{0,253}$/, 0);

/** A remote server: `host:port` or `[::1]:26379`. */
export const address = hostAndPort("redis-1:26379 or [::1]:26379", /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/, 1);

function hostAndPort(examples: string, name: RegExp, leastPort: number): z.ZodType<{ host: string; port: number }> {
  return leaf(`host:port such as ${examples}`, (text) => {
    const [, six, four = "", digits] = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]*)):(\d{1,5})$/.exec(text) ?? [];
    const port = Number(digits);
    if (digits === undefined || port < leastPort || port > 65_535) return {};
    if (six !== undefined) return isIP(six) === 6 ? { value: { host: six, port } } : {};
    if (!name.test(four) || (/^[\d.]+$/.test(four) && isIP(four) !== 4)) return {};
    return { value: { host: four || "0.0.0.0", port } };
  });
}

/** Certificates or a private key in PEM. */
export const pem: z.ZodType<string> = textThat(
  "text that begins with -----BEGIN",
  (text) => text.length <= 1_000_000 && text.includes("-----BEGIN ") && text.includes("-----END "),
);

export const host: z.ZodType<string> = textThat(
  "a host name or address",
  (text) => isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/.test(text),
);

/** The beginning of every Redis key. */
export const prefix = textMatching("a short name of letters, digits, . _ : or -", /^[A-Za-z0-9._:-]{1,64}$/);

interface UrlShape {
  readonly schemes: readonly string[];
  readonly login?: boolean;
  readonly query?: boolean;
  /** A base for paths: a trailing slash is removed. */
  readonly base?: boolean;
}

/** A URL as written. */
export function url(expected: string, shape: UrlShape): z.ZodType<string> {
  return leaf(expected, (text) => {
    if (/[\s\\]|\p{C}/u.test(text) || !URL.canParse(text) || text.length > 2048) return {};
    const { protocol, username, password, search, hash, hostname, pathname } = new URL(text);
    const scheme = shape.schemes.some((name) => protocol === `${name}:` && text.toLowerCase().startsWith(`${name}://`));
    const login = username !== "" || password !== "";
    const place = protocol === "unix:" ? hostname === "" && pathname.length > 1 : hostname !== "";
    const ok = scheme && place && hash === "" && (shape.login || !login) && (shape.query || search === "");
    return ok ? { value: shape.base && text.endsWith("/") ? text.slice(0, -1) : text } : {};
  });
}

const http = ["http", "https"];
/** The base URL of an HTTP service. */
export const webUrl = url("an http:// or https:// URL without login, query or fragment", { schemes: http, base: true });

/** The URL of one resource; `without` says what else it may not have. */
export function resourceUrl(without = ""): z.ZodType<string> {
  return url(`an http:// or https:// URL${without}`, { schemes: http, query: true });
}
