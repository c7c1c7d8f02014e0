/** Endpoints that answer with bent bytes: a channel says by its own error what happened, and the process lives on. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { notifyErrorCodes } from "../../src/alerting/model.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createAlertmanagerNotifier } from "../../src/notify/alertmanager.ts";
import { createEmailNotifier } from "../../src/notify/email/send.ts";
import { createMailTransport } from "../../src/notify/email/transport.ts";
import { createHeartbeatCall } from "../../src/notify/heartbeat.ts";
import { type Notifier, NotifyError } from "../../src/notify/notifier.ts";
import { createPagerDutyNotifier } from "../../src/notify/pagerduty.ts";
import { createSlackNotifier } from "../../src/notify/slack/send.ts";
import { createTeamsNotifier } from "../../src/notify/teams.ts";
import { createWebhookNotifier } from "../../src/notify/webhook.ts";
import { POISONS } from "../support/hostile-names.ts";
import { type Dice, diceOf, mutateBytes } from "../support/mutate.ts";
import { alertOf, notificationOf } from "./fixtures.ts";

const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_124);
const TIMES = 100;
const AT_ONCE = 50;
/** Long enough for a slow machine: a peer that keeps us waiting ends after `QUIET_MS`. */
const TIMEOUT_MS = 60_000;
const QUIET_MS = 6_000;
const SECRET = "canary-of-an-endpoint";

const crashes: unknown[] = [];
const onCrash = (thrown: unknown) => void crashes.push(thrown);
beforeAll(() => {
  process.on("uncaughtException", onCrash).on("unhandledRejection", onCrash);
});
afterAll(() => {
  process.off("uncaughtException", onCrash).off("unhandledRejection", onCrash);
  expect(crashes).toEqual([]);
});

/** Something that listens and is handed each connection. */
async function listenWith(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    socket.setTimeout(QUIET_MS, () => socket.end());
    serve(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const FINE = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");

/** One in three is as it should be. */
function httpAnswer(dice: Dice): Buffer {
  if (dice.roll(3) === 0) return FINE;
  const body = dice.roll(2) === 0 ? "ok" : dice.pick(["invalid_blocks", "{}", SECRET, ...POISONS]);
  const status = dice.pick([200, 200, 200, 204, 302, 400, 404, 408, 429, 500, 999]);
  const more = dice.pick(["", "Retry-After: 5\r\n", "Retry-After: soon\r\n", `X: ${"y".repeat(70_000)}\r\n`]);
  const length = Buffer.byteLength(body) + (dice.roll(8) === 0 ? 9 : 0);
  const text = `HTTP/1.1 ${status} Whatever\r\nContent-Length: ${length}\r\n${more}Connection: close\r\n\r\n${body}`;
  return dice.roll(2) === 0 ? Buffer.from(text) : mutateBytes(Buffer.from(text), dice);
}

/** Answers each request with something; keeps some waiting. */
const bentHttp = () => {
  let count = 0;
  return listenWith((socket) => {
    socket.once("data", () => {
      const dice = diceOf(SEED + ++count);
      socket.write(httpAnswer(dice), () => dice.roll(4) > 0 && socket.end());
    });
  });
};

const REPLIES = [
  "220 mail.example.com ESMTP",
  "250-mail.example.com\r\n250 8BITMIME",
  "250 OK",
  "354 Go on",
  "221 Bye",
];

/** Talks SMTP, more or less. */
const bentSmtp = () => {
  let count = 0;
  return listenWith((socket) => {
    const dice = diceOf(SEED + ++count);
    const say = (line: string) => {
      const reply = dice.roll(8) === 0 ? mutateBytes(Buffer.from(line), dice) : Buffer.from(line);
      socket.write(Buffer.concat([reply, Buffer.from("\r\n")]));
      if (dice.roll(30) === 0) socket.destroy();
    };
    say(REPLIES[0] ?? "");
    socket.on("data", (data) => {
      const word = data.toString("latin1", 0, 4).toUpperCase();
      if (word === "EHLO") say(REPLIES[1] ?? "");
      else if (word === "DATA") say(REPLIES[3] ?? "");
      else
        say(
          dice.pick([
            ...Array<string>(9).fill(REPLIES[2] ?? ""),
            `550 ${dice.pick(POISONS)}`,
            `4${dice.roll(100)} later`,
          ]) ?? "",
        );
    });
  });
};

const CODES: ReadonlySet<string> = new Set(notifyErrorCodes);
const notification = notificationOf({ firing: [alertOf("Till 3")] });
const never = new AbortController().signal;

/** What is wrong with what a channel threw. */
function problemWith(thrown: unknown): string | undefined {
  if (!(thrown instanceof NotifyError)) return `no NotifyError: ${inspect(thrown)}`;
  const shown = inspect(thrown, { depth: 9, showHidden: true });
  if (!CODES.has(thrown.code)) return `code ${thrown.code}`;
  if (shown.includes(SECRET)) return `a secret: ${shown}`;
  if (thrown.message.length > 300) return `${thrown.message.length} characters`;
  return undefined;
}

async function sendAll(notifier: Notifier): Promise<{ accepted: number; problems: string[] }> {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  while (outcomes.length < TIMES) {
    const sends = Array.from({ length: AT_ONCE }, () => notifier.send(notification, { signal: never }));
    outcomes.push(...(await Promise.allSettled(sends)));
  }
  await notifier.close();
  const refused = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  return { accepted: TIMES - refused.length, problems: refused.flatMap((thrown) => problemWith(thrown) ?? []) };
}

const common = { timeoutMs: TIMEOUT_MS, log: silentLogger };
const http = { authorization: undefined, basicAuth: undefined, tls: undefined };

const channels: Readonly<Record<string, () => Promise<Notifier>>> = {
  slack: async () => createSlackNotifier({ ...common, apiUrl: `http://${await bentHttp()}/services/${SECRET}` }),
  webhook: async () =>
    createWebhookNotifier({
      ...common,
      http,
      url: `http://${await bentHttp()}/${SECRET}`,
      secret: SECRET,
      maxAlerts: 0,
    }),
  pagerduty: async () =>
    createPagerDutyNotifier({
      ...common,
      http,
      url: `http://${await bentHttp()}`,
      routingKey: SECRET,
      sendResolved: true,
    }),
  msteamsv2: async () => createTeamsNotifier({ ...common, http, webhookUrl: `http://${await bentHttp()}/${SECRET}` }),
  alertmanager: async () =>
    createAlertmanagerNotifier({ ...common, http, url: `http://${await bentHttp()}`, resendMs: 60_000 }),
  email: async () => {
    const [host = "", port = ""] = (await bentSmtp()).split(":");
    const smtp = { host, port: Number(port), username: undefined, password: undefined, requireTls: false };
    const transport = createMailTransport(smtp, { ...common, maxConnections: 20, closeTimeoutMs: 100 });
    onTestFinished(() => transport.close());
    const [from, to] = ["lenswatch@example.com", "ops@example.com"];
    return createEmailNotifier({ ...common, transport, from, to: [to], recipient: to });
  },
};

describe(`answers that mean harm (seed ${SEED})`, () => {
  it.concurrent.each(Object.keys(channels))("to %s: accepted, or refused by its own error", async (name) => {
    const notifier = await channels[name]?.();
    if (!notifier) throw new Error("no such channel");
    const { accepted, problems } = await sendAll(notifier);
    expect(problems).toEqual([]);
    expect(accepted).toBeGreaterThan(5);
    expect(accepted).toBeLessThan(TIMES - 20);
  });

  it.concurrent("to the heartbeat: taken, or a reason without the address", async () => {
    const call = createHeartbeatCall({ url: `http://${await bentHttp()}/${SECRET}`, timeoutMs: TIMEOUT_MS });
    const reasons = await Promise.all(Array.from({ length: AT_ONCE }, () => call.call(never)));
    await call.close();
    expect(reasons.filter((why) => why === undefined).length).toBeGreaterThan(5);
    for (const why of reasons) expect(why ?? "").toMatch(/^[\x20-\x7e]{0,120}$/);
    expect(reasons.join("\n")).not.toContain(SECRET);
  });
});
