/** One alert with all there is to know of it, and what can be done about it. */

import type { LogLine } from "../../alerting/decision-log.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { matchersOf } from "../../alerting/silence.ts";
import type { Alert } from "../../health/alert.ts";
import type { AlertState } from "../../health/shard-state.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import type { ActiveAlert } from "../deps.ts";
import { classOf, problemOf, type ShownAlert } from "./alert-words.ts";
import { alertLink, type Root, signInLink, silenceFormLink } from "./links.ts";
import { notifiedLine } from "./notified.ts";
import type { PageData } from "./page-data.ts";
import { suppressionLines } from "./suppressed.ts";
import { formToken, type Visitor } from "./visitor.ts";
import { type Moment, timeAt } from "./when.ts";

export interface CardPlace {
  readonly data: PageData;
  readonly root: Root;
  readonly visitor: Visitor;
  /** The page it stands on, from `/` on: where its buttons lead back to. */
  readonly path: string;
  /** What was decided, oldest first, as far back as the alert goes. */
  readonly lines: readonly LogLine[];
  /** Where among the alerts of its page: `its location`, say. */
  readonly of?: string;
  /** Whether the page is about this alert, and has its name as its heading. */
  readonly isPage?: boolean;
}

/** An alert that fires. */
export function alertCard(active: ActiveAlert, place: CardPlace): Markup {
  const { alert } = active;
  const { data, root, of, isPage } = place;
  const print = fingerprint(alert.labels);
  const title = html`<h3><a href="${alertLink(root, print)}">${problemOf(alert)}</a>${ofWhat(of)}</h3>`;
  const notified = notifiedLine(alert, place.lines, data.moment);
  const suppression = [...suppressionLines(active, data, root), ...(notified ? [notified] : [])].map(
    (line) => html`<li>${line}</li>`,
  );
  return html`<li class="card firing ${severityOf(alert)}">${isPage ? nothing : title}${sinceLine(alert, "fires", data.moment)}${note(alert)}
<ul class="handled">${suppression}</ul>${actions(active, print, place)}</li>
`;
}

/** An alert that waits for its `for` to pass, or of which no more is known: nothing is to be done about it. */
export function plainCard(alert: AlertState, moment: Moment, of?: string): Markup {
  const state = alert.state === "pending" ? "pending, not told yet" : "fires";
  return html`<li class="card ${alert.state}"><h3>${problemOf(alert)}${ofWhat(of)}</h3>${sinceLine(alert, state, moment)}${note(alert)}</li>
`;
}

function ofWhat(of: string | undefined): Markup {
  return of === undefined ? nothing : html` <small>${of}</small>`;
}

function sinceLine(alert: ShownAlert, state: string, moment: Moment): Markup {
  const { startsAt, facts } = alert;
  return html`<p>since ${timeAt(startsAt, facts.timezone, moment)} (${span(startsAt, moment.now)}) <small>${classOf(alert)} · ${state}</small></p>`;
}

/** What it says of itself, and what it means for those who count people, as far as that is known. */
function note({ annotations, facts }: ShownAlert): Markup {
  const { description = "", zones = "", impact = "" } = annotations;
  const lines: [string, string][] = [
    ["", facts.detail ?? (facts.restated?.includes("description") ? "" : description)],
    ["Zones: ", zones],
    ["Impact: ", impact],
  ];
  const said = lines.filter(([, text]) => text !== "");
  return html`${said.map(([lead, text]) => html`<p class="soft">${lead}<bdi>${cut(text, 300)}</bdi></p>`)}`;
}

function severityOf({ labels }: Pick<Alert, "labels">): string {
  return labels.severity === "critical" || labels.severity === "error" ? "severe" : "mild";
}

/** What another alert explains is seldom what has to be seen to: its button does not stand out. */
function actions(active: ActiveAlert, print: string, place: CardPlace): Markup {
  const { alert, acknowledgement, inhibitedBy = [] } = active;
  const { root, visitor, path } = place;
  const silence = silenceFormLink(root, { matchers: matchersOf(alert) });
  if (visitor.formToken === undefined) {
    if (visitor.isReadOnly || !visitor.canSignIn) return nothing;
    return html`<p class="actions"><a class="button" href="${signInLink(root, path)}">Sign in to acknowledge</a> <a class="button" href="${silence}">Silence…</a></p>`;
  }
  const acknowledge = acknowledgement
    ? nothing
    : html`<form method="post" action="${root}alerts/${print}/ack">${formToken(visitor)}<input type="hidden" name="back" value="${path}"><button${inhibitedBy.length > 0 ? nothing : html` class="main"`}>Acknowledge</button></form>`;
  return html`<div class="actions">${acknowledge}<a class="button" href="${silence}">Silence…</a></div>`;
}
