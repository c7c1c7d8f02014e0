/** A conversation's root, which shows the present, and the replies in its thread, which are the news. */

import { HANDLED_WORDS } from "../../alerting/attention.ts";
import type { Document } from "../../alerting/document.ts";
import type { Notification, NotifiedAlert } from "../../alerting/model.ts";
import { counted } from "../../lib/format.ts";
import { own } from "../../lib/own.ts";
import { cut } from "../../lib/text.ts";
import { timesSeenAt } from "../../lib/when.ts";
import { endCounts } from "../ending.ts";
import { nameOf } from "../silence-scope.ts";
import { titleOf } from "../title.ts";
import { actionsOf, questionActions } from "./actions.ts";
import { payloadOf, type SlackExtras, slackMessageOf } from "./render.ts";
import { sumOf } from "./whole.ts";

type RootExtras = Omit<SlackExtras, "actions"> & { readonly actions?: boolean };

const MOST_NAMED = 3;
const TITLE_LENGTH = 150;

/** The root: what fires now, and what of it is acknowledged or silenced; once all is over, how it ended. */
export function renderRoot(notification: Notification, { actions = false, ...extras }: RootExtras = {}) {
  if (notification.conversation?.isOver) return payloadOf(overMessage(notification), extras);
  const present = presentOf(notification);
  const buttons = actions ? actionsOf(notification, present.firing) : undefined;
  const message = withoutButtons(slackMessageOf(present), buttons !== undefined);
  const { title, lead } = message;
  const words = {
    title: cut(title + handledWords(present.firing), TITLE_LENGTH),
    lead: [...lead, ...meanwhile(notification)],
  };
  return payloadOf({ ...message, ...words }, { ...extras, actions: buttons });
}

/** Once all is over: the whole of it, and what ended last where that is only a part. */
function overMessage(notification: Notification): Document {
  const { conversation, resolved } = notification;
  const { ended = [], unknown = 0 } = conversation?.whole ?? {};
  const last = { ...notification, reason: "resolved", firing: [] } as const;
  const message = slackMessageOf(last);
  const isAll = resolved.length > 0 && ended.length + unknown <= resolved.length;
  if (isAll && conversation?.groups === undefined) return message;
  const { lead, ...sum } = sumOf(notification);
  const lastly = isAll || resolved.length === 0 ? [] : [`Last: ${titleOf(last)}.`];
  return { ...message, ...sum, lead: [...lead, ...lastly, ...message.lead] };
}

/** The news: alerts that were not notified before, a reminder of all, or ends. */
export function renderReply(notification: Notification, { actions = false, ...extras }: RootExtras = {}) {
  const { reason, firing, resolved, standing } = notification;
  const added = firing.filter(({ isNew }) => isNew);
  const isEnd = added.length === 0 && resolved.length > 0 && reason !== "reminder";
  const news = isEnd || added.length > 0 ? { ...notification, firing: added } : notification;
  const left = [...firing, ...standing];
  const message = slackMessageOf(news);
  const lead = isEnd && left.length > 0 ? [leftWords(left), ...message.lead] : message.lead;
  return payloadOf({ ...message, lead }, { ...extras, actions: actions ? questionActions(notification) : undefined });
}

/** `2 alerts still firing: Till 3 · Leeds Briggate, Till 4 · Leeds Briggate.`; more are not named. */
function leftWords(left: readonly NotifiedAlert[]): string {
  const names = [...new Set(left.map((alert) => nameOf(alert, 60)))];
  return `${counted(left.length, "alert")} still firing${left.length > MOST_NAMED ? "" : `: ${names.join(", ")}`}.`;
}

function presentOf(notification: Notification): Notification {
  const { firing, standing } = notification;
  const all = [...firing, ...standing].map((alert) => ({ ...alert, isNew: true }));
  return { ...notification, reason: notification.start ? "started" : "first", firing: all, resolved: [] };
}

/** ` — acknowledged`, ` — in maintenance`: of everything that fires. */
function handledWords(firing: readonly NotifiedAlert[]): string {
  const [reason = "", ...others] = new Set(firing.map(({ suppressedBy }) => suppressedBy?.reason));
  const words = others.length > 0 ? undefined : own(HANDLED_WORDS, reason);
  return words === undefined ? "" : ` — ${words}`;
}

/** A sentence on what ended while others fire, or when a summary was true, whose root is not edited before all is over. */
function meanwhile({ resolved, firing, groups, now, start, timezone }: Notification): string[] {
  const [one] = firing;
  if (groups !== undefined && one)
    return [
      `As of ${timesSeenAt(now, timezone).at(now, one.facts.timezone)}; later changes are in messages of their own.`,
    ];
  return start || resolved.length === 0 ? [] : [`Since the last notification: ${endCounts(resolved).join(", ")}.`];
}

/** Buttons take the place of these links: of a single alert all of them. */
function withoutButtons(message: Document, hasButtons: boolean): Document {
  if (!hasButtons) return message;
  const total = message.sections.reduce((sum, section) => sum + section.total, 0);
  const isLeft = ({ label }: { label: string }) => total > 1 && label !== "Acknowledge" && label !== "Silence";
  const sections = message.sections.map((section) => ({
    ...section,
    rows: section.rows.map((row) => ({ ...row, links: row.links.filter(isLeft) })),
  }));
  return { ...message, sections, actions: total > 1 ? message.actions : [] };
}
