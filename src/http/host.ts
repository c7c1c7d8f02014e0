/** Which names in Host are this server's: a web page can have its own name lead here, and would then read as its visitor. */
import { isIP } from "node:net";

/** Names under which nobody can register one, or that have no dot. */
const PRIVATE = /(?:^[^.]+|\.(?:localhost|local|internal|svc|home\.arpa|test))$/;

interface Names {
  readonly externalUrl?: string | undefined;
  readonly listen: { readonly host: string };
}

/**
 * Whether a Host header is an address, a name that is not public, or one that is configured. A client that sends none is
 * no browser.
 */
export function isOwnHost(header: string | undefined, { externalUrl, listen }: Names): boolean {
  if (header === undefined) return true;
  const name = nameOf(`http://${header}`);
  if (name === undefined) return false;
  return (
    isIP(name.replace(/^\[|\]$/g, "")) !== 0 || PRIVATE.test(name) || [nameOf(externalUrl), listen.host].includes(name)
  );
}

function nameOf(url: string | undefined): string | undefined {
  return URL.parse(url ?? "")?.hostname.replace(/\.$/, "");
}
