import { type AddressInfo, createServer } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createEmailNotifier, mailboxAddress } from "../../src/notify/email/send.ts";
import { createMailTransport, type MailTransport, type SmtpServer } from "../../src/notify/email/transport.ts";
import type { Notifier, NotifyError } from "../../src/notify/notifier.ts";
import { demanding, hasOpenssl, makePki, type Pki } from "../support/pki.ts";
import { type SmtpResponses, type SmtpSink, startSmtpSink } from "../support/smtp-sink.ts";
import { describeChannel, type Fault, type Rig, type RigOptions } from "./contract.ts";
import { alertOf, endedOf, notificationOf } from "./fixtures.ts";

const PASSWORD = "c4n4ry-p4ssw0rd";
const FROM = "lenswatch <lenswatch@example.com>";
const TO = ["a@example.com", "Ops on call <b@example.com>"];
const NOTIFICATION = notificationOf({ firing: [alertOf("Till 3")] });

interface MailRig extends Rig {
  readonly sink: SmtpSink;
}

async function startRig({ timeoutMs, log }: RigOptions): Promise<MailRig> {
  const sink = await startSmtpSink({ login: { username: "lenswatch", password: PASSWORD } });
  const { host, port } = sink;
  const smtp = { host, port, username: "lenswatch", password: PASSWORD, requireTls: false };
  const transport = createMailTransport(smtp, { log, closeTimeoutMs: 100 });
  const channel = createEmailNotifier({ transport, from: FROM, to: TO, recipient: "b@example.com", timeoutMs, log });
  async function close(): Promise<void> {
    await channel.close();
    await transport.close();
  }
  return {
    sink,
    notifier: { send: channel.send, close },
    secrets: [
      PASSWORD,
      Buffer.from(PASSWORD).toString("base64"),
      Buffer.from(`\0lenswatch\0${PASSWORD}`).toString("base64"),
    ],
    accepted: () => sink.messages.length,
    hang: () => sink.respond({ mailFrom: "hang" }),
    vanish: () => sink.close(),
    async close() {
      await close();
      await sink.close();
    },
  };
}

function refusing(
  when: string,
  responses: SmtpResponses,
  code: Fault<MailRig>["code"],
  scope: Fault<MailRig>["scope"],
  retryable: boolean,
): Fault<MailRig> {
  return { when, arrange: ({ sink }) => sink.respond(responses), code, scope, retryable };
}

/** A reply that quotes what it should not. */
const TELLTALE = `no, ${PASSWORD} is ${Buffer.from(PASSWORD).toString("base64")}`;

describeChannel("e-mail", startRig, [
  refusing(
    "the recipient is refused",
    { rcpt: { "b@example.com": { code: 550 } } },
    "recipient_refused",
    "message",
    false,
  ),
  refusing("the recipient is to be tried later", { rcpt: { "*": { code: 450 } } }, "server_error", "message", true),
  refusing("the sender is refused", { mailFrom: { code: 550, message: TELLTALE } }, "auth", "endpoint", true),
  refusing("the sender is to try later", { mailFrom: { code: 451 } }, "server_error", "endpoint", true),
  refusing("the message is refused", { data: { code: 554, message: TELLTALE } }, "bad_request", "message", false),
  refusing("the message is to be sent later", { data: { code: 452 } }, "server_error", "endpoint", true),
  refusing("the login is refused", { auth: { code: 535, message: TELLTALE } }, "auth", "endpoint", true),
  refusing("the login is to be tried later", { auth: { code: 454 } }, "server_error", "endpoint", true),
  refusing("the server is closing", { connect: { code: 421 } }, "server_error", "endpoint", true),
  refusing("the server lets nobody in", { connect: { code: 554 } }, "server_error", "endpoint", true),
]);

describe("e-mail's sender", () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function sink(options: Parameters<typeof startSmtpSink>[0] = {}): Promise<SmtpSink> {
    const made = await startSmtpSink(options);
    cleanups.push(() => made.close());
    return made;
  }

  function transportTo(
    { host, port }: { host: string; port: number },
    options: { requireTls?: boolean; timeoutMs?: number; maxConnections?: number } = {},
  ): MailTransport {
    const { requireTls = false, ...rest } = options;
    const smtp = { host, port, username: undefined, password: undefined, requireTls };
    const made = createMailTransport(smtp, { log: silentLogger, closeTimeoutMs: 100, ...rest });
    cleanups.push(() => made.close());
    return made;
  }

  function channel(transport: MailTransport, recipient = "b@example.com"): Notifier {
    return createEmailNotifier({ transport, from: FROM, to: TO, recipient, timeoutMs: 60_000, log: silentLogger });
  }

  function send(
    of: Notifier,
    notification = NOTIFICATION,
    plain = false,
  ): Promise<{ handle?: string | undefined } | undefined> {
    return of.send(notification, { signal: new AbortController().signal, plain });
  }

  it("delivers to its own recipient alone and shows all of them", async () => {
    const server = await sink();
    await send(channel(transportTo(server), "Ops on call <b@example.com>"));
    const mail = await server.next();
    expect(mail.from).toBe("lenswatch@example.com");
    expect(mail.rcpts).toEqual(["b@example.com"]);
    expect(mail.headers.to).toBe("a@example.com, Ops on call <b@example.com>");
    expect(mail.subject).toBe("🔴 Till 3 offline · Leeds Briggate");
    expect(mail.headers["auto-submitted"]).toBe("auto-generated");
    expect(mail.text).toContain("Since 14:05 GMT (12 m)");
    expect(mail.html).toContain("Since 14:05 GMT (12 m)");
  });

  it("keeps the Message-ID when a message is tried again, and one thread per conversation", async () => {
    const server = await sink();
    const of = channel(transportTo(server));
    const posted = await send(of);
    expect(await send(of)).toEqual(posted);
    const conversation = { id: "c", openedAt: 0, isOver: true, ...posted };
    const end = { reason: "resolved", resolved: [endedOf("Till 3")], messageId: "two / ümlaut>" } as const;
    expect(await send(of, notificationOf({ ...end, conversation }))).toEqual(posted);
    await send(of, notificationOf({ firing: [alertOf("Till 3")], messageId: "three" }));
    const [first, again, later, next] = server.messages.map(({ headers }) => headers);
    expect(again?.["message-id"]).toBe(first?.["message-id"]);
    expect(later?.["message-id"]).not.toBe(first?.["message-id"]);
    for (const { headers } of server.messages)
      expect(headers["message-id"]).toMatch(/^<[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*@example\.com>$/);
    expect(posted).toEqual({ handle: first?.["message-id"] });
    expect(first?.references).toBeUndefined();
    for (const name of ["references", "in-reply-to"] as const) expect(later?.[name]).toBe(first?.["message-id"]);
    expect(next?.references).toBeUndefined();
  });

  it("uses one connection for many messages", async () => {
    const server = await sink();
    const of = channel(transportTo(server));
    for (let i = 0; i < 5; i += 1) await send(of);
    expect(server.messages).toHaveLength(5);
    expect(server.connections).toBe(1);
  });

  it("goes on with other recipients after one was refused", async () => {
    const server = await sink();
    server.respond({ rcpt: { "a@example.com": { code: 550 } } });
    const transport = transportTo(server);
    await expect(send(channel(transport, "a@example.com"))).rejects.toMatchObject({ code: "recipient_refused" });
    await send(channel(transport, "b@example.com"));
    expect(server.messages.map(({ rcpts }) => rcpts)).toEqual([["b@example.com"]]);
  });

  it("drops a message that waited past its deadline instead of sending it late", async () => {
    const server = await sink();
    server.respond({ mailFrom: "hang" });
    const transport = transportTo(server, { maxConnections: 1 });
    const given = AbortSignal.timeout(150);
    const both = [1, 2].map(() => channel(transport).send(NOTIFICATION, { signal: given }));
    for (const result of await Promise.allSettled(both)) expect(result.status).toBe("rejected");
    server.respond({});
    await send(channel(transport));
    expect(server.messages).toHaveLength(1);
  });

  it("is not blocked by a server that accepts connections and never greets", async () => {
    const mute = createServer();
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => mute.close());
    const { port } = mute.address() as { port: number };
    const sending = send(channel(transportTo({ host: "127.0.0.1", port }, { timeoutMs: 150 })));
    await expect(sending).rejects.toMatchObject({ code: "timeout" });
  });

  it("names a host that does not exist as a matter of the network", async () => {
    const sending = send(channel(transportTo({ host: "mail.invalid", port: 25 })));
    await expect(sending).rejects.toMatchObject({ code: "network", scope: "endpoint" });
  });

  it("refuses to send once it is closed", async () => {
    const transport = transportTo(await sink());
    await transport.close();
    await expect(send(channel(transport))).rejects.toMatchObject({ name: "NotifyError" });
  });

  it.each([
    ["ops@example.com", "ops@example.com"],
    ["Ops <ops@example.com>", "ops@example.com"],
    ['"Ops, night" <ops@example.com>', "ops@example.com"],
  ])("reads the address of %s", (mailbox, address) => {
    expect(mailboxAddress(mailbox)).toBe(address);
  });
});

describe("a mail server whose greeting does not end", () => {
  it.each([
    ["in its line", "x".repeat(65_536)],
    ["in its lines", "220-x\r\n".repeat(10_000)],
  ])("%s is left after a few megabytes, by name", async (_, text) => {
    let poured = 0;
    const server = createServer((socket) => {
      const pour = () => {
        do poured += text.length;
        while (!socket.destroyed && socket.write(text));
      };
      socket.on("error", () => {}).on("drain", pour);
      pour();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const smtp = { host: "127.0.0.1", port, username: undefined, password: undefined, requireTls: false };
    const transport = createMailTransport(smtp, { log: silentLogger });
    const [to = ""] = TO;
    const common = { transport, from: FROM, to: [to], recipient: to, timeoutMs: 10_000, log: silentLogger };
    const sent = createEmailNotifier(common).send(NOTIFICATION, { signal: new AbortController().signal });
    await expect(sent).rejects.toMatchObject({ code: "network" });
    await transport.close();
    await new Promise((resolve) => server.close(resolve));
    expect(poured).toBeLessThan(32_000_000);
  });
});

const login = { username: "lenswatch", password: PASSWORD };
const title = hasOpenssl ? "smtp.tls" : "smtp.tls (skipped: openssl is not installed)";
describe.skipIf(!hasOpenssl)(title, () => {
  const pki = hasOpenssl ? makePki() : undefined;
  if (!pki) return;
  const own = { ca: pki.ca, ...pki.client };
  const strangers = { ca: pki.ca, cert: undefined, key: undefined };

  /** A server that lets in who shows a certificate, and what came of a message to it. */
  async function send(tls: SmtpServer["tls"], pair: Pki["server"] | undefined, more: Partial<SmtpServer> = {}) {
    if (!pki) throw new Error("no certificates");
    const sink = await startSmtpSink({ ...(pair && { tls: demanding(pki, pair) }), login });
    const { host, port } = sink;
    const smtp = { host, port, ...login, requireTls: true, tls, ...more };
    const transport = createMailTransport(smtp, { log: silentLogger, closeTimeoutMs: 100 });
    const [from, to] = ["lenswatch@example.com", "ops@example.com"];
    const options = { transport, from, to: [to], recipient: to, timeoutMs: 60_000, log: silentLogger };
    onTestFinished(async () => {
      await transport.close();
      await sink.close();
    });
    const sending = createEmailNotifier(options).send(NOTIFICATION, { signal: new AbortController().signal });
    const error: NotifyError | undefined = await sending.then(
      () => undefined,
      (thrown) => thrown,
    );
    return { sink, error };
  }

  it("vouches for the mail server and shows it our certificate", async () => {
    const { sink, error } = await send(own, pki.server);
    expect(error).toBeUndefined();
    expect((await sink.next()).rcpts).toEqual(["ops@example.com"]);
  });

  const refusals: [string, SmtpServer["tls"], Pki["server"] | undefined, Partial<SmtpServer>?][] = [
    ["a mail server nobody we know vouches for", undefined, pki.server],
    ["the same where TLS is not required", undefined, pki.server, { requireTls: false }],
    ["a mail server another authority vouches for", { ...own, ca: makePki().ca }, pki.server],
    ["a certificate that is for another host", own, pki.elsewhere],
    ["a server that wants a certificate, where we have none", strangers, pki.server],
    ["a server that offers no TLS, where it is required", own, undefined],
  ];

  it.each(refusals)("%s gets no message, and the login neither", async (_, tls, pair, more) => {
    const { sink, error } = await send(tls, pair, more);
    expect(error).toMatchObject({ code: "network", retryable: true, scope: "endpoint" });
    expect(error?.message).toMatch(/TLS|certificate/);
    expect(sink.logins).toBe(0);
    expect(sink.messages).toEqual([]);
    const said = inspect(error, { depth: 20, showHidden: true });
    expect(said).not.toContain("PRIVATE KEY");
    expect(said).not.toContain(PASSWORD);
  });
});
