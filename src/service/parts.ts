/**
 * Replies in several parts. Whether parts count from 0 or 1, and whether a part is a piece of the text or a JSON
 * value of its own, is not documented: either is accepted, anything else breaks that one request.
 */
import type { Frame } from "./frame.ts";
import type { ProtocolErrorKind } from "./observer.ts";

export type Collected =
  | { readonly state: "waiting" }
  | { readonly state: "whole"; readonly parts: readonly Buffer[] }
  | { readonly state: "broken"; readonly kind: ProtocolErrorKind };

/** Bytes of unfinished replies, over all requests together. */
export interface ByteBudget {
  held: number;
  readonly max: number;
}

const MAX_PARTS = 100_000;
const WAITING: Collected = { state: "waiting" };

/** Collects the parts of one reply. `clear` gives its bytes back to the budget. */
export class PartCollector {
  readonly #budget: ByteBudget;
  readonly #parts = new Map<number, Buffer>();
  #total: number | undefined;
  #bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  add({ part, total, payload }: Frame): Collected {
    if (this.#total === undefined && total <= 1) return { state: "whole", parts: [payload] };
    if (total > MAX_PARTS) return { state: "broken", kind: "too_large" };
    if (this.#total !== undefined && this.#total !== total) return { state: "broken", kind: "bad_part" };
    this.#total = total;
    const same = this.#parts.get(part);
    if (same) return same.equals(payload) ? WAITING : { state: "broken", kind: "bad_part" };
    if (this.#budget.held + payload.length > this.#budget.max) return { state: "broken", kind: "too_large" };
    this.#hold(part, payload);
    return this.#parts.size < total ? WAITING : this.#inOrder(total);
  }

  clear(): void {
    this.#budget.held -= this.#bytes;
    this.#bytes = 0;
    this.#parts.clear();
    this.#total = undefined;
  }

  #hold(part: number, payload: Buffer): void {
    this.#parts.set(part, payload);
    this.#bytes += payload.length;
    this.#budget.held += payload.length;
  }

  #inOrder(total: number): Collected {
    // Both 0 and `total` among them: neither base.
    if (this.#parts.has(0) && this.#parts.has(total)) return { state: "broken", kind: "bad_part" };
    const parts = [...this.#parts].sort(([a], [b]) => a - b).map(([, payload]) => payload);
    return { state: "whole", parts };
  }
}

export type Decoded = { readonly value: unknown } | { readonly kind: ProtocolErrorKind };

/** The JSON value of a whole reply: the joined text, else the joined arrays. */
export function decodeParts(parts: readonly Buffer[]): Decoded {
  const [only] = parts;
  const joined = parseJson(parts.length === 1 && only ? only : Buffer.concat(parts));
  if (joined) return joined;
  if (parts.length === 1) return { kind: "bad_json" };
  const rows: unknown[] = [];
  for (const part of parts) {
    const parsed = parseJson(part);
    if (!parsed || !Array.isArray(parsed.value)) return { kind: "bad_part" };
    for (const row of parsed.value) rows.push(row);
  }
  return { value: rows };
}

function parseJson(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(bytes.toString()) };
  } catch {
    return undefined;
  }
}
