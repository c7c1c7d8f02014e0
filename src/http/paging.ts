/**
 * Pages of a list that changes while it is read: each row has a key, pages are in the order of the keys, and the cursor
 * is the last key of a page. No row is lost or repeated because another one appeared or disappeared.
 */
import { z } from "zod";
import { ROWS_PER_STEP } from "../health/shard-state.ts";

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

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Visits every row; yields every so many. */
export function* eachRow<T>(
  rows: Iterable<T>,
  visit: (row: T) => void,
  rowsPerStep = ROWS_PER_STEP,
): Generator<void, void> {
  let seen = 0;
  for (const row of rows) {
    visit(row);
    if (++seen % rowsPerStep === 0) yield;
  }
}

/** One page of the rows that have a key; keys must be different. Yields every so many rows. */
export function* listingOf<T>(
  rows: Iterable<T>,
  query: PageQuery,
  keyOf: (row: T) => string | undefined,
): Generator<void, Listing<T>> {
  const collector = new PageCollector<T>(query);
  yield* eachRow(rows, (row) => {
    const key = keyOf(row);
    if (key !== undefined) collector.offer(key, row);
  });
  return collector.page();
}

/** Picks one page out of rows offered in any order, and counts all of them; stores at most about three pages. */
export class PageCollector<T> {
  readonly #query: PageQuery;
  /** Keys from here on cannot be on the page. */
  #bound: string | undefined;
  #rows: { readonly key: string; readonly item: T }[] = [];
  #before = 0;
  #total = 0;

  constructor(query: PageQuery) {
    this.#query = query;
  }

  /** Keys must be different. */
  offer(key: string, item: T): void {
    this.#total += 1;
    if (this.#query.cursor !== undefined && key <= this.#query.cursor) {
      this.#before += 1;
      return;
    }
    if (this.#bound !== undefined && key >= this.#bound) return;
    this.#rows.push({ key, item });
    if (this.#rows.length >= 3 * this.#query.limit + 64) this.#trim();
  }

  page(): Listing<T> {
    this.#trim();
    const rows = this.#rows.slice(0, this.#query.limit);
    const last = this.#rows.length > this.#query.limit ? rows.at(-1) : undefined;
    return {
      items: rows.map(({ item }) => item),
      nextCursor: last ? Buffer.from(PREFIX + last.key).toString("base64url") : null,
      before: this.#before,
      total: this.#total,
    };
  }

  /** Keeps one row more than the page, which shows whether there is a next one. */
  #trim(): void {
    this.#rows.sort((a, b) => (a.key < b.key ? -1 : 1));
    if (this.#rows.length <= this.#query.limit) return;
    this.#rows.length = this.#query.limit + 1;
    this.#bound = this.#rows.at(-1)?.key;
  }
}
