/** undici's fetch through the proxies the environment names (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). */

import { EnvHttpProxyAgent, fetch as undiciFetch } from "undici";

export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

/** As much of an answer as a channel looks at. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

/** Certificates of one's own, as PEM. */
export interface Tls {
  /** The authorities that may vouch for the server; undefined: the system's. */
  readonly ca: string | undefined;
  /** The certificate we are known by, and its key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name the server's certificate has to be for; undefined: the URL's. */
  readonly servername: string | undefined;
}

/** A fetch with connections of its own, and what closes them: at once, whatever is under way. */
export function createFetch(tls?: Tls): { readonly fetch: Fetch; close(): Promise<void> } {
  const dispatcher = new EnvHttpProxyAgent({
    allowH2: false,
    ...(tls && { connect: optionsOf(tls), requestTls: optionsOf(tls) }),
  });
  return {
    fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }),
    close: () => dispatcher.destroy(),
  };
}

/** As Node's `tls.connect` takes them: what is not given is left out. */
export function optionsOf({ ca, cert, key, servername }: Partial<Tls>) {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
}
