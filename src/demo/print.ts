/** Messages as lines for a terminal. */
import { styleText } from "node:util";
import { stripControls } from "../lib/text.ts";
import type { InboxMessage } from "./mail-server.ts";
import { type MrkdwnSpan, type Part, plain, type SlackMessage } from "./slack-message.ts";

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Styles for a terminal that shows them, and none for anything else (files, NO_COLOR). */
export function paintFor(stream: NodeJS.WritableStream, env: Readonly<Record<string, string | undefined>>): Paint {
  const colours = "isTTY" in stream && stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  return (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text);
}

/** What a person would see of the message, several lines with a newline at the end. */
export function printMessage(message: InboxMessage, paint: Paint): string {
  const time = paint("dim", localTime(message.receivedAt));
  if (message.kind === "email") {
    const { subject, to } = message.mail;
    return `${time}  ${paint("bold", "e-mail")}  to ${stripControls(to)}: ${paint("bold", stripControls(subject))}\n`;
  }
  const { slack } = message;
  const title = titleOf(slack);
  const style = severityStyle(slack.color);
  const bar = paint(style, "┃");
  const body = slack.parts
    .flatMap(linesOf)
    .filter((line, index) => index > 0 || plain(line) !== title)
    .map((line) => `          ${bar} ${line.map((span) => printSpan(span, paint)).join("")}\n`);
  return `${time}  ${paint("bold", "Slack ")}  ${paint(["bold", style], stripControls(title))}\n${body.join("")}`;
}

/** `hh:mm:ss` of this machine's time zone. */
export function localTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** The first line of the message; what a lock screen shows where that begins otherwise. */
function titleOf({ parts: [first], title }: SlackMessage): string {
  const opening = plain(first).split("\n", 1)[0] ?? "";
  return opening !== "" && title.startsWith(opening) ? opening : title;
}

/** Lines of nothing but links are left out: they lead nowhere on a terminal. */
function linesOf(part: Part): Part[] {
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
  return span.bold && text !== "" ? paint("bold", text) : text;
}

/** Reddish bars are red, greenish green, what lies between is yellow; no bar, no colour. */
function severityStyle(color: string | undefined): "red" | "green" | "yellow" | "gray" {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color?.slice(at, at + 2) ?? "", 16));
  if (!color || Math.max(red, green, blue) - Math.min(red, green, blue) < 40) return "gray";
  if (green >= red) return "green";
  return green > red * 0.45 ? "yellow" : "red";
}
