/** The proof that a webhook's message is ours, and when it was made. */
import { createHmac } from "node:crypto";
import type { Instant } from "../../lib/clock.ts";

/** `X-Lenswatch-Timestamp`: seconds since the epoch; `X-Lenswatch-Signature`: HMAC-SHA256 of `timestamp.body`. */
export function signatureHeaders(
  body: string,
  { secret, now }: { readonly secret: string; readonly now: Instant },
): Record<string, string> {
  const at = String(Math.floor(now / 1_000));
  const mac = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  return { "x-lenswatch-timestamp": at, "x-lenswatch-signature": `sha256=${mac}` };
}
