/** A conversation's root, which shows the present, and the replies in its thread, which are the news. */

import type { Document } from "../../alerting/document.ts";
import { extentOf, extentPhrase } from "../../alerting/extent.ts";
import type { Notification, NotifiedAlert } from "../../alerting/model.ts";
import { looks } from "../../alerting/tone.ts";
import { counted } from "../../lib/format.ts";
import { cut } from "../../lib/text.ts";
import { span, timesSeenAt } from "../../lib/when.ts";
import { endCounts } from "../ending.ts";
import { nameOf } from "../silence-scope.ts";
import { titleOf } from "../title.ts";
import { actionsOf, questionActions } from "./actions.ts";
import type { Named } from "./handle.ts";
import { payloadOf, type SlackExtras, slackMessageOf } from "./render.ts";

type RootExtras = Omit<SlackExtras, "actions"> & { readonly actions?: boolean; readonly named?: Named | undefined };

const MOST_NAMED = 3;
const TITLE_LENGTH = 150;

/** The root: what fires now, and what of it is acknowledged or silenced; once all is over, how it ended. */
export function renderRoot(notification: Notification, { actions = false, named, ...extras }: RootExtras = {}) {
  if (notification.conversation?.isOver) return payloadOf(overMessage(notification, named), extras);
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

/** The subject of a root, as it is opened, and with what is notified later. */
export function namedIn({ firing }: Notification, before?: Named): Named {
  const added = firing.filter(({ isNew }) => isNew);
  const since = Math.min(before?.since ?? Number.POSITIVE_INFINITY, ...firing.map(({ startsAt }) => startsAt));
  if (before) return { ...before, alerts: before.alerts + added.length, since };
  return { ...extentOf(firing), alerts: firing.length, since };
}

/** Once all is over: how it ended. A summary says what it was about; others, of how many alerts these are the last. */
function overMessage(notification: Notification, named: Named | undefined): Document {
  const { conversation, resolved, now, timezone } = notification;
  const ended = { ...notification, reason: "resolved", firing: [] } as const;
  const message = slackMessageOf(ended);
  const lead = [...message.lead, ...meanwhile(notification)];
  const isLast = named !== undefined && named.alerts > resolved.length;
  if (conversation?.groups === undefined && resolved.length > 0) {
    const last = isLast ? `, last of ${counted(named.alerts, "alert")}` : "";
    return { ...message, title: cut(message.title, TITLE_LENGTH - last.length) + last, lead };
  }
  const { sign } = looks[message.tone];
  const what = named && (extentPhrase(named) || counted(named.alerts, "alert"));
  const range = named && timesSeenAt(now, timezone).between(named.since, now, resolved[0]?.facts.timezone ?? "UTC");
  const last = resolved.length > 0 ? [`${isLast ? "Last: " : ""}${titleOf(ended)}.`] : [];
  return {
    ...message,
    title: what ? `${sign} All over: ${what}, ${range}` : `${sign} All over`,
    lead: [...last, ...lead],
  };
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

/** ` — acknowledged`, ` — silenced`, ` — in maintenance`: of everything that fires. */
function handledWords(firing: readonly NotifiedAlert[]): string {
  const [reason, ...others] = new Set(firing.map(({ suppressedBy }) => suppressedBy?.reason));
  if (others.length > 0) return "";
  if (reason === "maintenance") return " — in maintenance";
  return reason === "acknowledged" || reason === "silenced" ? ` — ${reason}` : "";
}

/** Sentences on what ended while others fire, how long all of it lasted, and when a summary was true, whose root is not edited before. */
function meanwhile({ conversation, resolved, firing, groups, now, start, timezone }: Notification): string[] {
  const [one] = firing;
  if (groups !== undefined && one && !conversation?.isOver)
    return [
      `As of ${timesSeenAt(now, timezone).at(now, one.facts.timezone)}; later changes are in messages of their own.`,
    ];
  if (start || resolved.length === 0) return [];
  if (!conversation?.isOver) return [`Since the last notification: ${endCounts(resolved).join(", ")}.`];
  const [first] = resolved;
  if (now - conversation.openedAt < 60_000) return ["Nothing of it fires any more."];
  const range = timesSeenAt(now, timezone).between(conversation.openedAt, now, first?.facts.timezone ?? "UTC");
  return [`Notified ${range} (${span(conversation.openedAt, now)}); nothing of it fires any more.`];
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
