/** `GET /alerts/{fingerprint}`: one alert, its decision log and its labels. */
import type { LogLine } from "../../alerting/decision-log.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Alert } from "../../health/alert.ts";
import { nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import type { ActiveAlert } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { alertCard } from "./alert-card.ts";
import { alertTitle, subjectOf } from "./alert-table.ts";
import { decisionLogSection } from "./history.ts";
import type { HtmlPage } from "./layout.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import type { Visitor } from "./visitor.ts";

const ROOT = "../";

/** The firing alerts with this fingerprint, usually one. Throws HttpError `not_found` where there is none. */
export function alertsOf(print: string, { alerts, suppressed }: PageData): ActiveAlert[] {
  const found = alerts.filter(({ labels }) => fingerprint(labels) === print);
  const active = found.flatMap(({ key }) => suppressed.get(key) ?? []);
  if (active.length > 0) return active;
  const message = "No firing alert has this fingerprint: it may have resolved, or the link may be cut off.";
  throw new HttpError("not_found", message);
}

/** `lines` are the decision log of its subject. */
export function alertPage(
  active: readonly ActiveAlert[],
  data: PageData,
  visitor: Visitor,
  lines: readonly LogLine[],
): HtmlPage {
  const [first] = active;
  if (!first) throw new Error("an alert's page without an alert");
  const { alert } = first;
  const { labels, subject, facts } = alert;
  const path = `alerts/${fingerprint(labels)}`;
  const own = lines.filter(({ ruleId }) => ruleId === undefined || ruleId === alert.ruleId);
  const cards = active.map((one) => alertCard(one, { data, root: ROOT, visitor, path, lines, isPage: true }));
  const title = alertTitle(alert);
  const log = { moment: data.moment, timezone: facts.timezone, title: "Decision log", of: subject.kind };
  return {
    title: `${title} · ${nameOf(labels.recording ?? labels.location ?? "", subject.id)}`,
    mood: "bad",
    path,
    body: html`<div class="lead bad"><h1>${title}</h1><p>${subjectOf(alert, ROOT)}</p></div>
${unreachableNotice(data)}<ul class="cards">${cards}</ul>${links(alert)}
${decisionLogSection(own, log)}${labelList(alert)}`,
  };
}

/** The alert's own links; only http and https ones. */
function links({ annotations, facts }: Alert): Markup {
  const all = { Runbook: annotations.runbook_url, Source: facts.generatorUrl };
  const found = Object.entries(all).flatMap(([words, text]) => {
    const href = webUrl(text);
    return href ? [html`<a class="button" href="${href}" rel="noreferrer noopener">${words}</a> `] : [];
  });
  return found.length === 0 ? nothing : html`<p class="actions">${found}</p>`;
}

function webUrl(text = ""): string | undefined {
  if (text.length > 2_000 || !URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}

function labelList({ labels }: Alert): Markup {
  const rows = Object.entries(labels).map(
    ([name, value]) => html`<dt><bdi>${cut(name, 80)}</bdi></dt><dd><bdi>${cut(value, 300)}</bdi></dd>`,
  );
  return html`<details id="labels"><summary>Labels</summary><dl>${rows}</dl></details>`;
}
