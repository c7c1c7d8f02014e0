/** The inbox's page: messages as Slack and a mail program would show them. Everything shown is escaped here. */
import { readFileSync } from "node:fs";
import type { Instant } from "../lib/clock.ts";
import { counted } from "../lib/format.ts";
import { escapeHtml, stripControls } from "../lib/text.ts";
import type { CaughtMail, StoredMail } from "./mail-server.ts";
import type { SlackBlock, SlackBody, SlackElement } from "./slack/message.ts";
import { type MrkdwnSpan, type Part, readSlackMessage } from "./slack/message.ts";
import type { StandInMessage } from "./slack/workspace.ts";

/** An element of the page; one with the same id takes its place, above the others where `at` is later. */
export interface Article {
  readonly at: Instant;
  readonly html: string;
}

/** The replies of a thread that are shown. */
const MOST_REPLIES = 20;

const asset = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

/** The whole page, latest news first; `nonce` is the one its Content-Security-Policy names. */
export function renderPage(
  articles: readonly Article[],
  { channel, nonce }: { channel: string; nonce: string },
): string {
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
<p>What people on call would receive: #${clean(channel)} of Slack, and e-mail. You are “you”.
<span id="live" role="status">connecting…</span></p>
</header>
<main id="messages">${articles
    .toReversed()
    .map(({ html }) => html)
    .join("")}</main>
<p id="empty">No messages.</p>
<script nonce="${nonce}">${asset("page.js")}</script>
</body>
</html>`;
}

/** A root as it is now with its thread, and what only the person who asked sees. */
export function conversationArticle(root: StandInMessage, answer: SlackBody | undefined): Article {
  const at = instantOf(root.replies.findLast(({ isBroadcast }) => isBroadcast) ?? root);
  const said = answer === undefined ? "" : answerBox(answer);
  const html = `<article id="s${root.ts.replace(".", "")}" class="slack" data-ts="${root.ts}" data-at="${at}">
<div class="face" aria-hidden="true">L</div><div class="content">${renderMessage(root)}${said}${renderThread(root)}</div></article>`;
  return { at, html };
}

export function mailArticle({ id, receivedAt, mail: { subject, from, to } }: StoredMail): Article {
  const html = `<article id="m${id}" class="mail" data-at="${receivedAt}">
<p class="sender"><b>${clean(subject)}</b> ${renderTime(receivedAt)}</p>
<p class="route">${clean(from)} → ${clean(to)}</p>
<iframe sandbox title="E-mail: ${clean(subject)}" src="/mail/${id}" loading="lazy"></iframe></article>`;
  return { at: receivedAt, html };
}

/** A mail's own document, for the sandboxed frame. */
export function renderMail({ html, text }: CaughtMail): string {
  return html ?? `<!doctype html><meta charset="utf-8"><pre>${escapeHtml(text)}</pre>`;
}

function instantOf({ ts }: StandInMessage): Instant {
  return Math.round(Number(ts) * 1_000);
}

function renderTime(instant: Instant): string {
  const iso = new Date(instant).toISOString();
  return `<time datetime="${iso}">${iso.slice(11, 19)} UTC</time>`;
}

function renderThread({ replies }: StandInMessage): string {
  if (replies.length === 0) return "";
  const older = replies.length - MOST_REPLIES;
  const count = `${counted(replies.length, "reply", "replies")}${older > 0 ? `, ${older} older not shown` : ""}`;
  const shown = replies.slice(-MOST_REPLIES).map((one) => `<div class="reply">${renderMessage(one)}</div>`);
  return `<section class="thread" aria-label="Thread"><p class="soft">${count}</p>${shown.join("")}</section>`;
}

/** The colour bar is an SVG attribute: the page's policy allows no inline styles. */
function renderMessage(message: StandInMessage): string {
  const { parts, actions, attached, color = "#8888" } = readSlackMessage(message);
  const marks = [message.isBroadcast ? "also sent to the channel" : "", message.versions.length > 1 ? "edited" : ""];
  const list = `<div class="attachment">
<svg class="bar" aria-hidden="true"><rect width="100%" height="100%" fill="${color}"/></svg>
<div>${renderParts(attached)}</div></div>`;
  return `<p class="sender"><b>lenswatch</b> <i>APP</i> ${renderTime(instantOf(message))}
${marks.map((mark) => (mark === "" ? "" : `<span class="mark">${mark}</span>`)).join(" ")}</p>${renderParts(parts)}
${renderActions(actions)}${attached.length === 0 ? "" : list}`;
}

function renderActions(actions: readonly SlackElement[]): string {
  return actions.length === 0 ? "" : `<p class="actions">${actions.map(renderElement).join("")}</p>`;
}

function renderElement({ action_id: id = "", text, url }: SlackElement): string {
  const label = clean(typeof text === "object" ? text.text : "");
  if (url !== undefined) return `<a class="button" href="${webUrl(url)}" target="_blank" rel="noreferrer">${label}</a>`;
  return `<button data-action="${clean(id)}">${label}</button>`;
}

function renderInput({ block_id: id = "", label, element }: SlackBlock): string {
  const { placeholder, max_length: most = 3_000 } = element ?? {};
  return `<p><label>${clean(label?.text ?? "")}<br>
<input name="${clean(id)}" placeholder="${clean(placeholder?.text ?? "")}" maxlength="${most}"></label></p>`;
}

function answerBox(body: SlackBody): string {
  const { parts, inputs, actions } = readSlackMessage(body);
  const below = `${inputs.map(renderInput).join("")}${renderActions(actions)}`;
  return `<div class="answer"><p class="soft">Only visible to you</p>${renderParts(parts)}${below}</div>`;
}

function renderParts(parts: readonly Part[]): string {
  return parts.map((part) => `<p>${part.map(renderSpan).join("")}</p>`).join("");
}

function renderSpan({ text, style, href }: MrkdwnSpan): string {
  const lines = text.split("\n").map(clean).join("<br>");
  const html = style ? `<${style}>${lines}</${style}>` : lines;
  return href ? `<a href="${webUrl(href)}" target="_blank" rel="noreferrer">${html}</a>` : html;
}

function webUrl(url: string): string {
  return /^https?:/i.test(url) ? escapeHtml(url) : "#";
}

function clean(text: string): string {
  return escapeHtml(stripControls(text));
}
