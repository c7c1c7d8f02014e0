/** Messages as lines for a terminal. */
import { styleText } from "node:util";
import { stripControls } from "../lib/text.ts";
import type { InboxEvent } from "./inbox.ts";
import {
  type MrkdwnSpan,
  type Part,
  parseMrkdwn,
  plain,
  readSlackMessage,
  type SlackMessage,
} from "./slack/message.ts";
import type { StandInMessage } from "./slack/workspace.ts";

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Styles for a terminal that shows them, and none for anything else (files, NO_COLOR). */
export function paintFor(stream: NodeJS.WritableStream, env: Readonly<Record<string, string | undefined>>): Paint {
  const colours = "isTTY" in stream && stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  return (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text);
}

/** The event as a person would see it, with a newline at the end: news in full, everything else in a line. */
export function printEvent(event: InboxEvent, paint: Paint): string {
  const time = paint("dim", localTime(event.at));
  if (event.kind === "email") {
    const { subject, to } = event.mail;
    return `${time}  ${paint("bold", "e-mail")}  to ${stripControls(to)}: ${paint("bold", stripControls(subject))}\n`;
  }
  const slack = `${time}  ${paint("bold", "Slack ")}`;
  if (event.kind === "answer") {
    const [first = ""] = plain(parseMrkdwn(event.text)).split("\n");
    return `${slack}  ${paint("dim", `to you alone: ${stripControls(first)}`)}\n`;
  }
  if (event.kind === "post") return `${slack}  ${printPost(event.message, paint)}`;
  const changed = changedLine(event.message);
  return changed === undefined ? "" : `${slack}  ${paint("dim", `edited: ${stripControls(changed)}`)}\n`;
}

function printPost(message: StandInMessage, paint: Paint): string {
  const slack = readSlackMessage(message);
  const title = titleOf(slack);
  const style = severityStyle(slack.color);
  const bar = paint(style, "┃");
  const isNews = message.threadTs === undefined || message.isBroadcast;
  const body = linesOf(slack)
    .filter((line, index) => isNews && (index > 0 || plain(line) !== title))
    .map((line) => `          ${bar} ${line.map((span) => printSpan(span, paint)).join("")}\n`);
  const mark = message.threadTs === undefined ? "" : "↳ ";
  return `${mark}${paint(["bold", style], stripControls(title))}\n${body.join("")}`;
}

/** The title with the first line that was not there before; undefined where no words changed. */
function changedLine({ versions }: StandInMessage): string | undefined {
  const [before = [], now = []] = versions.slice(-2).map((one) => linesOf(readSlackMessage(one)).map(plain));
  const [title = "", ...lines] = now;
  const line = lines.find((one) => !before.includes(one));
  if (line === undefined) return before.includes(title) ? undefined : title;
  return `${title}: ${line}`;
}

/** `hh:mm:ss` of this machine's time zone. */
export function localTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** The first line of the message; what a lock screen shows where that begins otherwise. */
function titleOf({ parts, attached, title }: SlackMessage): string {
  const opening = plain([...parts, ...attached][0]).split("\n", 1)[0] ?? "";
  return opening !== "" && title.startsWith(opening) ? opening : title;
}

/** Lines of nothing but links are left out: they lead nowhere on a terminal. */
function linesOf({ parts, attached }: SlackMessage): Part[] {
  return [...parts, ...attached].flatMap(partLines);
}

function partLines(part: Part): Part[] {
  const lines: MrkdwnSpan[][] = [[]];
  for (const span of part) {
    for (const [index, text] of span.text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      lines.at(-1)?.push({ ...span, text });
    }
  }
  return lines.filter((line) => line.some(({ text, href }) => !href && /[^\s·|]/.test(text)));
}

function printSpan(span: MrkdwnSpan, paint: Paint): string {
  const text = stripControls(span.text);
  return span.style === "b" && text !== "" ? paint("bold", text) : text;
}

/** Reddish bars are red, greenish green, what lies between is yellow; no bar, no colour. */
function severityStyle(color: string | undefined): "red" | "green" | "yellow" | "gray" {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color?.slice(at, at + 2) ?? "", 16));
  if (!color || Math.max(red, green, blue) - Math.min(red, green, blue) < 40) return "gray";
  if (green >= red) return "green";
  return green > red * 0.45 ? "yellow" : "red";
}
