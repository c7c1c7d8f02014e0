/**
 * A notification as the Adaptive Card that a Teams workflow posts. All text is in text runs, which have no markup: no
 * name becomes a link, a mention or emphasis. Teams refuses messages beyond 28 KB.
 */

import { type Document, type Link, type Part, partsOf } from "../alerting/document.ts";
import type { Notification } from "../alerting/model.ts";
import { looks } from "../alerting/tone.ts";
import { cut } from "../lib/text.ts";
import { messageOf } from "./message.ts";
import type { ChannelOptions, Notifier } from "./notifier.ts";
import { createWebEndpoint, type HttpClientSettings, httpVerdict, type Verdict } from "./web-endpoint.ts";

const MOST_BYTES = 27_000;
const MOST_ENTRIES = 60;
const MOST_ACTIONS = 4;
const LINE_LENGTH = 500;

/** `plain`: the title and whole sentences alone. */
export function renderTeams(notification: Notification, { plain = false }: { readonly plain?: boolean } = {}) {
  for (let limit = plain ? 0 : MOST_ENTRIES; limit > 0; limit = Math.floor(limit / 2)) {
    const card = cardOf(messageOf(notification, limit));
    if (Buffer.byteLength(JSON.stringify(card)) <= MOST_BYTES) return card;
  }
  return cardOf({ ...messageOf(notification, 0), sections: [], notes: [] });
}

function cardOf(message: Document) {
  const { title, tone, sections } = message;
  const rows = sections.flatMap((section) => section.rows);
  const own = rows.length === 1 ? (rows[0]?.links ?? []) : [];
  const actions = [...own, ...message.actions].slice(0, MOST_ACTIONS).map(opening);
  const head = {
    type: "TextRun",
    text: cut(title, LINE_LENGTH),
    weight: "bolder",
    size: "medium",
    color: looks[tone].card,
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
          body: [{ type: "RichTextBlock", inlines: [head] }, ...partsOf(message).flatMap(partLines)],
          ...(actions.length > 0 && { actions }),
        },
      },
    ],
  };
}

function partLines(part: Part): object[] {
  if (part.kind === "action") return [];
  if (part.kind !== "row") return [part.kind === "heading" ? line("", { bold: part.text }) : line(part.text)];
  const { name, text, notes, links } = part.row;
  const link = links.find(({ label }) => label === "Status");
  return [
    name === "" ? line(text) : line(` · ${text}`, { bold: name, link }),
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

/** A notifier for one `msteamsv2_configs` entry. `webhookUrl` is a secret: no error and no log line has it. */
export function createTeamsNotifier(
  options: ChannelOptions & { readonly webhookUrl: string; readonly http: HttpClientSettings },
): Notifier {
  const { webhookUrl: url, log, ...rest } = options;
  const check = "webhook_url, the network, DNS and HTTPS_PROXY";
  const endpoint = createWebEndpoint({ ...rest, url, name: "Teams", check, verdict: verdictOf, hints: HINTS });
  return {
    async send(notification, { signal, plain = false }) {
      await endpoint.post(JSON.stringify(renderTeams(notification, { plain })), { signal });
      log.debug({ integration: notification.integrationId }, "Teams accepted a notification");
      return undefined;
    },
    close: endpoint.close,
  };
}

/** A workflow answers 202 before it posts; a connector of the old kind answers 200 whatever came of it. */
function verdictOf(status: number, text: string): Verdict | undefined {
  if (!text.startsWith("Webhook message delivery failed") || status >= 300) return httpVerdict(status);
  const code = text.includes("429") ? "rate_limited" : text.includes("413") ? "bad_request" : "server_error";
  return { code, answered: `${status}, the message was not delivered` };
}

const HINTS = {
  auth: "create the workflow's webhook_url again, anyone may trigger it has to be set",
  not_found: "the workflow does not exist any more, create a new webhook_url",
  bad_request: "it does not accept this message",
  other: "this is not a Teams workflow, check webhook_url and the proxy",
};
