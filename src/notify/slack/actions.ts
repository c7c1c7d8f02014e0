/** The buttons of a root message (docs.slack.dev, Block Kit: actions, button, static_select). */

import { isAcknowledged } from "../../alerting/acknowledgement.ts";
import { isOfLenswatch } from "../../alerting/attention.ts";
import type { Notification, NotifiedAlert } from "../../alerting/model.ts";
import type { Instant } from "../../lib/clock.ts";
import { cut } from "../../lib/text.ts";
import { overviewLink, printableUrl, statusLink } from "../link.ts";
import { silenceOf } from "../question.ts";
import { silenceScopes } from "../silence-scope.ts";
import { makeBlockId, makeSilenceValue, type SlackAction, slackSpans } from "./action-id.ts";

/** A text without markup and without `:emoji:`. */
type PlainText = { readonly type: "plain_text"; readonly text: string; readonly emoji: false };
interface Button {
  readonly type: "button";
  readonly action_id: SlackAction;
  readonly text: PlainText;
  readonly style?: "primary";
  readonly url?: string;
  readonly value?: string;
}
interface Menu {
  readonly type: "static_select";
  readonly action_id: SlackAction;
  readonly placeholder: PlainText;
  readonly options: { text: PlainText; value: string }[];
}
export type ActionsBlock = { type: "actions"; block_id: string; elements: (Button | Menu)[] };

const SPANS = { "1h": "1 h", "4h": "4 h", morning: "until 08:00" } as const satisfies Record<
  (typeof slackSpans)[number],
  string
>;

/** Slack's longest text of an entry. */
const LONGEST_OPTION = 75;

/** Buttons for what fires; undefined where nothing does, or without a conversation. */
export function actionsOf(
  { integrationId, group, groups, conversation, externalUrl, timezone, now }: Notification,
  firing: readonly NotifiedAlert[],
): ActionsBlock | undefined {
  if (!conversation || firing.length === 0) return undefined;
  const isStorm = groups !== undefined || conversation.groups !== undefined;
  // Clocks of two replicas may differ.
  const seen = firing.reduce((latest, { firedAt }) => Math.max(latest, firedAt), now);
  const blockId = makeBlockId(integrationId, isStorm ? "storm" : group.id, conversation.id, seen);
  if (blockId === undefined) return undefined;
  const isHandled = firing.every(isAcknowledged);
  const elements = [
    isHandled ? undefined : ({ ...button("acknowledge", "Acknowledge"), style: "primary" } as const),
    silenceMenu(firing, timezone),
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

/** Says of each entry what it silences. */
function silenceMenu(firing: readonly NotifiedAlert[], timezone: string | undefined): Menu | undefined {
  const [zone = "UTC", ...otherZones] = new Set(firing.map(({ facts }) => timezone ?? facts.timezone));
  const spans = slackSpans.filter((span) => otherZones.length === 0 || span !== "morning");
  const isAtPlace = timezone === undefined && !firing.some(isOfLenswatch);
  const spanText = (span: keyof typeof SPANS) =>
    span === "morning" ? `${SPANS[span]} ${isAtPlace ? "there" : zone}` : SPANS[span];
  const options = silenceScopes(firing).flatMap(({ key, label }) =>
    spans.map((span) => ({ text: plain(optionText(label, spanText(span))), value: makeSilenceValue(key, span) })),
  );
  if (options.length === 0) return undefined;
  return { type: "static_select", action_id: "silence", placeholder: plain("Silence"), options };
}

/** Slack counts UTF-16 units. */
function optionText(label: string, span: string): string {
  let [text, length] = [label, [...label].length];
  while (text.length + span.length + 2 > LONGEST_OPTION) text = cut(label, --length);
  return `${text}, ${span}`;
}

/** Buttons that undo these silences and extend them, beside the answer that they were set; under the `block_id` that was pressed. */
export function undoOf(blockId: string, silences: readonly string[], until: Instant): ActionsBlock {
  const undo = { ...button("undo", "Undo"), value: silences.join(" ") };
  return { type: "actions", block_id: blockId, elements: [undo, extendButton(silences, until)] };
}

/** The end that it names is the same however often it is pressed. */
function extendButton(silences: readonly string[], until: Instant): Button {
  return { ...button("extend", "+1 h"), value: [(until + HOUR_MS).toString(36), ...silences].join(" ") };
}

/** A button for the first silence that a question is about; undefined where it is about none. */
export function questionActions({ integrationId, group, groups, conversation, firing, now }: Notification) {
  const { by, until } = firing.find(silenceOf)?.suppressedBy ?? {};
  const id = conversation && makeBlockId(integrationId, groups ? "storm" : group.id, conversation.id, now);
  if (by === undefined || until === undefined || id === undefined) return undefined;
  return { type: "actions", block_id: id, elements: [extendButton([by], until)] } satisfies ActionsBlock;
}

const HOUR_MS = 3_600_000;

function plain(text: string): PlainText {
  return { type: "plain_text", text, emoji: false };
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
