/** One alert in full, with its buttons. */

import { isUndoable, lastChangeOf, suppressionBy } from "../../alerting/acknowledgement.ts";
import { attentionTo } from "../../alerting/attention.ts";
import type { LogLine } from "../../alerting/decision-log.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { inhibitionBy } from "../../alerting/inhibit.ts";
import { integrationName } from "../../alerting/integration-name.ts";
import type { Suppression } from "../../alerting/model.ts";
import { matchersOf } from "../../alerting/prepared-silence.ts";
import { silencedBy } from "../../alerting/silence.ts";
import { suppressionParts } from "../../alerting/suppression-words.ts";
import { toneOf } from "../../alerting/tone.ts";
import type { Alert } from "../../health/alert.ts";
import type { AlertState } from "../../health/alert-machine.ts";
import type { Instant } from "../../lib/clock.ts";
import { counted, nameOf, zonePath } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { capital, cut } from "../../lib/text.ts";
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
  readonly of?: string | undefined;
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

function small(text = ""): Markup {
  return text === "" ? nothing : html` <small><bdi>${cut(text, 100)}</bdi></small>`;
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
  if (newest.size === 0) return own.some(({ reason }) => reason === "firing") ? html`Not notified yet` : undefined;
  const shown = firstOf([...newest], INTEGRATIONS_SHOWN, ([integration, { at }]) => {
    return html`<bdi>${cut(integrationName(integration), 80)}</bdi> at ${timeAt(at, facts.timezone, moment)}`;
  });
  return html`Notified ${shown}`;
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

/** A button that undoes the last change of acknowledgements in an incident, after `words`; nothing where it was too long ago. */
export function undoForm(
  incident: string,
  alerts: readonly Alert[],
  { suppressed, moment }: PageData,
  context: FormContext,
  words = nothing,
): Markup {
  const acks = alerts.flatMap(({ key }) => {
    const { acknowledgement, endedAcknowledgement } = suppressed.get(key) ?? {};
    return acknowledgement ?? endedAcknowledgement ?? [];
  });
  const at = lastChangeOf(acks);
  if (at === undefined || context.visitor.formToken === undefined || !isUndoable({ at }, moment.now)) return nothing;
  const changed = acks.filter(({ last }) => last?.at === at).length;
  const of = changed === 1 ? "the acknowledgement" : counted(changed, "acknowledgement");
  return alertForm(
    "undo",
    incident,
    context,
    html`<p class="actions">${words}<button>Undo the last change of ${of}</button></p>`,
  );
}

type FormContext = Pick<CardContext, "root" | "visitor" | "path">;

/** A form that changes the alert with this fingerprint, or the alerts of an incident; fields outside of it name it as their `form`. */
export function alertForm(
  change: "ack" | "withdraw" | "note" | "undo",
  print: string,
  { root, visitor, path }: FormContext,
  fields: Markup,
  id?: string,
): Markup {
  return html`<form${id === undefined ? nothing : html` id="${id}"`} method="post" action="${root}alerts/${print}/${change}">
${formToken(visitor)}<input type="hidden" name="back" value="${path}">${fields}</form>`;
}

function suppressionLines(active: ActiveAlert, data: PageData, root: Root): Markup[] {
  const { alert, acknowledgement, endedAcknowledgement } = active;
  const { timezone } = alert.facts;
  const { moment } = data;
  const by = (author: string, at: Instant) =>
    html`<bdi>${nameOf(author, "somebody")}</bdi> at ${timeAt(at, timezone, moment)}`;
  const all = suppressionsOf(active, data).map((one) => suppressionLine(one, { timezone, moment, root }));
  const ended = endedAcknowledgement && by(endedAcknowledgement.author, endedAcknowledgement.at);
  const over = ended && html`Unacknowledged: the acknowledgement of ${ended} is over`;
  const { notes = [] } = acknowledgement ?? endedAcknowledgement ?? {};
  const noted = notes.map(({ author, at, text }) => html`Note of ${by(author, at)}: <bdi>${cut(text, 300)}</bdi>`);
  return [...(over ? [over] : all.length > 0 ? [] : [html`Unacknowledged`]), ...all, ...noted];
}

/** The suppressions of an active alert, the acknowledgement first. */
function suppressionsOf(active: ActiveAlert, { alerts, silences, moment }: PageData): Suppression[] {
  const { alert, acknowledgement, silencedBy: ids = [], inhibitedBy = [], maintenance, mutedBy = [] } = active;
  const sources = inhibitedBy.flatMap((print) => alerts.find(({ labels }) => fingerprint(labels) === print) ?? []);
  const all = [
    suppressionBy(acknowledgement, moment.now),
    ...ids.flatMap((id) => silences.get(id) ?? []).map(silencedBy),
    ...sources.map(inhibitionBy),
    maintenance,
    ...mutedBy.map((by) => ({ reason: "muted", by }) as const),
    alert.facts.paused ? ({ reason: "paused", by: alert.id } as const) : undefined,
  ];
  return all.filter((one) => one !== undefined);
}

/** `Silenced by amy until 15:00 GMT: rewiring`, since when, with a link to an alert that inhibits. */
export function suppressionLine(
  suppression: Suppression,
  { timezone, moment, root }: { readonly timezone: string; readonly moment: Moment; readonly root: Root },
): Markup {
  const written = suppressionParts(suppression).map((part, i) => {
    if (typeof part === "string") return html`${i === 0 ? capital(part) : part}`;
    if ("at" in part) return timeAt(part.at, timezone, moment);
    const text = html`<bdi>${cut(part.text, part.most)}</bdi>`;
    return part.source ? html`<a href="${alertPageLink(root, fingerprint(part.source.labels))}">${text}</a>` : text;
  });
  const { since } = suppression;
  return html`${written}${since === undefined ? nothing : html` <small>since ${timeAt(since, timezone, moment)}</small>`}`;
}
