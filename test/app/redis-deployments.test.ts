import { readFileSync } from "node:fs";
import { Cluster, Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { confirmWrites } from "../../src/store/confirm.ts";
import { createClient } from "../../src/store/redis-client.ts";
import { camerasOf, startWatch, type Watch } from "../support/app.ts";
import { hasOpenssl } from "../support/pki.ts";
import { describeWithRedis } from "../support/redis.ts";
import { familyPassword, startCluster, startSentinels, startTls } from "../support/redis-family.ts";
import { until } from "../support/until.ts";

const nodes = (list: readonly { host: string; port: number }[]) =>
  `[ ${list.map(({ host, port }) => `"${host}:${port}"`).join(", ")} ]`;

async function tellsAndEnds(watch: Watch): Promise<void> {
  const [{ id, name }] = camerasOf(watch);
  watch.simulator.world.setStatus(id, "offline");
  expect((await watch.slack.next()).shown).toContain(name);
  watch.simulator.world.setStatus(id, "online");
  expect((await watch.slack.next()).text).toContain("✅");
}

describeWithRedis("deployments of Redis", () => {
  it("Sentinels: after a failover the notification log is on the new master, and nothing is sent twice", async () => {
    await using family = await startSentinels();
    const lines: string[] = [];
    const log = createLogger({ level: "warn", destination: { write: (line: string) => lines.push(line) } as never });
    await using watch = await startWatch({
      redis: `{ sentinels: ${nodes(family.sentinels)}, name: lens, password: ${familyPassword} }`,
      log,
    });
    const [{ id, name }] = camerasOf(watch);
    watch.simulator.world.setStatus(id, "offline");
    await Promise.all([watch.slack.next(), watch.mail.next()]);
    const replica = new Redis({ port: family.replica.port, password: familyPassword });
    const notified = async () => (await replica.keys("*nflog:*")).length;
    await until("the replica has the notification log", async () => (await notified()) === 2);
    replica.disconnect();
    const client = createClient({ sentinels: family.sentinels, name: "lens", password: familyPassword }, "test");
    client.on("error", () => {});
    await client.set("{t}a", 1);
    expect(await confirmWrites(client, "{t}a")).toBe(true);
    await family.master.kill();
    const [, other] = camerasOf(watch);
    watch.simulator.world.setStatus(other.id, "offline");
    await watch.slack.waitFor(({ shown }) => shown.includes(other.name));
    watch.simulator.world.setStatus(id, "online");
    const end = await watch.slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(end.shown).toContain(name);
    expect(watch.slack.messages).toHaveLength(3);
    expect((await fetch(`${watch.app.address}/readyz`)).status).toBe(200);
    await client.set("{t}a", 2);
    expect(await confirmWrites(client, "{t}a")).toBe(false);
    client.disconnect();
    await until("a write that no replica has is said", () =>
      lines.some((line) => line.includes("no replica of Redis confirmed a write in time")),
    );
  });

  it("a cluster: all keys are in one slot, queues and scripts too", async () => {
    await using family = await startCluster();
    await using watch = await startWatch({
      redis: `{ cluster: ${nodes(family.nodes.slice(0, 1))}, password: ${familyPassword} }`,
    });
    await tellsAndEnds(watch);
    const cluster = new Cluster(family.nodes, { redisOptions: { password: familyPassword } });
    await until("the cluster is known", async () => (await cluster.ping()) === "PONG");
    const sizes = await Promise.all(cluster.nodes("master").map((node) => node.dbsize()));
    expect(sizes.filter((size) => size > 0)).toHaveLength(1);
    cluster.disconnect();
  });
});

const name = hasOpenssl ? "Redis behind TLS" : "Redis behind TLS (skipped: openssl is not installed)";
describe.skipIf(!hasOpenssl)(name, () => {
  describeWithRedis("with a private authority and client certificates", () => {
    it("connects; a server with an unknown authority is refused", async () => {
      await using family = await startTls();
      const url = `rediss://127.0.0.1:${family.port}/0`;
      const { at } = family;
      await using watch = await startWatch({
        redis: `{ url: "${url}", tls: { ca_file: ${at("ca.pem")}, cert_file: ${at("client.pem")}, key_file: ${at("client.key")} } }`,
      });
      await tellsAndEnds(watch);
      const pem = (file: string) => readFileSync(at(file), "utf8");
      const stranger = createClient({ url, tls: { cert: pem("client.pem"), key: pem("client.key") } }, "test");
      const refused = new Promise<Error>((resolve) => stranger.on("error", resolve));
      stranger.connect().catch(() => {});
      expect(String(await refused)).toMatch(/certificate/);
      stranger.disconnect();
    });
  });
});
