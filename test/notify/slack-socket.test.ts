import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createSlackSocket } from "../../src/demo/slack/socket.ts";
import { NotifyError } from "../../src/notify/notifier.ts";
import type { SlackEnvelope } from "../../src/notify/slack/envelope.ts";
import { SlackSocket, slackSocketAddress } from "../../src/notify/slack/socket.ts";
import { MOST_MS, type WatchedSocket, watchSocket } from "../support/slack/socket.ts";
import { until } from "../support/until.ts";

const press = { type: "block_actions", user: { id: "U1", name: "ana" } };
/** Nothing ends by itself that a test does not end; tries again at once. */
const quick = {
  ...{ helloMs: MOST_MS, pingIntervalMs: MOST_MS, shortMs: 0 },
  ...{ baseMs: 5, capMs: 20, refusedMs: 40, ackMs: 100 },
};
let server: Server;
let slack: WatchedSocket;
const sockets: Socket[] = [];
const soon = (holds: () => boolean | undefined) => until("it happens", () => holds() === true, MOST_MS);

beforeEach(async () => {
  server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  server.on("connection", (socket) => sockets.push(socket));
  slack = watchSocket(createSlackSocket(server, MOST_MS));
});
afterEach(() => {
  slack.close();
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

/** A socket of ours at the stand-in, with what it did. */
function start(
  options: {
    open?: () => Promise<string>;
    act?: (envelope: SlackEnvelope) => Promise<void>;
    times?: Partial<typeof quick>;
  } = {},
) {
  const acted: SlackEnvelope[] = [];
  const health: boolean[] = [];
  const lines: { level: number; msg: string }[] = [];
  const socket = new SlackSocket({
    open: options.open ?? (async () => slack.open().url),
    async act(envelope) {
      acted.push(envelope);
      await options.act?.(envelope);
    },
    connected: (isConnected) => health.at(-1) !== isConnected && health.push(isConnected),
    log: pino({ level: "info" }, { write: (line: string) => lines.push(JSON.parse(line)) }),
    random: () => 0,
    proxy: { httpProxy: "", httpsProxy: "", noProxy: "" },
    times: { ...quick, ...options.times },
  });
  onTestFinished(() => socket.close());
  return { socket, acted, health, lines };
}

describe("the connection", () => {
  test("acts on what it receives and acknowledges it afterwards", async () => {
    let isDone = false;
    const { acted, health } = start({
      act: async () => {
        isDone = true;
      },
    });
    await slack.connected(1);
    await slack.deliver("interactive", press);
    expect(isDone).toBe(true);
    expect(acted).toMatchObject([{ type: "interactive", payload: press }]);
    expect(health).toEqual([false, true]);
  });

  test("acknowledges in time what takes long", async () => {
    const release = Promise.withResolvers<void>();
    start({ act: () => release.promise });
    await slack.connected(1);
    expect(await slack.deliver("interactive", press)).toBeUndefined();
    release.resolve();
  });

  test("acknowledges what fails, and logs it", async () => {
    const { lines } = start({ act: () => Promise.reject(new Error("away")) });
    await slack.connected(1);
    await slack.deliver("interactive", press);
    await soon(() => lines.length > 0);
    expect(lines).toMatchObject([{ msg: "a button of Slack could not be acted on" }]);
  });

  test("acts once on an envelope that Slack sends twice", async () => {
    const { acted } = start();
    await slack.connected(1);
    slack.raw(JSON.stringify({ type: "interactive", envelope_id: "one", payload: press }));
    slack.raw(JSON.stringify({ type: "interactive", envelope_id: "one", payload: press }));
    await slack.deliver("interactive", press);
    expect(acted.map(({ envelope_id }) => envelope_id)).toEqual(["one", "envelope-1"]);
  });

  test.each(["warning", "refresh_requested"] as const)("is replaced before it ends, after %s", async (reason) => {
    const { acted, health, lines } = start();
    await slack.connected(1);
    await soon(() => health.at(-1));
    const [first] = slack.connections();
    slack.disconnect(reason);
    await soon(() => slack.connections().length === 1 && slack.connections()[0] !== first);
    await slack.deliver("interactive", press);
    expect(acted).toHaveLength(1);
    expect(health).toEqual([false, true]);
    expect(lines).toEqual([]);
  });

  test("still serves the old one while the next one waits for its greeting", async () => {
    const { acted } = start();
    await slack.connected(1);
    const [first] = slack.connections();
    slack.sayHello(false);
    slack.disconnect("warning");
    await slack.connected(2);
    await slack.deliver("interactive", press, first);
    expect(acted).toHaveLength(1);
  });
});

describe("after a failure it connects again, says so once, and that it works again", () => {
  const recovered = async ({ health, lines }: ReturnType<typeof start>) => {
    await soon(() => health.at(-1) && health.length > 2);
    expect(health.slice(-2)).toEqual([false, true]);
    const said = lines.map(({ msg }) => msg);
    expect(said.filter((msg) => msg.includes("do not work"))).toHaveLength(1);
    expect(said.at(-1)).toBe("Slack's buttons work again");
  };

  test("cut by the network", async () => {
    const started = start({ open: flaky(2) });
    await slack.connected(1);
    await soon(() => started.health.at(-1));
    slack.connections()[0]?.terminate();
    await recovered(started);
  });

  test("half open: no byte answers its pings", async () => {
    const started = start({ open: flaky(2), times: { pingIntervalMs: 500 } });
    await slack.connected(1);
    await soon(() => started.health.at(-1));
    for (const socket of sockets) socket.pause();
    await recovered(started);
  });

  test("never greeted", async () => {
    slack.sayHello(false);
    const started = start({ times: { helloMs: 500 } });
    await soon(() => started.lines.length > 0);
    slack.sayHello(true);
    await soon(() => started.health.at(-1));
    expect(started.health).toEqual([false, true]);
    await slack.connected(1);
  });

  test("a ticket that is not valid any more", async () => {
    let opened = 0;
    const started = start({
      open: async () => (opened++ === 0 ? slack.open().url.replace("ticket=", "ticket=no") : slack.open().url),
    });
    await soon(() => started.health.at(-1));
    expect(started.lines.map(({ msg }) => msg)).toEqual([
      "Slack's buttons do not work, reconnecting",
      "Slack's buttons work again",
    ]);
  });

  test("ended as soon as it is greeted, again and again: it waits longer each time", async () => {
    const waits: number[] = [];
    let last = performance.now();
    const open = async () => {
      waits.push(performance.now() - last);
      last = performance.now();
      return slack.open().url;
    };
    server.on("upgrade", () => setImmediate(() => slack.disconnect("refresh_requested")));
    const socket = new SlackSocket({
      open,
      act: async () => {},
      connected: () => {},
      log: pino({ level: "silent" }),
      random: () => 1,
      proxy: { httpProxy: "", httpsProxy: "", noProxy: "" },
      times: { ...quick, shortMs: 10_000, baseMs: 20, capMs: 1_000 },
    });
    await soon(() => waits.length >= 4);
    await socket.close();
    expect(waits[3]).toBeGreaterThan(60);
  });

  test("a token that Slack refuses is tried rarely", async () => {
    const tried = { auth: 0, server_error: 0 };
    for (const code of ["auth", "server_error"] as const) {
      const refuse = async () => {
        tried[code] += 1;
        throw new NotifyError(code, "refused", { retryable: true, scope: "endpoint" });
      };
      start({ open: refuse, times: { refusedMs: 60_000 } });
    }
    await soon(() => tried.server_error > 5);
    expect(tried.auth).toBe(1);
  });

  /** Refuses every second time: a token that Slack does not take, or a network that fails. */
  function flaky(fails: number): () => Promise<string> {
    let opened = 0;
    return async () => {
      opened += 1;
      if (opened !== fails) return slack.open().url;
      throw new NotifyError("auth", "refused", { retryable: false, scope: "endpoint" });
    };
  }
});

describe("an address from the Web API", () => {
  const own = "https://slack.com/api";
  test.each([
    ["wss://wss-primary.slack.com/link/?ticket=1", own],
    ["ws://127.0.0.1:81/link/?ticket=1", "http://127.0.0.1:80/api"],
  ])("%s is taken from %s", (url, apiBase) => {
    expect(slackSocketAddress({ ok: true, url }, apiBase)).toBe(url);
  });

  test.each([
    ["wss://slack.com.other.test/", own],
    ["wss://otherslack.com/", own],
    ["ws://wss-primary.slack.com/", own],
    ["https://wss-primary.slack.com/", own],
    ["wss://other.test#.slack.com", own],
    ["ws://localhost:81/", "http://127.0.0.1:80/api"],
    ["ws://169.254.169.254/", "https://169.254.169.254/api"],
    ["nothing", own],
    [7, own],
  ])("%s is not connected to", (url, apiBase) => {
    const call = () => slackSocketAddress({ ok: true, url }, apiBase);
    expect(call).toThrow("gave no address of Slack's");
    expect(call).not.toThrow("ticket");
  });
});

test("messages that are not Slack's end nothing", async () => {
  const { acted } = start();
  await slack.connected(1);
  const hostile = ["", "null", "[]", "{", '"hello"', "{}", '{"type":"events_api"}', '{"type":"interactive"}'];
  for (const text of [...hostile, '{"type":"interactive","envelope_id":7}', '{"type":"hello","connection_info":3}'])
    slack.raw(text);
  await slack.deliver("events_api", {});
  await slack.deliver("interactive", press);
  expect(acted).toHaveLength(1);
});

test("a message above a megabyte ends the connection, which is opened again", async () => {
  const { acted, health } = start();
  await slack.connected(1);
  await soon(() => health.at(-1));
  slack.raw("x".repeat((1 << 20) + 1));
  await soon(() => slack.opened() === 2 && health.at(-1));
  await slack.deliver("interactive", press);
  expect(acted).toHaveLength(1);
});

test.each(["connected", "waiting for the greeting", "waiting to try again"])(
  "closes at once while %s",
  async (state) => {
    const refuse = async () => {
      throw new NotifyError("auth", "refused", { retryable: false, scope: "endpoint" });
    };
    if (state === "waiting for the greeting") slack.sayHello(false);
    const times = { ...quick, helloMs: 60_000, refusedMs: 60_000 };
    const { socket, lines } = start(state === "waiting to try again" ? { open: refuse, times } : { times });
    if (state === "waiting to try again") await soon(() => lines.length === 1);
    else await slack.connected(1);
    const before = performance.now();
    await socket.close();
    expect(performance.now() - before).toBeLessThan(30_000);
    await slack.connected(0);
  },
);

test("finishes what it acts on before it is closed, and takes nothing new", async () => {
  const release = Promise.withResolvers<void>();
  const { socket, acted } = start({ act: () => release.promise });
  await slack.connected(1);
  const first = slack.deliver("interactive", press);
  await soon(() => acted.length === 1);
  const closed = socket.close();
  slack.raw(JSON.stringify({ type: "interactive", envelope_id: "late", payload: press }));
  release.resolve();
  await first;
  await closed;
  expect(acted).toHaveLength(1);
});
