/** Which names in Host are this server's: a web page can have its own name lead here, and would then read as its visitor. */
import { isIP } from "node:net";

/** Names that no other resolver or neighbour in the network answers for, or that have no dot. */
const OWN = /(?:^[^.]+|\.localhost)$/;

interface Names {
  readonly externalUrl?: string | undefined;
  readonly listen: { readonly host: string };
}

/**
 * True for a Host header that is an address, a name that leads nowhere else, or one that is configured. A client that sends none is
 * no browser.
 */
export function isOwnHost(header: string | undefined, { externalUrl, listen }: Names): boolean {
  if (header === undefined) return true;
  const name = nameOf(`http://${header}`);
  if (name === undefined) return false;
  return (
    isIP(name.replace(/^\[|\]$/g, "")) !== 0 || OWN.test(name) || [nameOf(externalUrl), listen.host].includes(name)
  );
}

function nameOf(url: string | undefined): string | undefined {
  return URL.parse(url ?? "")?.hostname.replace(/\.$/, "");
}
