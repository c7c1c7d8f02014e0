/** The kinds of value a key can have. Each reads the text as it was written and says what would be right. */
import { isIP } from "node:net";
import { CronExpressionParser } from "cron-parser";
import { closest, distance } from "fastest-levenshtein";
import { z } from "zod";
import { formatDuration, parseDuration } from "../lib/duration.ts";

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

const fits = (text: string, ok: boolean): Reading<string> => (ok ? { value: text } : {});

/** The nearest of the words when it is near enough to be a slip. */
export function nearest(text: string, words: readonly string[]): string | undefined {
  if (words.length === 0 || text.length > 60) return undefined;
  const word = closest(text, words);
  return distance(text, word) <= Math.max(1, Math.floor(Math.max(word.length, text.length) / 3))
    ? word
    : undefined;
}

/** A duration in ms between two others, all as Prometheus writes them. */
export function duration(min: string, max: string): z.ZodType<number> {
  const [least, most] = [parseDuration(min) ?? 0, parseDuration(max) ?? 0];
  return leaf(`a duration such as 30s or 1h30m, from ${min} to ${max}`, (text) => {
    const value = parseDuration(text);
    if (value === undefined) return { suggestion: text.length < 20 ? likelyDuration(text) : undefined };
    return value >= least && value <= most ? { value } : {};
  });
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

/** `30` → `30s`, `2 min` → `2m`, `1.5h` → `1h30m`. */
function likelyDuration(text: string): string | undefined {
  const [, count, word = "s"] = /^(\d{1,9}(?:\.\d{1,3})?) ?([a-z]{1,7})?$/i.exec(text) ?? [];
  const unit = UNITS[word.toLowerCase() === "ms" ? "ms" : word.charAt(0).toLowerCase()];
  return count === undefined || unit === undefined ? undefined : formatDuration(Number(count) * unit);
}

/** A share as `70%` or `0.7`; inside, 0–1. */
export const ratio: z.ZodType<number> = leaf("a share such as 70% or 0.7", (text) => {
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

export const flag: z.ZodType<boolean> = leaf("true or false", (text) => {
  const lower = text.toLowerCase();
  if (lower === "true" || lower === "false") return { value: lower === "true" };
  const meant = { yes: "true", on: "true", no: "false", off: "false" }[lower];
  return { suggestion: meant };
});

export function oneOf<const T extends string>(...words: readonly T[]): z.ZodType<T> {
  return leaf(enumerate(words), (text) => {
    const value = words.find((word) => word === text);
    return value === undefined ? { suggestion: nearest(text, words) } : { value };
  });
}

/** `a, b or c`. */
export function enumerate(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** Any text of one line. */
export const line: z.ZodType<string> = leaf("a text of one line, at most 1000 characters", (text) =>
  fits(text, text.trim() !== "" && text.length <= 1000 && !/\p{Cc}/u.test(text)),
);

/** Any text. */
export const prose: z.ZodType<string> = leaf("a text of at most 4000 characters", (text) =>
  fits(text, text.length <= 4000),
);

/** A secret sent in a header: visible ASCII. */
export const token: z.ZodType<string> = leaf("a text without spaces or control characters", (text) =>
  fits(text, /^[\x21-\x7e]{1,4096}$/.test(text)),
);

/** A name that identities are made of: `/` and `#` separate their parts. */
export const name: z.ZodType<string> = leaf("a name of at most 100 characters, without / # { or }", (text) =>
  fits(text, text.length <= 100 && text.trim() === text && text !== "" && !/[/#{}]|\p{C}/u.test(text)),
);

/** An id of the service (contract: a 24-character hex shape; the shape is not held against it). */
export const id: z.ZodType<string> = leaf("an id", (text) => fits(text, /^[\x21-\x7e]{1,128}$/.test(text)));

/** Prometheus' label names. */
export const LABEL_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const email: z.ZodType<string> = leaf("one e-mail address such as ops@example.com", (text) =>
  fits(text, text.length <= 254 && z.regexes.html5Email.test(text)),
);

export const zone: z.ZodType<string> = leaf("an IANA time zone such as Europe/London", (text) => {
  if (/^[A-Za-z][\w/+-]{0,63}$/.test(text) && isZone(text)) return { value: text };
  return { suggestion: nearest(text, Intl.supportedValuesOf("timeZone")) };
});

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export const cron: z.ZodType<string> = leaf(
  "five cron fields such as 0 8 * * * (minute, hour, day of month, month, day of week)",
  (text) => {
    const fields = text.trim().split(/\s+/);
    return fits(
      text.trim(),
      text.length <= 100 && fields.length === 5 && !/(^|[\s,])h/i.test(text) && fires(text),
    );
  },
);

function fires(expression: string): boolean {
  try {
    CronExpressionParser.parse(expression, { tz: "UTC", currentDate: new Date(0) }).next();
    return true;
  } catch {
    return false;
  }
}

/** `host:port`, `[::1]:9595`, or `:9595` for all interfaces. */
export const listen: z.ZodType<{ host: string; port: number }> = leaf(
  "host:port such as 127.0.0.1:9595 or [::1]:9595",
  (text) => {
    const [, six, host = "", digits] =
      /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{0,253})):(\d{1,5})$/.exec(text) ?? [];
    const port = Number(digits);
    if (digits === undefined || port > 65_535 || (six !== undefined && isIP(six) !== 6)) return {};
    if (/^[\d.]+$/.test(host) && isIP(host) !== 4) return {};
    return { value: { host: six ?? (host || "0.0.0.0"), port } };
  },
);

/** A server elsewhere: `host:port` or `[::1]:26379`. */
export const address: z.ZodType<{ host: string; port: number }> = leaf(
  "host:port such as redis-1:26379 or [::1]:26379",
  (text) => {
    const [, six, name = "", digits] =
      /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9][A-Za-z0-9._-]{0,252})):(\d{1,5})$/.exec(text) ?? [];
    const port = Number(digits);
    if (digits === undefined || port < 1 || port > 65_535) return {};
    if (six !== undefined ? isIP(six) !== 6 : /^[\d.]+$/.test(name) && isIP(name) !== 4) return {};
    return { value: { host: six ?? name, port } };
  },
);

/** Certificates or a key as PEM has them. */
export const pem: z.ZodType<string> = leaf("text that begins with -----BEGIN", (text) =>
  fits(text, text.length <= 1_000_000 && text.includes("-----BEGIN ") && text.includes("-----END ")),
);

/** The name of a host or its address. */
export const host: z.ZodType<string> = leaf("a host name or address", (text) =>
  fits(text, isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/.test(text)),
);

/** Redis keys begin with `{prefix}`. */
export const prefix: z.ZodType<string> = leaf("a short name of letters, digits, . _ : or -", (text) =>
  fits(text, /^[A-Za-z0-9._:-]{1,64}$/.test(text)),
);

interface UrlShape {
  readonly schemes: readonly string[];
  readonly login?: boolean;
  readonly query?: boolean;
  /** Paths are put behind it: a trailing slash is cut. */
  readonly base?: boolean;
}

/** A URL as it was written. */
export function url(expected: string, shape: UrlShape): z.ZodType<string> {
  return leaf(expected, (text) => {
    if (/[\s\\]|\p{C}/u.test(text) || !URL.canParse(text) || text.length > 2048) return {};
    const parsed = new URL(text);
    const { protocol, username, password, search, hash, hostname } = parsed;
    const scheme = shape.schemes.some(
      (name) => protocol === `${name}:` && text.toLowerCase().startsWith(`${name}://`),
    );
    const login = username !== "" || password !== "";
    const ok =
      scheme && hostname !== "" && hash === "" && (shape.login || !login) && (shape.query || search === "");
    return ok ? { value: shape.base && text.endsWith("/") ? text.slice(0, -1) : text } : {};
  });
}
