/** Pages of rows that are stored in parts: no page reads more than one shard, and so it may have fewer rows than asked for. */
import { cursorOf, type PageQuery } from "./paging.ts";

export interface Part<T> {
  /** Parts are in its order; texts of one length, or the first of them shorter. */
  readonly key: string;
  /** A shard has to be read for it. */
  readonly isStored: boolean;
  /** Its rows by keys that are not empty. */
  rows(): Promise<readonly (readonly [key: string, row: T])[]>;
}

export interface PartPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** The page of these parts, sorted by key, that the cursor leads to. */
export async function pageOfParts<T>(
  parts: readonly Part<T>[],
  { limit, cursor = "" }: PageQuery,
): Promise<PartPage<T>> {
  const left = parts.filter(({ key }) => key >= cursor.slice(0, key.length));
  const items: T[] = [];
  let last = cursor;
  for (const [i, part] of left.entries()) {
    if (items.length === limit) return { items, nextCursor: cursorOf(last) };
    const rows = (await part.rows()).map(([key, row]) => [`${part.key}/${key}`, row] as const);
    const next = rows.filter(([key]) => key > cursor).sort(([a], [b]) => (a < b ? -1 : 1));
    const page = next.slice(0, limit - items.length);
    items.push(...page.map(([, row]) => row));
    last = page.at(-1)?.[0] ?? last;
    if (page.length < next.length) return { items, nextCursor: cursorOf(last) };
    const following = left[i + 1];
    if (part.isStored && following) return { items, nextCursor: cursorOf(`${following.key}/`) };
  }
  return { items, nextCursor: null };
}
