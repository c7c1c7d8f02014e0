/** `GET /alerts/{fingerprint}`: one alert, who was told of it, and its labels. */

import type { LogLine } from "../../alerting/decision-log.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Alert } from "../../health/alert.ts";
import { nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import type { ActiveAlert } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { alertCard } from "./alert-card.ts";
import { whereOf } from "./alert-table.ts";
import { problemOf } from "./alert-words.ts";
import { decisionLogSection } from "./decision-log.ts";
import type { Page } from "./layout.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import type { Visitor } from "./visitor.ts";

const ROOT = "../";

/** Those that fire with this fingerprint: as a rule, one. Throws HttpError `not_found` where none does. */
export function alertsOf(print: string, { alerts, suppressed }: PageData): ActiveAlert[] {
  const found = alerts.filter(({ labels }) => fingerprint(labels) === print);
  const active = found.flatMap(({ key }) => suppressed.get(key) ?? []);
  if (active.length > 0) return active;
  throw new HttpError(
    "not_found",
    "No alert that fires has this fingerprint: it may be over by now, or the link may be cut off.",
  );
}

/** `lines` are what was decided about its subject. */
export function alertPage(
  active: readonly ActiveAlert[],
  data: PageData,
  visitor: Visitor,
  lines: readonly LogLine[],
): Page {
  const [first] = active;
  if (!first) throw new Error("an alert's page without an alert");
  const { alert } = first;
  const path = `alerts/${fingerprint(alert.labels)}`;
  const own = lines.filter(({ ruleId }) => ruleId === undefined || ruleId === alert.ruleId);
  const cards = active.map((one) => alertCard(one, { data, root: ROOT, visitor, path, lines, isPage: true }));
  const title = problemOf(alert);
  const decisionLog = decisionLogSection(own, {
    moment: data.moment,
    timezone: alert.facts.timezone,
    title: "Who was told, and why",
    of: alert.subject.kind,
  });
  return {
    title: `${title} · ${nameOf(alert.labels.recording ?? alert.labels.location ?? "", alert.subject.id)}`,
    mood: "bad",
    root: ROOT,
    path,
    madeAt: data.moment.now,
    refresh: "on",
    body: html`<div class="lead bad"><h1>${title}</h1><p>${whereOf(alert, ROOT)}</p></div>${unreachableNotice(data)}
<ul class="cards">${cards}</ul>${ways(alert)}
${decisionLog}${labels(alert)}`,
  };
}

/** Where the alert's own words lead; only a link into the web is one. */
function ways({ annotations, facts }: Alert): Markup {
  const all = [
    ["Runbook", annotations.runbook_url],
    ["Source", facts.generatorUrl],
  ] as const;
  const links = all.flatMap(([words, text]) => {
    const href = webUrl(text);
    return href === undefined
      ? []
      : [html`<a class="button" href="${href}" rel="noreferrer noopener">${words}</a> `];
  });
  return links.length === 0 ? nothing : html`<p class="actions">${links}</p>`;
}

function webUrl(text = ""): string | undefined {
  if (text.length > 2_000 || !URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}

function labels({ labels: all }: Alert): Markup {
  const rows = Object.entries(all).map(
    ([name, value]) => html`<dt><bdi>${cut(name, 80)}</bdi></dt><dd><bdi>${cut(value, 300)}</bdi></dd>`,
  );
  return html`<details id="labels"><summary>Labels</summary><dl>${rows}</dl></details>`;
}
