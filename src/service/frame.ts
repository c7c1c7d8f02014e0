/**
 * Reply frames `<id>|<part>|<total>|<json>` (contract: "Reply frame"; field notes: parts). Our ids never hold a
 * `|`, so the first three bars are the header's. Payloads stay bytes until they are wanted.
 */
export interface Frame {
  readonly id: string;
  /** `0|0` is a reply in one part. */
  readonly part: number;
  readonly total: number;
  readonly payload: Buffer;
}

/** Not a frame; `id` where that much was legible. */
export interface BadFrame {
  readonly id: string | undefined;
  readonly bad: true;
}

const BAR = 0x7c;
const MAX_HEADER = 256;

export function parseFrame(data: Buffer): Frame | BadFrame {
  const head = data.subarray(0, MAX_HEADER);
  const first = head.indexOf(BAR);
  if (first < 1) return { id: undefined, bad: true };
  const id = head.toString("utf8", 0, first);
  const second = head.indexOf(BAR, first + 1);
  const third = second < 0 ? -1 : head.indexOf(BAR, second + 1);
  if (third < 0) return { id, bad: true };
  const part = count(head.toString("latin1", first + 1, second));
  const total = count(head.toString("latin1", second + 1, third));
  if (part === undefined || total === undefined || part > total) return { id, bad: true };
  return { id, part, total, payload: data.subarray(third + 1) };
}

function count(text: string): number | undefined {
  return /^\d{1,7}$/.test(text) ? Number(text) : undefined;
}
