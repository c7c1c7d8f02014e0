/** The buttons of a root message (docs.slack.dev, Block Kit: actions, button, static_select). */
import type { Notification, NotifiedAlert } from "../../alerting/notification.ts";
import { overviewLink, printableUrl, statusLink } from "../link.ts";
import { makeBlockId, type SlackAction, type SlackSilence } from "./action-id.ts";

type PlainText = { readonly type: "plain_text"; readonly text: string };
interface Button {
  readonly type: "button";
  readonly action_id: SlackAction;
  readonly text: PlainText;
  readonly style?: "primary";
  readonly url?: string;
}
interface Menu {
  readonly type: "static_select";
  readonly action_id: SlackAction;
  readonly placeholder: PlainText;
  readonly options: { text: PlainText; value: SlackSilence }[];
}
export type ActionsBlock = { type: "actions"; block_id: string; elements: (Button | Menu)[] };

const SILENCES: Readonly<Record<SlackSilence, string>> = {
  "1h": "For 1 hour",
  "4h": "For 4 hours",
  morning: "Until 08:00 there",
};

/** Buttons for what fires; undefined where nothing does, or without a conversation. */
export function actionsOf(
  { integrationId, group, groups, conversation, externalUrl, now }: Notification,
  firing: readonly NotifiedAlert[],
): ActionsBlock | undefined {
  if (!conversation || firing.length === 0) return undefined;
  const isStorm = groups !== undefined || conversation.groups !== undefined;
  const blockId = makeBlockId(integrationId, isStorm ? "storm" : group.id, conversation.id, now);
  if (blockId === undefined) return undefined;
  const isHandled = firing.every(({ suppressedBy }) => suppressedBy?.reason === "acknowledged");
  const elements = [
    isHandled ? undefined : ({ ...button("acknowledge", "Acknowledge"), style: "primary" } as const),
    silenceMenu(),
    button("why", "Why"),
    linkButton("runbook", "Runbook", runbookOf(firing)),
    linkButton("open", "Open", externalUrl === undefined ? undefined : pageOf(externalUrl, firing)),
  ];
  return { type: "actions", block_id: blockId, elements: elements.filter((element) => element !== undefined) };
}

function button(action: SlackAction, text: string): Button {
  return { type: "button", action_id: action, text: plain(text) };
}

function linkButton(action: SlackAction, text: string, url: string | undefined): Button | undefined {
  return url === undefined || url.length > 3_000 ? undefined : { ...button(action, text), url };
}

function silenceMenu(): Menu {
  const options = Object.entries(SILENCES).map(([value, text]) => ({
    text: plain(text),
    value: value as SlackSilence,
  }));
  return { type: "static_select", action_id: "silence", placeholder: plain("Silence"), options };
}

function plain(text: string): PlainText {
  return { type: "plain_text", text };
}

/** Only where all alerts have the same. */
function runbookOf(firing: readonly NotifiedAlert[]): string | undefined {
  const [url, ...others] = new Set(firing.map(({ annotations }) => annotations.runbook_url));
  return others.length > 0 ? undefined : printableUrl(url);
}

function pageOf(externalUrl: string, [only, ...others]: readonly NotifiedAlert[]): string {
  const own = only && others.length === 0 ? statusLink(externalUrl, only) : undefined;
  return (own ?? overviewLink(externalUrl)).url;
}
