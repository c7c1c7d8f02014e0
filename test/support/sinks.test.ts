import nodemailer from "nodemailer";
import { afterEach, describe, expect, it } from "vitest";
import { startSlackSink } from "./slack-sink.ts";
import { startSmtpSink } from "./smtp-sink.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function slack() {
  const sink = await startSlackSink();
  cleanups.push(() => sink.close());
  const post = (body: unknown) => fetch(sink.url, { method: "POST", body: JSON.stringify(body) });
  return { sink, post };
}

describe("the Slack sink", () => {
  it("hands out messages in order and lets a test wait for one", async () => {
    const { sink, post } = await slack();
    const wanted = sink.waitFor(({ text }) => text === "two");
    const first = sink.next();
    await post({ text: "one" });
    await post({ text: "two" });
    expect((await first).text).toBe("one");
    expect((await sink.next()).text).toBe("two");
    expect(await wanted).toBe(sink.messages[1]);
  });

  it("says what it had when a wait was in vain", async () => {
    const { sink, post } = await slack();
    await post({ text: "one" });
    await expect(sink.waitFor(() => false, 10)).rejects.toThrow("none within 10 ms; 1 came in all");
  });

  it("ends waits when it is closed", async () => {
    const { sink } = await slack();
    const waiting = sink.next();
    await sink.close();
    await expect(waiting).rejects.toThrow("closed");
  });

  it("answers as Slack does, and as it is told", async () => {
    const { sink, post } = await slack();
    expect(await (await post({ text: "fine" })).text()).toBe("ok");
    const refused = await post({ blocks: [{ type: "section", text: { type: "mrkdwn", text: "x".repeat(3_001) } }] });
    expect([refused.status, await refused.text()]).toEqual([400, "invalid_blocks"]);
    sink.respond((_message, position) => ({ status: position === 2 ? 429 : 200, headers: { "retry-after": "3" } }));
    const slow = await post({ text: "again" });
    expect([slow.status, slow.headers.get("retry-after")]).toEqual([429, "3"]);
  });
});

describe("the mail sink", () => {
  it("parses what it catches and refuses whom it is told to", async () => {
    const sink = await startSmtpSink();
    cleanups.push(() => sink.close());
    const mailer = nodemailer.createTransport({ host: sink.host, port: sink.port });
    const mail = { from: "a@example.com", subject: "Grüße", text: "Hallo", html: "<b>Hallo</b>" };
    await mailer.sendMail({ ...mail, to: "b@example.com" });
    expect(await sink.next()).toMatchObject({
      from: "a@example.com",
      rcpts: ["b@example.com"],
      subject: "Grüße",
      text: expect.stringContaining("Hallo"),
      html: expect.stringContaining("<b>Hallo</b>"),
      headers: { to: "b@example.com" },
    });
    sink.respond({ rcpt: { "c@example.com": { code: 550 } } });
    await expect(mailer.sendMail({ ...mail, to: "c@example.com" })).rejects.toMatchObject({ responseCode: 550 });
    await mailer.sendMail({ ...mail, to: "b@example.com" });
    expect(sink.messages).toHaveLength(2);
  });
});
