/** A failover that Sentinels announce while a client asks one of them for the new master. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createClient } from "../../src/store/redis-client.ts";
import { describeWithRedis, startTestRedis, type TestRedis } from "../support/redis.ts";

const text = (value: string) => `$${value.length}\r\n${value}\r\n`;

/** Speaks as much of a Sentinel's protocol as clients ask; `hold` keeps back where the master is. */
async function startSentinel(port: string) {
  const subscribers = new Set<Socket>();
  let held: (() => void)[] | undefined;
  let asked = () => {};
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      for (const command of data
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1))
        answer(socket, command.toLowerCase());
    });
  });
  function answer(socket: Socket, command: string) {
    const master = () => socket.write(`*2\r\n${text("127.0.0.1")}${text(port)}`);
    if (command.includes("hello")) socket.write("-ERR unknown command 'HELLO'\r\n");
    else if (command.includes("get-master-addr-by-name")) {
      if (held) held.push(master);
      else master();
      asked();
    } else if (command.includes("sentinels")) socket.write("*0\r\n");
    else if (command.includes("subscribe")) {
      subscribers.add(socket);
      socket.write(`*3\r\n${text("subscribe")}${text("+switch-master")}:1\r\n`);
      asked();
    } else socket.write("+OK\r\n");
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return {
    address: server.address() as { port: number },
    subscribers,
    next: () =>
      new Promise<void>((resolve) => {
        asked = resolve;
      }),
    hold() {
      held = [];
    },
    release() {
      for (const send of held ?? []) send();
      held = undefined;
    },
    announce() {
      const message = `*3\r\n${text("message")}${text("+switch-master")}${text("lens")}`;
      for (const socket of subscribers) socket.write(message);
    },
  };
}

/** As `once` of Node, which an error would reject. */
const nextOf = (client: Redis, event: "end" | "ready") =>
  new Promise<void>((resolve) => void client.once(event, () => resolve()));

describeWithRedis("a client of Sentinels", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis.stop());

  describe.each(["itself", "its duplicate"])("%s", (which) => {
    async function connect() {
      const { port, password } = new URL(redis.url);
      const sentinel = await startSentinel(port);
      const sentinels = [{ host: "127.0.0.1", port: sentinel.address.port }];
      const first = createClient({ sentinels, name: "lens", password }, "test");
      const client = which === "itself" ? first : first.duplicate();
      client.on("error", () => {});
      onTestFinished(() => client.disconnect());
      await client.ping();
      return { client, sentinel };
    }

    test("goes on after a failover that is announced while it asks for the new master", async () => {
      const { client, sentinel } = await connect();
      while (sentinel.subscribers.size === 0) await sentinel.next();
      const [subscriber] = sentinel.subscribers;
      if (!subscriber) throw new Error("no subscriber");
      sentinel.hold();
      const isAsked = sentinel.next();
      const other = new Redis(redis.url);
      await other.client("KILL", "ID", await client.client("ID"));
      other.disconnect();
      await isAsked;
      const isEnded = nextOf(client, "end");
      sentinel.announce();
      await once(subscriber, "close");
      sentinel.release();
      await isEnded;
      await nextOf(client, "ready");
      expect(await client.ping()).toBe("PONG");
    });

    test.each(["disconnect", "quit"] as const)("ends for good by %s", async (close) => {
      const { client } = await connect();
      vi.useFakeTimers({ toFake: ["setTimeout"] });
      onTestFinished(() => void vi.useRealTimers());
      const isEnded = nextOf(client, "end");
      await client[close]();
      await isEnded;
      const reconnect = vi.spyOn(client, "connect");
      vi.runAllTimers();
      expect(reconnect).not.toHaveBeenCalled();
    });
  });
});
