/** An HTTP answer as far as a channel looks at it: the status, the beginning of the body, and when to come again. */
import type { FetchAnswer } from "./fetch.ts";

export interface Answer {
  readonly status: number;
  /** The beginning of the body. */
  readonly text: string;
  /** The header as sent: seconds or a date. */
  readonly retryAfter: string | null;
}

/** More of an answer than this is never read. */
const MAX_ANSWER_BYTES = 4_096;

/** Longer than this nobody is made to wait, ms. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** Throws where an acceptance broke off before it was whole: nobody saw it. */
export async function answerOf(response: FetchAnswer): Promise<Answer> {
  // A refusal is a refusal even when its body breaks off; an `ok` that nobody saw is none.
  const text = await readSome(response.body).catch((thrown: unknown) => {
    if (response.status < 300) throw thrown;
    return "";
  });
  return { status: response.status, text, retryAfter: response.headers.get("retry-after") };
}

async function readSome(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString("utf8");
}

/** Wait in ms that a Retry-After header asks for; undefined where there is none or it cannot be read. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (text === "") return undefined;
  const seconds = /^\d{1,10}(?:\.\d{1,3})?$/.test(text);
  const date = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN;
  const ms = seconds ? Number(text) * 1000 : date - now;
  return Number.isFinite(ms) ? Math.min(LONGEST_WAIT_MS, Math.max(0, Math.ceil(ms))) : undefined;
}

/** A URL that is a secret, and each part of its path and query that is long enough to be the secret in it. */
export function secretsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url];
  const { href, pathname, search } = new URL(url);
  const parts = `${pathname}${search}`.split(/[/?&=]/).filter((part) => part.length >= 8);
  return [url, href, `${pathname}${search}`, ...parts].filter((secret) => secret.length > 1);
}
