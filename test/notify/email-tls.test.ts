import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createEmailNotifier } from "../../src/notify/email/send.ts";
import { createMailTransport, type SmtpServer } from "../../src/notify/email/transport.ts";
import type { NotifyError } from "../../src/notify/notifier.ts";
import { demanding, hasOpenssl, makePki, type Pki } from "../support/pki.ts";
import { startSmtpSink } from "../support/smtp-sink.ts";
import { alertOf, notificationOf } from "./fixtures.ts";

const NOTIFICATION = notificationOf({ firing: [alertOf("Till 3")] });
const login = { username: "lenswatch", password: "c4n4ry-p4ssw0rd" };

const title = hasOpenssl ? "smtp.tls" : "smtp.tls (skipped: openssl is not installed)";
describe.skipIf(!hasOpenssl)(title, () => {
  const pki = hasOpenssl ? makePki() : undefined;
  if (!pki) return;
  const own = { ca: pki.ca, ...pki.client };
  const strangers = { ca: pki.ca, cert: undefined, key: undefined };

  /** A server that lets in who shows a certificate, and what came of a message to it. */
  async function send(tls: SmtpServer["tls"], pair: Pki["server"], more: Partial<SmtpServer> = {}) {
    if (!pki) throw new Error("no certificates");
    const sink = await startSmtpSink({ tls: demanding(pki, pair), login });
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

  const refusals: [string, SmtpServer["tls"], Pki["server"], Partial<SmtpServer>?][] = [
    ["a mail server nobody we know vouches for", undefined, pki.server],
    ["the same where TLS is not required", undefined, pki.server, { requireTls: false }],
    ["a mail server another authority vouches for", { ...own, ca: makePki().ca }, pki.server],
    ["a certificate that is for another host", own, pki.elsewhere],
    ["a server that wants a certificate, where we have none", strangers, pki.server],
  ];

  it.each(refusals)("%s gets no message, and the login neither", async (_, tls, pair, more) => {
    const { sink, error } = await send(tls, pair, more);
    expect(error).toMatchObject({ code: "network", retryable: true, scope: "endpoint" });
    expect(sink.logins).toBe(0);
    expect(sink.messages).toEqual([]);
    const said = inspect(error, { depth: 20, showHidden: true });
    expect(said).not.toContain("PRIVATE KEY");
    expect(said).not.toContain(login.password);
  });

  it("a server that offers no TLS, where it is required, gets no message and no login", async () => {
    const sink = await startSmtpSink({ login });
    const { host, port } = sink;
    const smtp = { host, port, ...login, requireTls: true, tls: own };
    const transport = createMailTransport(smtp, { log: silentLogger, closeTimeoutMs: 100 });
    onTestFinished(async () => {
      await transport.close();
      await sink.close();
    });
    const mail = {
      from: "a@example.com",
      to: ["b@example.com"],
      envelope: { from: "a@example.com", to: "b@example.com" },
      subject: "x",
      text: "x",
      messageId: "<x@example.com>",
    };
    const error = await transport.sendMail(mail, AbortSignal.timeout(60_000)).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "network" });
    expect([sink.logins, sink.messages]).toEqual([0, []]);
  });
});
