/**
 * Pages of a list that changes while it is read: each row has a key, pages are in the order of the keys, and the cursor
 * is the last key of a page. No row is lost or repeated because another one appeared or disappeared.
 */
import { z } from "zod";

/** One page, and where it is in the whole. */
export interface Listing<T> {
  readonly items: readonly T[];
  /** For `cursor` of the next request; null on the last page. */
  readonly nextCursor: string | null;
  /** Rows before this page. */
  readonly before: number;
  readonly total: number;
}

const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 100;
const PREFIX = "k1:";

const LIMIT_PROBLEM = `expected a whole number from 1 to ${MAX_LIMIT}`;
const CURSOR_PROBLEM = "expected the nextCursor of the previous page";

/** The parameters of every paged list. */
export const pageParameters = {
  limit: z
    .string()
    .regex(/^\d{1,4}$/, LIMIT_PROBLEM)
    .transform(Number)
    .refine((n) => n >= 1 && n <= MAX_LIMIT, LIMIT_PROBLEM)
    .default(DEFAULT_LIMIT)
    .meta({
      type: "integer",
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `Most items of a page; ${DEFAULT_LIMIT} by default.`,
    }),
  cursor: z
    .string()
    .max(2048, CURSOR_PROBLEM)
    .transform((text) => Buffer.from(text, "base64url").toString())
    .refine((text) => text.startsWith(PREFIX), CURSOR_PROBLEM)
    .transform((text) => text.slice(PREFIX.length))
    .optional()
    .meta({ type: "string", description: "The nextCursor of the previous page." }),
};

export type PageQuery = { readonly limit: number; readonly cursor?: string | undefined };

export function cursorOf(key: string): string {
  return Buffer.from(PREFIX + key).toString("base64url");
}

/**
 * One page of the rows that have a key, and the number of all; keys must be different. Stores at most about
 * three pages.
 */
export function listingOf<T>(
  rows: Iterable<T>,
  { limit, cursor }: PageQuery,
  keyOf: (row: T) => string | undefined,
): Listing<T> {
  const picked: { readonly key: string; readonly item: T }[] = [];
  /** Keys from here on cannot be on the page. */
  let bound: string | undefined;
  /** Keeps one row more than the page, which shows whether there is a next one. */
  const trim = () => {
    picked.sort((a, b) => (a.key < b.key ? -1 : 1));
    picked.length = Math.min(picked.length, limit + 1);
    bound = picked[limit]?.key;
  };
  let before = 0;
  let total = 0;
  for (const item of rows) {
    const key = keyOf(item);
    if (key === undefined) continue;
    total += 1;
    if (cursor !== undefined && key <= cursor) before += 1;
    else if ((bound === undefined || key < bound) && picked.push({ key, item }) >= 3 * limit + 64) trim();
  }
  trim();
  const page = picked.slice(0, limit);
  const last = picked.length > limit ? page.at(-1) : undefined;
  const nextCursor = last ? cursorOf(last.key) : null;
  return { items: page.map(({ item }) => item), nextCursor, before, total };
}
