/**
 * A notification as the Adaptive Card that a Teams workflow posts. All text is in text runs, which have no markup: no
 * name becomes a link, a mention or emphasis. Teams refuses messages beyond 28 KB.
 */
import type { Notification } from "../../alerting/notification.ts";
import { cut } from "../../lib/text.ts";
import type { MessageEntry } from "../entry.ts";
import type { Link } from "../link.ts";
import { type AlertMessage, messageOf, restOf, type Tone } from "../message.ts";

const MOST_BYTES = 27_000;
const MOST_ENTRIES = 60;
const MOST_ACTIONS = 4;
const LINE_LENGTH = 500;

const COLOURS: Readonly<Record<Tone, string>> = {
  critical: "attention",
  warning: "warning",
  recovered: "good",
  info: "default",
};

/** `plain`: the title and whole sentences alone. */
export function renderTeams(notification: Notification, { plain = false }: { readonly plain?: boolean } = {}) {
  for (let limit = plain ? 0 : MOST_ENTRIES; limit > 0; limit = Math.floor(limit / 2)) {
    const message = messageOf(notification, limit);
    const card = cardOf(message, [...sectionLines(message), ...message.common.map((note) => line(note))]);
    if (Buffer.byteLength(JSON.stringify(card)) <= MOST_BYTES) return card;
  }
  return cardOf(messageOf(notification, 0), []);
}

function cardOf(message: AlertMessage, lines: readonly object[]) {
  const { title, tone, lead, overview } = message;
  const entries = message.sections.flatMap((section) => section.entries);
  const own = entries.length === 1 ? (entries[0]?.links ?? []) : [];
  const actions = [...own, ...(overview ? [overview] : [])].slice(0, MOST_ACTIONS).map(opening);
  const head = {
    type: "TextRun",
    text: cut(title, LINE_LENGTH),
    weight: "bolder",
    size: "medium",
    color: COLOURS[tone],
  };
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          msteams: { width: "Full" },
          body: [{ type: "RichTextBlock", inlines: [head] }, ...lead.map((text) => line(text)), ...lines],
          ...(actions.length > 0 && { actions }),
        },
      },
    ],
  };
}

function sectionLines({ sections }: AlertMessage): object[] {
  return sections.flatMap((section) => {
    const { heading, total, entries } = section;
    const rest = entries.length < total ? [line(restOf(section, entries.length))] : [];
    const head = heading === undefined ? [] : [line("", { bold: heading })];
    return [...head, ...entries.flatMap(entryLines), ...rest];
  });
}

function entryLines({ name, facts, notes, links }: MessageEntry): object[] {
  const link = links.find(({ label }) => label === "Status");
  return [
    name === "" ? line(facts) : line(` · ${facts}`, { bold: name, link }),
    ...notes.map((note) => line(note, { isSubtle: true })),
  ];
}

function line(text: string, more: { bold?: string; link?: Link | undefined; isSubtle?: boolean } = {}): object {
  const { bold, link, isSubtle = false } = more;
  const name =
    bold === undefined ? [] : [{ ...run(bold), weight: "bolder", ...(link && { selectAction: opening(link) }) }];
  const words = text === "" ? [] : [{ ...run(text), ...(isSubtle && { isSubtle }) }];
  return { type: "RichTextBlock", inlines: [...name, ...words], spacing: isSubtle ? "none" : "small" };
}

function run(text: string) {
  return { type: "TextRun", text: cut(text, LINE_LENGTH) };
}

function opening({ label, url }: Link) {
  return { type: "Action.OpenUrl", title: label, url };
}
