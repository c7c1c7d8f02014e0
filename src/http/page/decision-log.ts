/** The decision log as a list, the newest line first. */
import { type LogLine, sentenceOf } from "../../alerting/decision-log.ts";
import type { Subject } from "../../health/evaluation.ts";
import { counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { type Moment, timeAt } from "./when.ts";

/** `lenswatch why` shows older ones. */
const LINES_SHOWN = 60;

interface DecisionLogOptions {
  readonly moment: Moment;
  /** IANA zone of its times. */
  readonly timezone: string;
  readonly title: string;
  /** Lines about another kind of subject name it. */
  readonly of: Subject["kind"];
}

/** `lines` oldest first, as the log gives them. */
export function decisionLogSection(lines: readonly LogLine[], options: DecisionLogOptions): Markup {
  const { moment, timezone, title, of } = options;
  const shown = lines.slice(-LINES_SHOWN).reverse();
  const left = lines.length - shown.length;
  const items = shown.map((line) => {
    const { kind } = line.subject;
    const about = kind === of ? nothing : html`<small>${kind}</small> `;
    return html`<li>${timeAt(line.at, timezone, moment)}
<span>${about}<bdi>${cut(sentenceOf(line), 300)}</bdi></span></li>
`;
  });
  const list = items.length === 0 ? html`<p class="soft">No decisions.</p>` : html`<ol class="decisions">${items}</ol>`;
  const more = html`<p class="soft">${counted(left, "older line")}: see <code>lenswatch why</code>.</p>`;
  return html`<section aria-labelledby="decisions"><h2 id="decisions">${title}</h2>${list}${left === 0 ? nothing : more}
</section>
`;
}
