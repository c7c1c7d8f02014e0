/** One alert in full, with its buttons. */

import { isUndoable } from "../../alerting/acknowledgement.ts";
import { attentionTo } from "../../alerting/attention.ts";
import type { LogLine } from "../../alerting/decision-log.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { alertSubjectName } from "../../alerting/incident-words.ts";
import { integrationName } from "../../alerting/integration-name.ts";
import type { Suppression } from "../../alerting/model.ts";
import { matchersOf } from "../../alerting/prepared-silence.ts";
import { toneOf } from "../../alerting/tone.ts";
import type { Alert } from "../../health/alert.ts";
import type { AlertState } from "../../health/alert-machine.ts";
import type { Instant } from "../../lib/clock.ts";
import { nameOf, zonePath } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import type { ActiveAlert } from "../deps.ts";
import { alertTitle, classOf, type ShownAlert } from "./alert-table.ts";
import { alertPageLink, type Root, signInLink, silenceFormLink } from "./links.ts";
import { firstOf } from "./listing.ts";
import type { PageData } from "./page-data.ts";
import { formToken, type Visitor } from "./visitor.ts";
import { type Moment, sinceAt, timeAt } from "./when.ts";

/** The page that an alert is shown on. */
export interface CardContext {
  readonly data: PageData;
  readonly root: Root;
  readonly visitor: Visitor;
  /** The page's address from `/` on, where its buttons lead back to. */
  readonly path: string;
  /** The decision log since the alert began, oldest first. */
  readonly lines: readonly LogLine[];
  /** Subject where it is not the page's own, such as `its location`. */
  readonly of?: string;
}

/** A firing alert. */
export function alertCard(active: ActiveAlert, context: CardContext): Markup {
  const { alert } = active;
  const { data, root, of } = context;
  const print = fingerprint(alert.labels);
  const title = html`<h3><a href="${alertPageLink(root, print)}">${alertTitle(alert)}</a>${small(of)}</h3>`;
  return html`<li class="card ${toneOf([[alert, attentionTo(active)]])}">
${title}${sinceLine(alert, "firing", data.moment)}${noteOf(alert)}
${stateLines(active, context)}${actions(active, context)}</li>`;
}

/** Lines on what suppresses it, who acknowledged it, and who was notified. */
export function stateLines(active: ActiveAlert, { data, root, lines }: CardContext): Markup {
  const notified = notifiedLine(active.alert, lines, data.moment);
  const state = [...suppressionLines(active, data, root), ...(notified ? [notified] : [])];
  return html`<ul class="suppression">${state.map((line) => html`<li>${line}</li>`)}</ul>`;
}

/** A pending alert, or one that is not stored yet: it has no buttons. */
export function plainCard(alert: AlertState, moment: Moment, of?: string): Markup {
  const state = alert.state === "pending" ? "pending, not notified yet" : "firing";
  return html`<li class="card info ${alert.state}">
<h3>${alertTitle(alert)}${small(of)}</h3>${sinceLine(alert, state, moment)}${noteOf(alert)}</li>`;
}

function small(text: string | undefined): Markup {
  return text === undefined ? nothing : html` <small>${text}</small>`;
}

function sinceLine(alert: ShownAlert, state: string, moment: Moment): Markup {
  return html`<p>since ${sinceAt(alert.startsAt, alert.facts.timezone, moment)} <small>${classOf(alert)} · ${state}</small></p>`;
}

export function noteOf({ annotations, facts }: ShownAlert): Markup {
  const { description = "", zones = "", impact = "", contact = "" } = annotations;
  const lines: [string, string][] = [
    ["", facts.detail ?? (facts.restated?.includes("description") ? "" : description)],
    ["Zones: ", zonePath(zones)],
    ["Impact: ", impact],
    ["", contact],
  ];
  const known = lines.filter(([, text]) => text !== "");
  return html`${known.map(([lead, text]) => html`<p class="soft">${lead}<bdi>${cut(text, 300)}</bdi></p>`)}`;
}

const NOTIFIED: ReadonlySet<string> = new Set(["notified", "notified_late", "reminded"]);
/** An alert and its decision are stored together, under clocks that may differ a little. */
const CLOCK_TOLERANCE_MS = 5_000;
const INTEGRATIONS_SHOWN = 6;

/**
 * The newest notification of each integration. Undefined where `lines`, oldest first, do not go back to the start of the
 * alert and contain no notification: earlier ones are not known then.
 */
function notifiedLine(alert: Alert, lines: readonly LogLine[], moment: Moment): Markup | undefined {
  const { subject, ruleId, firedAt, facts } = alert;
  const own = lines.filter(
    (line) =>
      line.ruleId === ruleId &&
      line.subject.kind === subject.kind &&
      line.subject.id === subject.id &&
      line.at >= firedAt - CLOCK_TOLERANCE_MS,
  );
  const newest = new Map<string, LogLine>();
  for (const line of own)
    if (line.integration !== undefined && NOTIFIED.has(line.reason)) newest.set(line.integration, line);
  if (newest.size === 0) return own.some(({ reason }) => reason === "firing") ? html`Not notified yet.` : undefined;
  const shown = firstOf([...newest], INTEGRATIONS_SHOWN, ([integration, { at }]) => {
    return html`<bdi>${cut(integrationName(integration), 80)}</bdi> at ${timeAt(at, facts.timezone, moment)}`;
  });
  return html`Notified ${shown}.`;
}

/**
 * The buttons of an alert, then `more`. The button of an inhibited alert does not stand out, as the other alert
 * is the one to handle; an acknowledgement is withdrawn on the alert's own page.
 */
export function actions(active: ActiveAlert, context: CardContext, own?: { readonly more: readonly Markup[] }): Markup {
  const { alert, acknowledgement, endedAcknowledgement, inhibitedBy = [] } = active;
  const { root, visitor, path, data } = context;
  const { more = [] } = own ?? {};
  const print = fingerprint(alert.labels);
  const silence = html`<a class="button" href="${silenceFormLink(root, { matchers: matchersOf(alert) })}">Silence…</a>`;
  const row = (all: readonly Markup[]) => html`<div class="actions${own ? " row" : ""}">${all}</div>`;
  if (visitor.formToken === undefined) {
    const signIn = visitor.isReadOnly || !visitor.canSignIn ? [] : [signInButton(root, path, visitor), silence];
    return signIn.length + more.length === 0 ? nothing : row([...signIn, ...more]);
  }
  const main = inhibitedBy.length > 0 ? nothing : html` class="main"`;
  const withdraw = own
    ? alertForm("withdraw", print, context, html`<button>Withdraw acknowledgement</button>`)
    : nothing;
  const first = acknowledgement
    ? withdraw
    : alertForm("ack", print, context, html`<button${main}>Acknowledge</button>`, own && "ack");
  const isUndoing = own && isUndoable((acknowledgement ?? endedAcknowledgement)?.last, data.moment.now);
  const undo = isUndoing ? alertForm("undo", print, context, html`<button>Undo</button>`) : nothing;
  return row([first, undo, silence, ...more]);
}

function signInButton(root: Root, path: string, { name }: Visitor): Markup {
  const other = name === undefined ? "" : "with another token ";
  return html`<a class="button" href="${signInLink(root, path)}">Sign in ${other}to acknowledge</a>`;
}

/** A form that changes the alert with this fingerprint; fields outside of it name it as their `form`. */
export function alertForm(
  change: "ack" | "withdraw" | "note" | "undo",
  print: string,
  { root, visitor, path }: Pick<CardContext, "root" | "visitor" | "path">,
  fields: Markup,
  id?: string,
): Markup {
  return html`<form${id === undefined ? nothing : html` id="${id}"`} method="post" action="${root}alerts/${print}/${change}">
${formToken(visitor)}<input type="hidden" name="back" value="${path}">${fields}</form>`;
}

function suppressionLines(active: ActiveAlert, data: PageData, root: Root): Markup[] {
  const { alert, silencedBy = [], inhibitedBy = [], mutedBy = [], maintenance } = active;
  const { timezone, paused } = alert.facts;
  const lines: Markup[] = acknowledgementLines(active, data.moment);
  for (const id of silencedBy) lines.push(silencedLine(id, data, timezone));
  for (const print of inhibitedBy) lines.push(inhibitedLine(print, data, root));
  if (maintenance) lines.push(maintenanceLine(maintenance, data.moment, timezone));
  for (const name of mutedBy) lines.push(html`Muted by the time interval <bdi>${cut(name, 80)}</bdi>.`);
  if (paused) lines.push(html`Paused: outside the recording's uploading schedule.`);
  return lines.length > 0 ? lines : [html`Unacknowledged.`];
}

/** The acknowledgement and the notes on it; of one that is over, that it is. */
function acknowledgementLines({ alert, acknowledgement, endedAcknowledgement }: ActiveAlert, moment: Moment): Markup[] {
  const { timezone } = alert.facts;
  const ack = acknowledgement ?? endedAcknowledgement;
  if (!ack) return [];
  const { until, eta, notes = [] } = ack;
  const by = (author: string, at: Instant) =>
    html`<bdi>${nameOf(author, "somebody")}</bdi> at ${timeAt(at, timezone, moment)}`;
  const end = [
    until === undefined ? nothing : html`, until ${timeAt(until, timezone, moment)}`,
    eta === undefined
      ? nothing
      : html`, ETA ${timeAt(eta, timezone, moment)}${eta <= moment.now ? ", which is over" : ""}`,
  ];
  const first = acknowledgement
    ? html`Acknowledged by ${by(ack.author, ack.at)}${end}${quoted(ack.comment)}`
    : html`Unacknowledged: the acknowledgement of ${by(ack.author, ack.at)} is over.`;
  return [first, ...notes.map((one) => html`Note of ${by(one.author, one.at)}${quoted(one.text)}`)];
}

function quoted(comment: string): Markup {
  return comment === "" ? html`.` : html`: <q><bdi>${cut(comment, 300)}</bdi></q>`;
}

function silencedLine(id: string, { silences, moment }: PageData, timezone: string): Markup {
  const silence = silences.get(id);
  if (!silence) return html`Silenced.`;
  const author = html`<bdi>${nameOf(silence.createdBy, "somebody")}</bdi>`;
  return html`Silenced until ${timeAt(silence.endsAt, timezone, moment)} by ${author}${quoted(silence.comment)}`;
}

function maintenanceLine({ by, until, comment = "" }: Suppression, moment: Moment, timezone: string): Markup {
  const end = until === undefined ? nothing : html` until ${timeAt(until, timezone, moment)}`;
  return html`In the maintenance <bdi>${cut(by, 80)}</bdi>${end}${quoted(comment)}`;
}

function inhibitedLine(print: string, { alerts }: PageData, root: Root): Markup {
  const source = alerts.find(({ labels }) => fingerprint(labels) === print);
  if (!source) return html`Inhibited by another alert.`;
  const of = source.subject.kind === "service" ? "" : ` · ${alertSubjectName(source)}`;
  const words = `${alertTitle(source)}${of}`;
  return html`Inhibited by <a href="${alertPageLink(root, print)}"><bdi>${words}</bdi></a>.`;
}
