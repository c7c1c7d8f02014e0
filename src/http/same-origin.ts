/** Whether a form was sent from a page of our own: a browser says where it was, and no page can make it lie. */
import type { IncomingHttpHeaders } from "node:http";

/**
 * By `Sec-Fetch-Site` (w3.org/TR/fetch-metadata) where the browser sends it, else by `Origin`, which has to be the
 * host that was asked or `externalUrl`'s. What sends neither is no browser, and has no cookie that it was not given.
 */
export function isFromOurselves(headers: IncomingHttpHeaders, externalUrl: string | undefined): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  const forwarded = String(headers["x-forwarded-host"] ?? "");
  const ours = [headers.host, forwarded, externalUrl && new URL(externalUrl).host];
  return ours.some((one) => one !== undefined && one !== "" && one.toLowerCase() === host);
}

/** Whether the page was asked for over plain HTTP from another machine: a `Secure` cookie would not come back. */
export function isPlainAndFar({ origin }: IncomingHttpHeaders): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
