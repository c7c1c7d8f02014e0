import { once } from "node:events";
import { createConnection } from "node:net";
import { createTransport } from "nodemailer";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Inbox, startInbox } from "../../src/demo/inbox.ts";
import type { InboxMessage } from "../../src/demo/mail-server.ts";
import { paintFor, printMessage } from "../../src/demo/print.ts";

let inbox: Inbox;
let caught: InboxMessage[];

beforeEach(async () => {
  caught = [];
  inbox = await startInbox({
    clock: { now: () => Date.UTC(2026, 0, 5, 14, 5, 7) },
    onMessage: (message) => caught.push(message),
  });
});

afterEach(() => inbox.close());

const offline = {
  text: "2 recordings offline · Leeds Briggate",
  attachments: [
    {
      color: "#d40e0d",
      blocks: [
        { type: "section", text: { type: "mrkdwn", text: "*2 recordings offline · Leeds Briggate*" } },
        { type: "section", text: { type: "mrkdwn", text: "*Till 3* since 14:05\nEntrance &lt;b&gt;" } },
        { type: "section", text: { type: "mrkdwn", text: "<https://x.example/a|status page>" } },
      ],
    },
  ],
};

async function post(body: unknown): Promise<{ status: number; text: string }> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(inbox.slackUrl, { method: "POST", body: text });
  return { status: response.status, text: await response.text() };
}

async function mail(message: { subject: string; text: string; html?: string }): Promise<void> {
  const transport = createTransport({ ...inbox.smtp, secure: false });
  await transport.sendMail({ from: "Lens <lens@example.com>", to: ["a@example.com", "b@example.com"], ...message });
  transport.close();
}

describe("the inbox as a Slack webhook", () => {
  test("answers ok and shows the message on its page", async () => {
    expect(await post(offline)).toEqual({ status: 200, text: "ok" });
    const page = await (await fetch(inbox.url)).text();
    expect(page).toContain("<b>2 recordings offline · Leeds Briggate</b>");
    expect(page).toContain("<b>Till 3</b> since 14:05<br>Entrance &lt;b&gt;");
    expect(page).toContain('<a href="https://x.example/a"');
    expect(page).toContain('fill="#d40e0d"');
    expect(page).toContain("14:05:07 UTC");
  });

  test.each([
    ["something that is no JSON", "{"],
    ["a message without anything in it", {}],
    ["blocks that are none", { blocks: "no" }],
  ])("refuses %s as Slack does", async (_, body) => {
    expect(await post(body)).toEqual({ status: 400, text: "invalid_payload" });
    expect(caught).toEqual([]);
  });

  test("lets no text from a message become markup or script of the page", async () => {
    await post({
      text: '<script>alert("x")</script>',
      attachments: [
        {
          color: '"/><script>',
          blocks: [{ type: "section", text: { type: "plain_text", text: '<img src=x onerror="a">' } }],
        },
      ],
    });
    const page = await (await fetch(inbox.url)).text();
    expect(page).toContain("&lt;img src=x onerror=&quot;a&quot;&gt;");
    expect(page).not.toContain("<script>");
    expect(page.match(/<script /g)).toHaveLength(1);
  });

  test("prints what a person would read of it, links aside, without colours off a terminal", async () => {
    await post(offline);
    const [message] = caught;
    const printed = message ? printMessage(message, paintFor(process.stdout, { NO_COLOR: "1" })) : "";
    expect(
      printed
        .split("\n")
        .slice(1, -1)
        .map((line) => line.trim()),
    ).toEqual(["┃ Till 3 since 14:05", "┃ Entrance <b>"]);
    expect(printed).toContain("Slack   2 recordings offline · Leeds Briggate\n");
  });

  test("prints a title once, though lock screens are given the whole message", async () => {
    await post({
      text: "1 recording offline · Leeds\nTill 3: offline since 14:05",
      blocks: [{ type: "section", text: { type: "mrkdwn", text: "*1 recording offline · Leeds*" } }],
      attachments: [
        { blocks: [{ type: "section", text: { type: "mrkdwn", text: "*Till 3* · offline since 14:05" } }] },
      ],
    });
    const [message] = caught;
    const printed = message ? printMessage(message, (_, text) => text) : "";
    expect(printed.split("\n").map((line) => line.trim().replace(/^[\d:]+ +/, ""))).toEqual([
      "Slack   1 recording offline · Leeds",
      "┃ Till 3 · offline since 14:05",
      "",
    ]);
  });

  test("prints no control characters of a hostile message", async () => {
    await post({ text: "a\u001b[2J\u001b]0;owned\u0007\r\nb" });
    const [message] = caught;
    const printed = message ? printMessage(message, (_, text) => text) : "";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(printed.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f]/);
  });
});

describe("the inbox as a mail server", () => {
  test("catches a mail with subject, recipients and HTML in a frame that runs nothing", async () => {
    await mail({ subject: "Recovered: Till 3", text: "plain", html: "<p>It is <b>back</b></p>" });
    expect(caught).toMatchObject([
      { kind: "email", mail: { subject: "Recovered: Till 3", to: "a@example.com, b@example.com", text: "plain\n" } },
    ]);
    const page = await (await fetch(inbox.url)).text();
    expect(page).toContain('<iframe sandbox title="E-mail: Recovered: Till 3" src="/mail/1"');
    const frame = await fetch(`${inbox.url}/mail/1`);
    expect(await frame.text()).toContain("<p>It is <b>back</b></p>");
    expect(frame.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
  });

  test("shows a plain mail as text", async () => {
    await mail({ subject: "s", text: "a <b>" });
    expect(await (await fetch(`${inbox.url}/mail/1`)).text()).toContain("<pre>a &lt;b&gt;\n</pre>");
  });

  test("survives a client that leaves in the middle of a word", async () => {
    const socket = createConnection(inbox.smtp.port, inbox.smtp.host);
    await once(socket, "data");
    socket.write("EHLO x\r\nMAIL FROM:<a@exa");
    socket.destroy();
    await mail({ subject: "still here", text: "t" });
    expect(caught).toHaveLength(1);
  });
});

describe("the inbox page", () => {
  test("hears of a message the moment it comes in", async () => {
    const response = await fetch(`${inbox.url}/events`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await reader?.read();
    await post({ text: "dark" });
    let heard = "";
    while (!heard.includes("\n\n")) heard += (await reader?.read())?.value ?? "";
    expect(heard).toContain("id: 1\ndata: ");
    expect(JSON.parse(heard.split("data: ")[1] ?? "")).toContain("dark");
    await reader?.cancel();
  });

  test("puts the newest first", async () => {
    await post({ text: "first" });
    await post({ text: "second" });
    const page = await (await fetch(inbox.url)).text();
    expect(page.indexOf("second")).toBeLessThan(page.indexOf("first"));
  });

  test("allows only its own script and style", async () => {
    const response = await fetch(inbox.url);
    const policy = response.headers.get("content-security-policy") ?? "";
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(await response.text()).toContain(`<script nonce="${nonce}">`);
  });

  test.each([
    ["GET", "/nothing", 404],
    ["GET", "/mail/7", 404],
    ["PUT", "/", 405],
  ])("answers %s %s with %i", async (method, path, status) => {
    expect((await fetch(inbox.url + path, { method })).status).toBe(status);
  });

  test("remembers a bounded number of messages", async () => {
    for (let n = 0; n < 310; n += 1) await post({ text: `message ${n}` });
    expect(inbox.messages).toHaveLength(300);
  });

  test("closes while a page is still open", async () => {
    const response = await fetch(`${inbox.url}/events`);
    await inbox.close();
    await expect(response.text()).rejects.toThrow();
  });
});
