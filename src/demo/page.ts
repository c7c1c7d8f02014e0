/** The inbox's page: messages as Slack and a mail program would show them. Everything shown is escaped here. */
import { readFileSync } from "node:fs";
import { escapeHtml, stripControls } from "../lib/text.ts";
import type { InboxMessage } from "./mail-server.ts";
import type { MrkdwnSpan, SlackMessage } from "./slack-message.ts";

const asset = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

/** The whole page, newest message first; `nonce` is the one its Content-Security-Policy names. */
export function renderPage(messages: readonly InboxMessage[], nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>lenswatch inbox</title><link rel="icon" href="data:,">
<style nonce="${nonce}">${asset("page.css")}</style>
</head>
<body>
<header>
<h1>lenswatch inbox</h1>
<p>What people on call would receive. <span id="live" role="status">connecting…</span></p>
</header>
<main id="messages">${[...messages].reverse().map(renderMessage).join("")}</main>
<p id="empty">No messages.</p>
<script nonce="${nonce}">${asset("page.js")}</script>
</body>
</html>`;
}

/** One message as an element of the page. */
export function renderMessage(message: InboxMessage): string {
  const at = new Date(message.receivedAt);
  const time = `<time datetime="${at.toISOString()}">${at.toISOString().slice(11, 19)} UTC</time>`;
  if (message.kind === "slack") {
    return `<article id="m${message.id}" class="slack"><div class="face">L</div><div class="content">
<p class="sender"><b>lenswatch</b> <i>APP</i> ${time}</p>${renderSlack(message.slack)}</div></article>`;
  }
  const { subject, from, to } = message.mail;
  return `<article id="m${message.id}" class="mail"><p class="sender"><b>${clean(subject)}</b> ${time}</p>
<p class="route">${clean(from)} → ${clean(to)}</p>
<iframe sandbox title="E-mail: ${clean(subject)}" src="/mail/${message.id}" loading="lazy"></iframe></article>`;
}

/** A mail's own document, for the sandboxed frame. */
export function renderMail(message: InboxMessage & { kind: "email" }): string {
  return message.mail.html ?? `<!doctype html><meta charset="utf-8"><pre>${escapeHtml(message.mail.text)}</pre>`;
}

/** The colour bar is an SVG attribute: the page's policy allows no inline styles. */
function renderSlack(slack: SlackMessage): string {
  const bar = slack.color ?? "#8888";
  return `<div class="attachment">
<svg class="bar" aria-hidden="true"><rect width="100%" height="100%" fill="${bar}"/></svg>
<div>${slack.parts.map((part) => `<p>${part.map(renderSpan).join("")}</p>`).join("")}</div></div>`;
}

function renderSpan({ text, bold, href }: MrkdwnSpan): string {
  const lines = text.split("\n").map(clean).join("<br>");
  const html = bold ? `<b>${lines}</b>` : lines;
  return href ? `<a href="${escapeHtml(href)}" target="_blank" rel="noreferrer">${html}</a>` : html;
}

function clean(text: string): string {
  return escapeHtml(stripControls(text));
}
