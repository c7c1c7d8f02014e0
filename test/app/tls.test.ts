import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { camerasOf, pictured, prepareWatch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { demanding, hasOpenssl, makePki, type Pki } from "../support/pki.ts";
import { describeWithRedis } from "../support/redis.ts";

/** A TLS proxy to a local port that requires a client certificate. */
async function startFront(port: number, pki: Pki) {
  const sockets = new Set<Socket>();
  const server = createServer(demanding(pki), (outside) => {
    const inside = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {}).on("close", () => other.destroy());
    }
    outside.pipe(inside).pipe(outside);
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    renew(next: Pki) {
      server.setSecureContext(demanding(next));
      cut();
    },
  };
}

async function writePems(dir: string, pems: Readonly<Record<string, string>>): Promise<void> {
  await Promise.all(Object.entries(pems).map(([name, pem]) => writeFile(join(dir, `${name}.pem`), pem)));
}

const title = hasOpenssl ? "behind TLS" : "behind TLS (skipped: openssl is not installed)";
describe.skipIf(!hasOpenssl)(title, () => {
  describeWithRedis("with private certificates", () => {
    it("renewed certificates are loaded without a restart; a certificate without its new key is refused", async () => {
      const [first, second] = [makePki(), makePki()];
      await using stage = await prepareWatch();
      const { port } = new URL(stage.simulator.baseUrl);
      const front = await startFront(Number(port), first);
      const dir = await mkdtemp(join(tmpdir(), "lenswatch-tls-"));
      onTestFinished(() => rm(dir, { recursive: true, force: true }));
      await writePems(dir, { ca: first.ca, ...first.client });
      const file = (name: string) => `${name}_file: ${join(dir, `${name}.pem`)}`;
      const config = stage.config
        .replaceAll(`http://127.0.0.1:${port}`, `https://127.0.0.1:${front.port}`)
        .replaceAll(`ws://127.0.0.1:${port}`, `wss://127.0.0.1:${front.port}`)
        .replace("\nredis:", `\n  tls: { ${["ca", "cert", "key"].map(file).join(", ")} }\nredis:`);
      const daemon = await startDaemon(config);
      await pictured(stage);
      const [camera, other] = camerasOf(stage);
      stage.simulator.world.setStatus(camera.id, "offline");
      await stage.slack.waitFor(({ shown }) => shown.includes(camera.name));

      front.renew(second);
      await writePems(dir, { ca: second.ca, cert: second.client.cert });
      const refused = await daemon.logged("configuration refused, keeping the active one");
      expect(String(refused.problems)).toContain("expected the key of the certificate beside it");
      await writePems(dir, { key: second.client.key });
      await daemon.logged("configuration reloaded");
      stage.simulator.world.setStatus(other.id, "offline");
      await stage.slack.waitFor(({ shown }) => shown.includes(other.name));
      expect(await daemon.end("SIGTERM")).toBe(0);
      expect(JSON.stringify(daemon.log)).not.toContain("PRIVATE KEY");
    });
  });
});
