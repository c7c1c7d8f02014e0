/** HTTP at its barest: one exchange through undici, bounded in size, never redirected, its errors made ours. */
import { EnvHttpProxyAgent, request } from "undici";
import { ServiceError } from "./errors.ts";
import type { ProxyEnv } from "./proxy.ts";
import type { Secrets } from "./secrets.ts";
import { type Tls, tlsOptions, whereToLook } from "./tls.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
}

export interface HttpReply {
  readonly status: number;
  readonly retryAfter: string | string[] | undefined;
  /** The body as text; throws `bad_payload` where it is too large. To be called at most once. */
  text(): Promise<string>;
  /** Lets the body go unread. */
  discard(): void;
}

export interface Http {
  /** Throws ServiceError `unavailable` or `timeout`, or the signal's reason. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpReply>;
  close(): Promise<void>;
}

export function createHttp(deps: {
  secrets: Secrets;
  proxyEnv: ProxyEnv;
  maxBodyBytes: number;
  tls?: Tls | undefined;
}): Http {
  const { httpProxy, httpsProxy, noProxy } = deps.proxyEnv;
  const tls = tlsOptions(deps.tls);
  // The whole exchange has its deadline in the signal, so undici's own clocks are off.
  const dispatcher = new EnvHttpProxyAgent({
    headersTimeout: 0,
    bodyTimeout: 0,
    httpProxy,
    httpsProxy,
    noProxy,
    connect: tls,
    requestTls: tls,
  });

  const failure = (thrown: unknown, url: string, signal: AbortSignal): unknown => {
    if (signal.aborted) return signal.reason;
    if (thrown instanceof ServiceError) return thrown;
    return unreachable(deps.secrets.cause(thrown), url);
  };

  return {
    async send({ method, url, headers, json }, signal) {
      try {
        const reply = await request(url, {
          dispatcher,
          method,
          signal,
          headers: {
            accept: "application/json",
            ...(json === undefined ? {} : { "content-type": "application/json" }),
            ...headers,
          },
          body: json === undefined ? null : JSON.stringify(json),
        });
        return {
          status: reply.statusCode,
          retryAfter: reply.headers["retry-after"],
          text: () =>
            readText(reply.body, deps.maxBodyBytes).catch((thrown) => {
              throw failure(thrown, url, signal);
            }),
          discard: () => void reply.body.dump({ limit: 64 * 1024, signal }).catch(() => {}),
        };
      } catch (thrown) {
        throw failure(thrown, url, signal);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new ServiceError(
        "bad_payload",
        `A reply is larger than ${maxBytes} bytes: ask for fewer at once.`,
      );
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks, size));
}

function unreachable(cause: Error & { code?: unknown }, url: string): ServiceError {
  const code = typeof cause.code === "string" ? cause.code : cause.name;
  const late = code.includes("TIMEOUT") || code === "ETIMEDOUT";
  return new ServiceError(
    late ? "timeout" : "unavailable",
    `${new URL(url).origin} could not be reached (${code}): check the address, ${whereToLook(code)} and the proxy settings.`,
    { cause },
  );
}
