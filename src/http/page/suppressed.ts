/** Whether somebody sees to an alert, and what keeps it from being told. */
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Alert } from "../../health/alert.ts";
import { nameOf } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import type { ActiveAlert } from "../deps.ts";
import { problemOf } from "./alert-words.ts";
import { alertLink, type Root } from "./links.ts";
import type { PageData } from "./page-data.ts";
import { timeAt } from "./when.ts";

/** `acknowledged by dana`, `silenced`; empty where nobody sees to it and nothing holds it back. */
export function suppressionPhrase({ facts }: Pick<Alert, "facts">, active: ActiveAlert | undefined): string {
  const { acknowledgement, silencedBy = [], inhibitedBy = [], mutedBy = [] } = active ?? {};
  return [
    ...(acknowledgement ? [`acknowledged by ${nameOf(acknowledgement.author, "somebody", 40)}`] : []),
    ...(silencedBy.length > 0 ? ["silenced"] : []),
    ...(inhibitedBy.length > 0 ? ["explained by another alert"] : []),
    ...(mutedBy.length > 0 ? ["muted"] : []),
    ...(facts.paused ? ["outside its schedule"] : []),
  ].join(", ");
}

/** The same in sentences, a line each: who, since when, until when and why. */
export function suppressionLines(active: ActiveAlert, data: PageData, root: Root): Markup[] {
  const { alert, acknowledgement, silencedBy = [], inhibitedBy = [], mutedBy = [] } = active;
  const { timezone } = alert.facts;
  const lines: Markup[] = [];
  if (acknowledgement) {
    const { author, at, comment } = acknowledgement;
    const why = comment === "" ? html`.` : html`: <q><bdi>${cut(comment, 300)}</bdi></q>`;
    lines.push(
      html`Acknowledged by <bdi>${nameOf(author, "somebody")}</bdi> at ${timeAt(at, timezone, data.moment)}${why}`,
    );
  }
  for (const id of silencedBy) lines.push(silencedLine(id, data, timezone));
  for (const print of inhibitedBy) lines.push(explainedLine(print, data, root));
  for (const name of mutedBy)
    lines.push(html`Not told to anybody in the time interval <bdi>${cut(name, 80)}</bdi>.`);
  if (alert.facts.paused) lines.push(html`Waits: it is outside the recording's uploading schedule.`);
  return lines.length > 0 ? lines : [html`Nobody has acknowledged it.`];
}

function silencedLine(id: string, { silences, moment }: PageData, timezone: string): Markup {
  const silence = silences.get(id);
  if (!silence) return html`Silenced.`;
  const why = silence.comment === "" ? html`.` : html`: <q><bdi>${cut(silence.comment, 300)}</bdi></q>`;
  return html`Silenced until ${timeAt(silence.endsAt, timezone, moment)} by <bdi>${nameOf(silence.createdBy, "somebody")}</bdi>${why}`;
}

function explainedLine(print: string, { alerts }: PageData, root: Root): Markup {
  const source = alerts.find(({ labels }) => fingerprint(labels) === print);
  if (!source) return html`Not told on its own: another alert explains it.`;
  const where = source.labels.location ?? source.labels.recording ?? "";
  const words = `${problemOf(source)}${where === "" ? "" : ` · ${nameOf(where, "")}`}`;
  return html`Not told on its own: <a href="${alertLink(root, print)}"><bdi>${words}</bdi></a> explains it.`;
}
