/** The buttons of a root message and the fields of a silence (docs.slack.dev, Block Kit: actions, button, input). */

import { isAcknowledged } from "../../alerting/acknowledgement.ts";
import type { Notification, NotifiedAlert } from "../../alerting/model.ts";
import type { Instant } from "../../lib/clock.ts";
import { MOMENT_EXAMPLES, nextMorning } from "../../lib/moment.ts";
import { cut } from "../../lib/text.ts";
import { type Times, timesSeenAt } from "../../lib/when.ts";
import { overviewLink, printableUrl, statusLink } from "../link.ts";
import { silenceOf } from "../question.ts";
import { type SilenceScope, silenceScopes } from "../silence-scope.ts";
import { makeBlockId, type SlackAction } from "./action-id.ts";

/** A text without markup and without `:emoji:`. */
type PlainText = { readonly type: "plain_text"; readonly text: string; readonly emoji: false };
export interface Button {
  readonly type: "button";
  readonly action_id: SlackAction;
  readonly text: PlainText;
  readonly style?: "primary";
  readonly url?: string;
  readonly value?: string;
}
export type ActionsBlock = { type: "actions"; block_id: string; elements: Button[] };
/** A field; what is typed comes with a press of a button in the same message. */
export interface InputBlock {
  readonly type: "input";
  readonly block_id: "until" | "reason";
  readonly label: PlainText;
  readonly element: {
    readonly type: "plain_text_input";
    readonly action_id: "text";
    readonly placeholder: PlainText;
    readonly max_length: number;
  };
}

/** Slack's longest text of a button. */
const LONGEST_BUTTON = 75;

/** Buttons for what fires; undefined where nothing does, or without a conversation. */
export function actionsOf(
  { integrationId, group, groups, conversation, externalUrl, now }: Notification,
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
    silenceScopes(firing).length === 0 ? undefined : button("silence", "Silence"),
    button("why", "Why"),
    linkButton("runbook", "Runbook", runbookOf(firing)),
    linkButton("open", "Open", externalUrl === undefined ? undefined : pageOf(externalUrl, firing)),
  ];
  return { type: "actions", block_id: blockId, elements: elements.filter((element) => element !== undefined) };
}

function button(action: SlackAction, words: string): Button {
  let [text, length] = [words, LONGEST_BUTTON];
  // Slack counts UTF-16 units.
  while (text.length > LONGEST_BUTTON) text = cut(words, --length);
  return { type: "button", action_id: action, text: plain(text) };
}

function linkButton(action: SlackAction, text: string, url: string | undefined): Button | undefined {
  return url === undefined || url.length > 3_000 ? undefined : { ...button(action, text), url };
}

/** The fields of a silence, and a button for each scope; times are read on the clock of `zone`. */
export function silenceForm(scopes: readonly SilenceScope[], zone: string) {
  const inputs: InputBlock[] = [
    inputOf("until", `Until, in ${zone} (1h where it is empty)`, MOMENT_EXAMPLES, 40),
    inputOf("reason", "Reason", "new cable, or a ticket", 500),
  ];
  const buttons = scopes.map(({ key, label }) => button(`silence.${key}`, `Silence: ${label}`));
  return { inputs, buttons };
}

/** A button that undoes the acknowledgements made at that time. */
export function undoAckButton(at: Instant): Button {
  return { ...button("undo.acknowledgement", "Undo"), value: at.toString(36) };
}

function inputOf(block_id: InputBlock["block_id"], label: string, example: string, max_length: number): InputBlock {
  const element = { type: "plain_text_input", action_id: "text", placeholder: plain(example), max_length } as const;
  return { type: "input", block_id, label: plain(label), element };
}

/** A button that undoes what was done to these silences until now, and those that extend them. */
export function undoButtons(silences: readonly string[], ends: Parameters<typeof extendButtons>[1]): Button[] {
  return [
    { ...button("undo", "Undo"), value: [ends.now.toString(36), ...silences].join(" ") },
    ...extendButtons(silences, ends),
  ];
}

/** Buttons for later ends, where they are later: the end that each names is the same however often it is pressed. */
export function extendButtons(
  silences: readonly string[],
  { until, now, times, shop }: { until: Instant; now: Instant; times: Times; shop: string },
): Button[] {
  const to = (action: SlackAction, text: string, end: Instant) =>
    end > until ? [{ ...button(action, text), value: [end.toString(36), ...silences].join(" ") }] : [];
  const morning = nextMorning(now, times.zoneFor(shop));
  return [
    ...to("extend", "+1 h", until + HOUR_MS),
    ...to("extend.morning", `until ${times.at(morning, shop)}`, morning),
  ];
}

/** Buttons for the first silence that a question is about; undefined where it is about none. */
export function questionActions(notification: Notification): ActionsBlock | undefined {
  const { integrationId, group, groups, conversation, firing, now, timezone } = notification;
  const asked = firing.find(silenceOf);
  const { by, until } = asked?.suppressedBy ?? {};
  const block_id = conversation && makeBlockId(integrationId, groups ? "storm" : group.id, conversation.id, now);
  if (!asked || by === undefined || until === undefined || block_id === undefined) return undefined;
  const times = timesSeenAt(now, timezone);
  const elements = extendButtons([by], { until, now, times, shop: asked.facts.timezone });
  return { type: "actions", block_id, elements };
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
