/** A forward proxy that tunnels what it is asked to, and notes where to. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { onTestFinished } from "vitest";

export async function startTunnel(): Promise<{ readonly url: string; readonly targets: string[] }> {
  const targets: string[] = [];
  const proxy = createServer((_, response) => response.writeHead(502).end());
  proxy.on("connect", (request, client, head) => {
    targets.push(request.url ?? "");
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const target = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connected\r\n\r\n");
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, targets };
}
