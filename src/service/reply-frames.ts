/**
 * Reply frames `<id>|<part>|<total>|<json>` (contract: "Reply frame"), and replies in several parts. It is not
 * documented whether parts count from 0 or 1, and whether a part is a piece of the text or a JSON value: all of these
 * are accepted, anything else fails that one request.
 */
import { hasTooManyValues, tryJson } from "../lib/json-values.ts";
import type { ProtocolErrorKind } from "./model.ts";
import type { SocketRequest } from "./queries.ts";
import type { ReplyLimits } from "./reply-size.ts";

interface ReplyFrame {
  readonly id: string;
  /** `0|0` is a reply in one part. */
  readonly part: number;
  readonly total: number;
  /** Parsed only when the reply is whole. */
  readonly payload: Buffer;
}

/** Not a frame; `id` where that much was readable. */
type BadFrame = { readonly id: string | undefined; readonly bad: true };

const BAR = 0x7c;
const MAX_HEADER = 256;
const MAX_PARTS = 100_000;

/** Our ids contain no `|`, so the first three bars are the header's. */
export function parseFrame(data: Buffer): ReplyFrame | BadFrame {
  const head = data.subarray(0, MAX_HEADER);
  const first = head.indexOf(BAR);
  if (first < 1) return { id: undefined, bad: true };
  const id = head.toString("utf8", 0, first);
  const second = head.indexOf(BAR, first + 1);
  const third = second < 0 ? -1 : head.indexOf(BAR, second + 1);
  if (third < 0) return { id, bad: true };
  const part = parseCount(head.toString("latin1", first + 1, second));
  const total = parseCount(head.toString("latin1", second + 1, third));
  if (part === undefined || total === undefined || part > total) return { id, bad: true };
  return { id, part, total, payload: data.subarray(third + 1) };
}

function parseCount(text: string): number | undefined {
  return /^\d{1,7}$/.test(text) ? Number(text) : undefined;
}

type Decoded = { readonly value: unknown } | { readonly kind: ProtocolErrorKind };

/** Memory of a stored part beside its payload, at least: an empty one takes memory too. */
const BYTES_PER_PART = 256;

/** Bytes of incomplete replies, over all requests. */
export type ByteBudget = { used: number; readonly max: number };

/** Collects the parts of one reply. */
export class PartCollector {
  readonly #budget: ByteBudget;
  readonly #limits: ReplyLimits;
  readonly #read: SocketRequest["read"];
  readonly #parts = new Map<number, Buffer>();
  #total: number | undefined;
  #bytes = 0;

  constructor(budget: ByteBudget, limits: ReplyLimits, read?: SocketRequest["read"]) {
    this.#budget = budget;
    this.#limits = limits;
    this.#read = read;
  }

  /** The reply once its last part is there; undefined while parts are missing. */
  add({ part, total, payload }: ReplyFrame): Decoded | undefined {
    const bytes = payload.length + BYTES_PER_PART;
    if (total > MAX_PARTS || this.#bytes + payload.length > this.#limits.bytes) return { kind: "too_large" };
    if (this.#total === undefined && total <= 1) return this.#decodeOnly(payload);
    if (this.#total !== undefined && this.#total !== total) return { kind: "bad_part" };
    this.#total = total;
    const same = this.#parts.get(part);
    if (same) return same.equals(payload) ? undefined : { kind: "bad_part" };
    if (this.#budget.used + bytes > this.#budget.max) return { kind: "too_large" };
    // A copy: the payload would keep all that was read from the connection together with it.
    this.#parts.set(part, Buffer.from(payload));
    this.#bytes += bytes;
    this.#budget.used += bytes;
    return this.#parts.size < total ? undefined : this.#join(total);
  }

  /** Drops the parts and returns their bytes to the budget. */
  clear(): void {
    this.#budget.used -= this.#bytes;
    this.#bytes = 0;
    this.#parts.clear();
    this.#total = undefined;
  }

  #decodeOnly(payload: Buffer): Decoded {
    const value = payload.length <= this.#limits.values ? this.#read?.(payload) : undefined;
    return value === undefined ? decodeParts([payload], this.#limits.values) : { value };
  }

  #join(total: number): Decoded {
    // Both 0 and `total` among them: neither base.
    if (this.#parts.has(0) && this.#parts.has(total)) return { kind: "bad_part" };
    const parts = [...this.#parts].sort(([a], [b]) => a - b).map(([, payload]) => payload);
    return decodeParts(parts, this.#limits.values);
  }
}

/** The JSON value of the joined text, else the joined arrays. */
export function decodeParts(parts: readonly Buffer[], mostValues: number): Decoded {
  const [only] = parts;
  const text = parts.length === 1 && only ? only : Buffer.concat(parts);
  if (hasTooManyValues(text, mostValues)) return { kind: "too_large" };
  const value = tryJson(text.toString());
  if (value !== undefined) return { value };
  if (parts.length === 1) return { kind: "bad_json" };
  const rows: unknown[] = [];
  for (const part of parts) {
    const some = tryJson(part.toString());
    if (!Array.isArray(some)) return { kind: "bad_part" };
    for (const row of some) rows.push(row);
  }
  return { value: rows };
}
