/**
 * The largest answers that are read: as text, and in values, as `[{},{},…]` takes 30 times its text once it is parsed. Both
 * follow the memory of this process, that of one request over the socket the number of its locations too.
 */
import { getHeapStatistics } from "node:v8";

export interface ReplyLimits {
  readonly bytes: number;
  /** Lists, objects, properties and items. */
  readonly values: number;
}

/** The status of a million recordings is about 170 MB. */
const MOST_BYTES = 256 * 1024 * 1024;
/** One location alone may have ten thousand recordings. */
const BYTES_PER_REQUEST = 4 * 1024 * 1024;
/** The status of a recording is about 170 bytes, an hour of a metric 60. */
const BYTES_PER_ENTITY = 128 * 1024;
/** The documented rows have fewer. */
const VALUES_PER_BYTE = 1 / 8;
/** A value takes 130 bytes at most, those of objects with different names, so an answer takes a sixth of the heap. */
const HEAP_PER_VALUE = 800;
const HEAP_PER_BYTE = 16;

/** The limits of any answer; `heapBytes` is the most that this process may use. */
export function replyLimits(heapBytes = getHeapStatistics().heap_size_limit): ReplyLimits {
  return { bytes: Math.min(MOST_BYTES, heapBytes / HEAP_PER_BYTE), values: heapBytes / HEAP_PER_VALUE };
}

/** The limits of the answer to a request with this body. */
export function limitsOfRequest(any: ReplyLimits, body: unknown): ReplyLimits {
  const { entities } = Object(body) as { readonly entities?: readonly unknown[] };
  const bytes = Math.min(any.bytes, BYTES_PER_REQUEST + BYTES_PER_ENTITY * (entities?.length ?? 1));
  return { bytes, values: Math.min(any.values, bytes * VALUES_PER_BYTE) };
}
