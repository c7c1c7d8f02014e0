/**
 * Which proxy to use, from the environment, for HTTP and for the socket alike. Node's own agents tunnel `wss:`
 * through CONNECT; a plain `ws:` is forwarded as any plain HTTP request is.
 */
import http from "node:http";
import https from "node:https";

export interface ProxyEnv {
  /** Empty: none. */
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

/** Reads the usual names in either case; as in undici, HTTPS falls back on HTTP's proxy. */
export function readProxyEnv(env: Readonly<Record<string, string | undefined>>): ProxyEnv {
  const read = (name: string) => env[name.toLowerCase()] ?? env[name] ?? "";
  const httpProxy = read("HTTP_PROXY");
  return { httpProxy, httpsProxy: read("HTTPS_PROXY") || httpProxy, noProxy: read("NO_PROXY") };
}

/** The agent a WebSocket's handshake goes through; undefined where no proxy is set. */
export function socketAgent(url: URL, env: ProxyEnv): http.Agent | undefined {
  const proxyEnv = { http_proxy: env.httpProxy, https_proxy: env.httpsProxy, no_proxy: env.noProxy };
  if (url.protocol === "wss:") return env.httpsProxy ? new https.Agent({ proxyEnv }) : undefined;
  return env.httpProxy ? new http.Agent({ proxyEnv }) : undefined;
}
