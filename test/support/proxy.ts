import { once } from "node:events";
import { createServer, type IncomingMessage, request as requestTo } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { onTestFinished } from "vitest";

export interface Proxy {
  readonly host: string;
  readonly url: string;
  readonly seen: readonly string[];
  /** `user:password` of the clients that sent one. */
  readonly logins: ReadonlySet<string>;
  /** `token` of the query of each upgrade of a plain socket. */
  readonly tokens: ReadonlySet<string>;
}

/**
 * A forward proxy that notes what passes, absolute-form requests, upgrades and CONNECT tunnels, and as whom; closed when
 * the test is over.
 */
export async function startProxy(): Promise<Proxy> {
  const seen: string[] = [];
  const logins = new Set<string>();
  const tokens = new Set<string>();
  const noteLogin = ({ headers }: IncomingMessage) => {
    const basic = /^Basic (.*)$/.exec(headers["proxy-authorization"] ?? "")?.[1];
    if (basic) logins.add(Buffer.from(basic, "base64").toString());
  };
  const proxy = createServer((request, response) => {
    seen.push(`${request.method} ${new URL(request.url ?? "").pathname}`);
    noteLogin(request);
    const { "proxy-authorization": _, ...headers } = request.headers;
    const onward = requestTo(request.url ?? "", { method: request.method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.on("error", () => response.destroy()).pipe(response);
    });
    onward.on("error", () => response.writeHead(502).end());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  proxy.on("connect", (request, client, head) => {
    seen.push(`CONNECT ${request.url}`);
    noteLogin(request);
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const target = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connected\r\n\r\n");
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
  });
  proxy.on("upgrade", (request, client, head) => {
    const url = new URL(request.url ?? "");
    noteLogin(request);
    tokens.add(url.searchParams.get("token") ?? "");
    seen.push(`UPGRADE ${url.pathname}`);
    const target = connect(Number(url.port), url.hostname, () => {
      const headers = request.rawHeaders.map((text, i) => (i % 2 ? `${text}\r\n` : `${text}: `)).join("");
      target.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${headers}\r\n`);
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}`, seen, logins, tokens };
}
