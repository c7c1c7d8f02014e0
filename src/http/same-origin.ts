/** Whether a form was sent from one of our own pages; browsers add these headers and no page can change them. */
import type { IncomingHttpHeaders } from "node:http";

/**
 * By `Sec-Fetch-Site` (w3.org/TR/fetch-metadata) where present, else by `Origin`, which must be the requested host or
 * that of `externalUrl`. A client that sends neither is no browser and has no cookie that it was not given.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, externalUrl: string | undefined): boolean {
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

/** Whether the page was loaded over plain HTTP from another machine, where a `Secure` cookie is not sent back. */
export function isRemotePlainHttp({ origin }: IncomingHttpHeaders): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
