/** A conversation's root, which shows the present, and the replies in its thread, which are the news. */
import type { Notification, NotifiedAlert } from "../../alerting/notification.ts";
import { counted } from "../../lib/format.ts";
import { cut } from "../../lib/text.ts";
import { span, timesSeenAt } from "../../lib/when.ts";
import { endCounts } from "../ending.ts";
import type { AlertMessage } from "../message.ts";
import { actionsOf } from "./actions.ts";
import { payloadOf, type SlackExtras, slackMessageOf } from "./render.ts";

type RootExtras = Omit<SlackExtras, "actions"> & { readonly actions?: boolean };

/** What is true now: what fires, and what of it is acknowledged or silenced; once all is over, how it ended. */
export function renderRoot(notification: Notification, { actions = false, ...extras }: RootExtras = {}) {
  const present = presentOf(notification);
  const buttons = actions ? actionsOf(notification, present.firing) : undefined;
  const message = withoutButtons(slackMessageOf(present), buttons !== undefined);
  const { isOver, groups } = notification.conversation ?? {};
  const { title, lead } = message;
  if (isOver && (groups !== undefined || notification.resolved.length === 0)) {
    const over = groups === undefined ? "✅ All over" : `✅ ${counted(groups, "group")} of alerts: all over`;
    return payloadOf({ ...message, title: over, lead: meanwhile(notification), sections: [] }, extras);
  }
  const words = { title: cut(title + handledWords(present.firing), 150), lead: [...lead, ...meanwhile(notification)] };
  return payloadOf({ ...message, ...words }, { ...extras, actions: buttons });
}

/** What is new: alerts that were not notified before, a reminder of all, or ends. */
export function renderReply(notification: Notification, extras: Omit<SlackExtras, "actions"> = {}) {
  const { reason, firing, resolved, standing } = notification;
  const added = firing.filter(({ isNew }) => isNew);
  const isEnd = added.length === 0 && resolved.length > 0 && reason !== "reminder";
  const news = isEnd || added.length > 0 ? { ...notification, firing: added } : notification;
  const left = firing.length + standing.length;
  const message = slackMessageOf(news);
  const lead = isEnd && left > 0 ? [`${counted(left, "alert")} still firing.`, ...message.lead] : message.lead;
  return payloadOf({ ...message, lead }, extras);
}

function presentOf(notification: Notification): Notification {
  const { conversation, firing, standing } = notification;
  if (conversation?.isOver) return { ...notification, reason: "resolved", firing: [] };
  const all = [...firing, ...standing].map((alert) => ({ ...alert, isNew: true }));
  return { ...notification, reason: notification.start ? "started" : "first", firing: all, resolved: [] };
}

/** ` — acknowledged`, ` — silenced`, ` — in maintenance`: of everything that fires. */
function handledWords(firing: readonly NotifiedAlert[]): string {
  const [reason, ...others] = new Set(firing.map(({ suppressedBy }) => suppressedBy?.reason));
  if (others.length > 0) return "";
  if (reason === "maintenance") return " — in maintenance";
  return reason === "acknowledged" || reason === "silenced" ? ` — ${reason}` : "";
}

/** What ended while others fire; how long it all lasted; when a summary was true, whose root is not edited before. */
function meanwhile({ conversation, resolved, firing, groups, now, start }: Notification): string[] {
  const [one] = firing;
  if (groups !== undefined && one && !conversation?.isOver)
    return [`As of ${timesSeenAt(now).at(now, one.facts.timezone)}; later changes are in messages of their own.`];
  if (start || resolved.length === 0) return [];
  if (!conversation?.isOver) return [`Since the last notification: ${endCounts(resolved).join(", ")}.`];
  const [first] = resolved;
  const range = timesSeenAt(now).between(conversation.openedAt, now, first?.facts.timezone ?? "UTC");
  return [`Notified ${range} (${span(conversation.openedAt, now)}); nothing of it fires any more.`];
}

/** Buttons take the place of these links: of a single alert all of them. */
function withoutButtons(message: AlertMessage, hasButtons: boolean): AlertMessage {
  if (!hasButtons) return message;
  const total = message.sections.reduce((sum, section) => sum + section.total, 0);
  const isLeft = ({ label }: { label: string }) => total > 1 && label !== "Acknowledge" && label !== "Silence";
  const sections = message.sections.map((section) => ({
    ...section,
    entries: section.entries.map((entry) => ({ ...entry, links: entry.links.filter(isLeft) })),
  }));
  return { ...message, sections, overview: total > 1 ? message.overview : undefined };
}
