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

/** A fetch with connections of its own, and what closes them: at once, whatever is under way. */
export function createFetch(): { readonly fetch: Fetch; close(): Promise<void> } {
  const dispatcher = new EnvHttpProxyAgent({ allowH2: false });
  return {
    fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }),
    close: () => dispatcher.destroy(),
  };
}
