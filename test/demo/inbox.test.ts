import { once } from "node:events";
import { createConnection } from "node:net";
import { createTransport } from "nodemailer";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Inbox, type InboxEvent, startInbox } from "../../src/demo/inbox.ts";
import { paintFor, printEvent } from "../../src/demo/print.ts";

let inbox: Inbox;
let caught: InboxEvent[];
let printed: string;
let now: number;

beforeEach(async () => {
  caught = [];
  printed = "";
  now = Date.UTC(2026, 0, 5, 14, 5, 7);
  inbox = await startInbox({ clock: { now: () => now }, onEvent: hear });
});

afterEach(() => inbox.close());

const mrkdwn = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } });
const actions = {
  type: "actions",
  block_id: "lw:1",
  elements: [
    { type: "button", action_id: "acknowledge", text: { type: "plain_text", text: "Acknowledge" } },
    {
      type: "button",
      action_id: "runbook",
      text: { type: "plain_text", text: "Runbook" },
      url: "https://x.example/runbook",
    },
  ],
};
const list = [mrkdwn("*Till 3* since 14:05\nEntrance &lt;b&gt;"), mrkdwn("<https://x.example/a|status page>")];
const offline = {
  text: "2 recordings offline · Leeds Briggate <!here>\nTill 3: since 14:05",
  blocks: [mrkdwn("*2 recordings offline · Leeds Briggate* <!here>"), actions],
  attachments: [{ color: "#d40e0d", blocks: list }],
};

/** Calls the Web API as the app; the answer. */
async function slack(method: string, args: object): Promise<{ ok: boolean; ts: string; error?: string }> {
  const { id } = inbox.slack.channel("ops-cameras");
  const headers = { authorization: `Bearer ${inbox.slack.tokens.bot}`, "content-type": "application/json" };
  const body = JSON.stringify({ channel: id, ...args });
  const response = await fetch(inbox.slack.apiUrl + method, { method: "POST", headers, body });
  return (await response.json()) as { ok: boolean; ts: string };
}

const post = (body: object) => slack("chat.postMessage", body);
/** A message changes later: its lines are of when it came. */
function hear(event: InboxEvent): void {
  caught.push(event);
  printed += printEvent(event, paintFor(process.stdout, { NO_COLOR: "1" }));
}
const page = async () => (await fetch(inbox.url)).text();

/** As the page's script does; the answer's status and text. */
async function send(path: string, asked: object, type = "application/json") {
  const body = JSON.stringify(asked);
  const response = await fetch(inbox.url + path, { method: "POST", headers: { "content-type": type }, body });
  return [response.status, await response.text()];
}

/** The app's connection: answers each envelope, and keeps their payloads. */
async function connectApp(): Promise<Record<string, unknown>[]> {
  const payloads: Record<string, unknown>[] = [];
  const socket = new WebSocket(inbox.slack.socket.open().url);
  socket.on("message", (data) => {
    const { envelope_id, payload } = JSON.parse(String(data));
    if (envelope_id === undefined) return;
    payloads.push(payload);
    socket.send(JSON.stringify({ envelope_id }));
  });
  await once(socket, "message");
  return payloads;
}

async function mail(message: { subject: string; text: string; html?: string }): Promise<void> {
  const transport = createTransport({ ...inbox.smtp, secure: false });
  await transport.sendMail({ from: "Lens <lens@example.com>", to: ["a@example.com", "b@example.com"], ...message });
  transport.close();
}

describe("the inbox as Slack", () => {
  test("shows the present of a conversation with its buttons, and its thread", async () => {
    const { ts } = await post(offline);
    expect(await page()).toContain("<b>2 recordings offline · Leeds Briggate</b> <b>@here</b>");
    await post({ text: "Entrance as well", thread_ts: ts, reply_broadcast: true });
    await post({ text: "Till 3 is back", thread_ts: ts });
    await slack("chat.update", { ts, ...offline, text: "now", blocks: [mrkdwn("*1 recording offline*"), actions] });
    const html = await page();
    expect(html.match(/<article /g)).toHaveLength(1);
    expect(html).toMatch(/14:05:07 UTC<\/time>\s+.*edited.*<\/p><p><b>1 recording offline<\/b>/);
    expect(html).toContain("<b>Till 3</b> since 14:05<br>Entrance &lt;b&gt;");
    expect(html).toContain('<a href="https://x.example/a"');
    expect(html).toContain('fill="#d40e0d"');
    expect(html).toContain('<button data-action="acknowledge">Acknowledge</button>');
    expect(html).toContain('<a class="button" href="https://x.example/runbook"');
    expect(html).toMatch(/2 replies.*also sent to the channel.*Entrance as well.*Till 3 is back/s);
    expect(html.match(/also sent to the channel/g)).toHaveLength(1);
  });

  test("presses a button as you, and shows the answer at that message", async () => {
    const payloads = await connectApp();
    const { ts } = await post(offline);
    expect(await send("/press", { ts, action: "acknowledge", typed: {} })).toEqual([204, ""]);
    expect(payloads).toMatchObject([
      { user: { name: "you" }, container: { message_ts: ts }, actions: [{ action_id: "acknowledge" }] },
    ]);
    await slack("chat.postEphemeral", { user: "U0YOU", text: "*Till 3*: silenced <b>" });
    expect(await page()).toMatch(/<article [^>]*data-ts.*Only visible to you.*<b>Till 3<\/b>: silenced &lt;b&gt;/s);
    expect(printed).toContain("Slack   to you alone: Till 3: silenced <b>\n");
  });

  test("presses a button beside that answer, with what is typed", async () => {
    const payloads = await connectApp();
    const { ts } = await post(offline);
    await send("/press", { ts, action: "acknowledge", typed: {} });
    const undo = { type: "button", action_id: "undo", text: { type: "plain_text", text: "Undo" }, value: "id-1" };
    const element = {
      type: "plain_text_input",
      action_id: "text",
      placeholder: { type: "plain_text", text: "2h <b>" },
    };
    const input = { type: "input", block_id: "until", label: { type: "plain_text", text: "Until" }, element };
    const blocks = [mrkdwn("*Till 3*: silenced"), input, { type: "actions", block_id: "b", elements: [undo] }];
    await slack("chat.postEphemeral", { user: "U0YOU", text: "silenced", blocks });
    expect(await page()).toMatch(/Only visible to you.*silenced.*<button data-action="undo">Undo<\/button>/s);
    expect(await page()).toMatch(/<label>Until<br>\s<input name="until" placeholder="2h &lt;b&gt;" maxlength="3000">/);
    expect(await send("/press", { ts, action: "undo", typed: { until: "08:00" } })).toEqual([204, ""]);
    expect(payloads.at(-1)).toMatchObject({
      actions: [{ action_id: "undo", block_id: "b", value: "id-1" }],
      state: { values: { until: { text: { value: "08:00" } } } },
    });
    expect((await send("/press", { ts, action: "undo", typed: {} }))[0]).toBe(404);
  });

  test.each([
    ["a button that is gone", "/press", { ts: "1.2", action: "acknowledge", typed: {} }, undefined, 404],
    ["something else", "/press", {}, undefined, 400],
    ["another site's form", "/press", {}, "text/plain", 415],
  ])("refuses %s", async (_, path, asked, type, status) => {
    expect((await send(path, asked, type))[0]).toBe(status);
  });

  test("says so where the app is not connected", async () => {
    const { ts } = await post(offline);
    expect((await send("/press", { ts, action: "acknowledge", typed: {} }))[0]).toBe(503);
  });

  test("lets no text from a message become markup or script of the page", async () => {
    const text = '<img src=x onerror="a">';
    const hostile = { type: "plain_text", text };
    const button = { type: "button", action_id: '"><b>', text: hostile, url: "javascript:alert(1)" };
    const attachments = [{ color: '"/><script>', blocks: [{ type: "section", text: hostile }] }];
    const blocks = [{ type: "actions", elements: [button, { ...button, url: undefined, action_id: '"><script>' }] }];
    expect(await post({ text: '<script>alert("x")</script>', blocks, attachments })).toMatchObject({ ok: true });
    await post({ text });
    const html = await page();
    expect(html).toContain("&lt;img src=x onerror=&quot;a&quot;&gt;");
    expect(html).not.toContain("<img");
    expect(html).not.toContain("<script>");
    expect(html).not.toContain("javascript:");
    expect(html.match(/<script /g)).toHaveLength(1);
  });

  test("prints news in full without links, other replies and edits in a line", async () => {
    const { ts } = await post(offline);
    await post({ text: "✅ Till 3 recovered\nmore", thread_ts: ts });
    await slack("chat.update", { ts, ...offline, attachments: [{ blocks: [mrkdwn("follows the reply")] }] });
    const handled = [mrkdwn("Since 14:05 · acknowledged by you\nmore")];
    await slack("chat.update", { ts, ...offline, attachments: [{ blocks: handled }] });
    await slack("chat.update", { ts, ...offline, attachments: [{ blocks: handled }] });
    const lines = printed.split("\n");
    expect(lines.map((line) => line.replace(/^[\d:]+ +| {10}/, ""))).toEqual([
      "Slack   2 recordings offline · Leeds Briggate @here",
      "┃ Till 3 since 14:05",
      "┃ Entrance <b>",
      "Slack   ↳ ✅ Till 3 recovered",
      "Slack   edited: 2 recordings offline · Leeds Briggate @here: Since 14:05 · acknowledged by you",
      "",
    ]);
  });

  test("prints no control characters of a hostile message", async () => {
    await post({ text: "a\u001b[2J\u001b]0;owned\u0007\r\nb" });
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
    expect(await page()).toContain('<iframe sandbox title="E-mail: Recovered: Till 3" src="/mail/1"');
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
    expect(JSON.parse(heard.split("data: ")[1] ?? "")).toContain("dark");
    await reader?.cancel();
  });

  test("puts the latest news first, and does not move what is only edited", async () => {
    const order = async () => [...(await page()).matchAll(/<p>(first|second)/g)].map(([, text]) => text);
    const { ts } = await post({ text: "first" });
    now += 1_000;
    await post({ text: "second" });
    await slack("chat.update", { ts, text: "first, edited" });
    expect(await order()).toEqual(["second", "first"]);
    now += 1_000;
    await post({ text: "news", thread_ts: ts, reply_broadcast: true });
    expect(await order()).toEqual(["first", "second"]);
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

  test("remembers a bounded number of conversations, replies, edits and calls", async () => {
    const [{ ts }, channel] = [await post({ text: "root" }), inbox.slack.channel("ops-cameras")];
    for (let n = 0; n < 310; n += 1) {
      const root = inbox.slack.workspace.message(channel, ts);
      if (root) inbox.slack.workspace.edit(root, { text: `${n}` });
      inbox.slack.workspace.post(channel, { text: "reply" }, { threadTs: ts });
    }
    const [root] = channel.messages;
    expect([root?.replies.length, root?.versions.length, root?.versions[0]?.text]).toEqual([300, 300, "root"]);
    expect(await page()).toContain("300 replies, 280 older not shown");
    for (let n = 0; n < 310; n += 1) inbox.slack.workspace.post(channel, { text: `message ${n}` });
    expect(channel.messages).toHaveLength(300);
  });

  test("closes while a page is still open", async () => {
    const response = await fetch(`${inbox.url}/events`);
    await inbox.close();
    await expect(response.text()).rejects.toThrow();
  });
});
