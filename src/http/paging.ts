/**
 * Pages of a list that changes while it is read: each row has a key, pages go up by key, and the cursor is the
 * last key seen. No row is lost or doubled because another came or went.
 */
import { z } from "zod";

export interface Page<T> {
  readonly items: readonly T[];
  /** For `cursor` of the next request; null on the last page. */
  readonly nextCursor: string | null;
}

const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 100;
const PREFIX = "k1:";

/** The parameters every paged list has. */
export const pageParameters = {
  limit: z
    .string()
    .regex(/^\d{1,4}$/, `expected a whole number from 1 to ${MAX_LIMIT}`)
    .transform(Number)
    .refine((n) => n >= 1 && n <= MAX_LIMIT, `expected a whole number from 1 to ${MAX_LIMIT}`)
    .default(DEFAULT_LIMIT)
    .meta({
      type: "integer",
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `How many items a page has at most; ${DEFAULT_LIMIT} by default.`,
    }),
  cursor: z
    .string()
    .max(2048, "expected the nextCursor of the page before")
    .transform((text) => Buffer.from(text, "base64url").toString())
    .refine((text) => text.startsWith(PREFIX), "expected the nextCursor of the page before")
    .transform((text) => text.slice(PREFIX.length))
    .optional()
    .meta({ type: "string", description: "The nextCursor of the page before." }),
};

/** A page of such rows, with what else an answer says, as it is described and as it is typed. */
export function pageOf<R extends z.ZodType, M extends z.ZodRawShape>(row: R, more: M) {
  return z
    .strictObject({
      ...more,
      items: z.array(row).readonly(),
      nextCursor: z.string().nullable().describe("For `cursor` of the next request; null on the last page."),
    })
    .readonly();
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Picks one page out of rows offered in any order, holding at most about three pages of them. */
export class PageCollector<T> {
  readonly #limit: number;
  readonly #after: string | undefined;
  /** No key from here on can be on the page any more. */
  #bound: string | undefined;
  #rows: { readonly key: string; readonly item: T }[] = [];

  constructor(query: PageQuery) {
    this.#limit = query.limit;
    this.#after = query.cursor;
  }

  /** Keys must be different. */
  offer(key: string, item: T): void {
    if (this.#after !== undefined && key <= this.#after) return;
    if (this.#bound !== undefined && key >= this.#bound) return;
    this.#rows.push({ key, item });
    if (this.#rows.length >= 3 * this.#limit + 64) this.#trim();
  }

  page(): Page<T> {
    this.#trim();
    const rows = this.#rows.slice(0, this.#limit);
    const last = this.#rows.length > this.#limit ? rows.at(-1) : undefined;
    return {
      items: rows.map(({ item }) => item),
      nextCursor: last ? Buffer.from(PREFIX + last.key).toString("base64url") : null,
    };
  }

  /** Keeps one row more than the page: whether there is a next page hangs on it. */
  #trim(): void {
    this.#rows.sort((a, b) => (a.key < b.key ? -1 : 1));
    if (this.#rows.length <= this.#limit) return;
    this.#rows.length = this.#limit + 1;
    this.#bound = this.#rows.at(-1)?.key;
  }
}
