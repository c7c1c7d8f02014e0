/** One HTTP exchange through undici and the environment's proxy; redirects are not followed, nothing is retried. */
import { EnvHttpProxyAgent, request } from "undici";
import { type TlsMaterial, tlsOptions } from "./tls.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  /** To be read once, or discarded. */
  readonly body: AsyncIterable<Uint8Array>;
  discard(): void;
}

export type HttpClient = ReturnType<typeof createHttpClient>;

/** URLs; empty: no proxy. */
export type ProxySettings = { readonly httpProxy: string; readonly httpsProxy: string; readonly noProxy: string };

/** Reads the usual names in either case; as in undici, the HTTPS proxy defaults to the HTTP one. */
export function readProxyEnv(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  const read = (name: string) => env[name.toLowerCase()] ?? env[name] ?? "";
  const httpProxy = read("HTTP_PROXY");
  return { httpProxy, httpsProxy: read("HTTPS_PROXY") || httpProxy, noProxy: read("NO_PROXY") };
}

/** A client with connections of its own. */
export function createHttpClient(options: { readonly proxy?: ProxySettings; readonly tls?: TlsMaterial | undefined }) {
  const { proxy = readProxyEnv(process.env) } = options;
  const tls = tlsOptions(options.tls);
  // Deadlines are the caller's, so that they cover the whole exchange.
  const dispatcher = new EnvHttpProxyAgent({
    ...proxy,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: tls,
    requestTls: tls,
  });
  return {
    /** Throws what undici throws; its deadline is the signal's. */
    async send({ url, body, ...rest }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
      const answer = await request(url, { ...rest, body: body ?? null, dispatcher, signal });
      const header = (name: string) => [answer.headers[name]].flat()[0];
      return {
        status: answer.statusCode,
        retryAfter: header("retry-after"),
        body: answer.body,
        discard: () => void answer.body.dump({ limit: 64 * 1024, signal }).catch(() => {}),
      };
    },
    /** Ends its connections at once, and what is in flight on them. */
    close: (): Promise<void> => dispatcher.destroy(),
  };
}

/** The body's first bytes, at most `maxBytes`, and whether there are more. */
export async function readBody(
  body: HttpAnswer["body"],
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: length > maxBytes };
}
