/** The inbox's page: messages as Slack and a mail program would show them. Everything shown is escaped here. */
import { escapeHtml, stripControls } from "../lib/text.ts";
import type { InboxMessage } from "./message.ts";
import type { Span } from "./mrkdwn.ts";
import type { Part, SlackMessage } from "./slack-message.ts";

/** The whole page, newest message first; `nonce` is the one its Content-Security-Policy names. */
export function renderPage(messages: readonly InboxMessage[], nonce: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>lenswatch inbox</title><link rel="icon" href="data:,"><style nonce="${nonce}">${STYLE}</style></head>
<body><header><h1>lenswatch inbox</h1><p>What the people on call would have received. <span id="live" role="status">connecting…</span></p></header>
<main id="messages">${[...messages].reverse().map(renderMessage).join("")}</main>
<p id="empty">Nothing yet: all is well so far.</p>
<script nonce="${nonce}">${SCRIPT}</script></body></html>`;
}

/** One message as an element of the page. */
export function renderMessage(message: InboxMessage): string {
  const at = new Date(message.receivedAt);
  const time = `<time datetime="${at.toISOString()}">${at.toISOString().slice(11, 19)} UTC</time>`;
  return message.kind === "slack"
    ? `<article id="m${message.id}" class="slack"><div class="face">L</div><div class="said"><p class="who"><b>lenswatch</b> <i>APP</i> ${time}</p>${renderSlack(message.slack)}</div></article>`
    : `<article id="m${message.id}" class="mail"><p class="who"><b>${clean(message.mail.subject)}</b> ${time}</p><p class="route">${clean(message.mail.from)} → ${clean(message.mail.to)}</p><iframe sandbox title="E-mail: ${clean(message.mail.subject)}" src="/mail/${message.id}" loading="lazy"></iframe></article>`;
}

/** A mail's own document, for the sandboxed frame. */
export function renderMail(message: InboxMessage & { kind: "email" }): string {
  return (
    message.mail.html ?? `<!doctype html><meta charset="utf-8"><pre>${escapeHtml(message.mail.text)}</pre>`
  );
}

/** The colour bar is an SVG attribute: the page's policy allows no inline styles. */
function renderSlack(slack: SlackMessage): string {
  const bar = slack.color ?? "#8888";
  return `<div class="attachment"><svg class="bar" aria-hidden="true"><rect width="100%" height="100%" fill="${bar}"/></svg><div>${slack.parts.map(renderPart).join("")}</div></div>`;
}

function renderPart(part: Part): string {
  if (part.kind === "divider") return "<hr>";
  const inner = part.spans.map(renderSpan).join("");
  if (part.kind === "header") return `<h2>${inner}</h2>`;
  return `<p class="${part.kind}">${inner}</p>`;
}

function renderSpan(span: Span): string {
  let html = span.text.split("\n").map(clean).join("<br>");
  if (span.code) html = `<code>${html}</code>`;
  if (span.bold) html = `<b>${html}</b>`;
  if (span.italic) html = `<em>${html}</em>`;
  if (span.strike) html = `<s>${html}</s>`;
  return span.href ? `<a href="${escapeHtml(span.href)}" target="_blank" rel="noreferrer">${html}</a>` : html;
}

function clean(text: string): string {
  return escapeHtml(stripControls(text));
}

const STYLE = `
:root{color-scheme:light dark;--page:light-dark(#f4f4f5,#141518);--card:light-dark(#fff,#1d1f23);--ink:light-dark(#1d1c1d,#e6e7ea);--soft:light-dark(#5d5c60,#9d9fa6);--line:light-dark(#dcdce0,#34363c);--link:light-dark(#0b5cad,#6cb2f7)}
*{box-sizing:border-box}body{margin:0 auto;max-width:760px;padding:1.5rem 1rem 4rem;background:var(--page);color:var(--ink);font:15px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.25rem;margin:0}header p{margin:.2rem 0 1.2rem;color:var(--soft)}#live{white-space:nowrap}
article{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.8rem 1rem;margin:0 0 .8rem}
article p{margin:.15rem 0}.who{color:var(--soft)}.who b{color:var(--ink)}.who i{font:600 10px/1 system-ui;background:var(--line);border-radius:3px;padding:2px 4px}.who time{font-size:12px;margin-left:.3rem}
.slack{display:flex;gap:.7rem}.face{flex:none;width:36px;height:36px;border-radius:8px;background:#3b5bdb;color:#fff;font:700 18px/36px system-ui;text-align:center}.said{min-width:0;flex:1}
.attachment{position:relative;padding-left:1rem;margin-top:.25rem}.bar{position:absolute;left:0;width:4px;height:100%;border-radius:2px}
h2{font-size:1.05rem;margin:.1rem 0 .3rem}.context{font-size:12.5px;color:var(--soft)}.buttons a{display:inline-block;border:1px solid var(--line);border-radius:5px;padding:.15rem .6rem;text-decoration:none}
a{color:var(--link)}hr{border:0;border-top:1px solid var(--line)}code{font:13px ui-monospace,monospace;background:var(--page);border-radius:3px;padding:0 .25em}
.route{font-size:12.5px;color:var(--soft)}iframe{width:100%;height:340px;border:1px solid var(--line);border-radius:6px;margin-top:.5rem;background:#fff;resize:vertical}
main:not(:empty)+#empty{display:none}#empty{color:var(--soft)}`;

const SCRIPT = `
const list=document.getElementById("messages"),live=document.getElementById("live");
const source=new EventSource("/events");
source.onopen=()=>{live.textContent="live"};
source.onerror=()=>{live.textContent="the demo has ended, or cannot be reached"};
source.onmessage=(event)=>{
  const holder=document.createElement("template");holder.innerHTML=JSON.parse(event.data);
  const article=holder.content.firstElementChild;
  if(article&&!document.getElementById(article.id))list.prepend(article);
};`;
