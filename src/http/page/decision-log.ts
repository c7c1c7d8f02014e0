/** What was decided, when and why, and who was told: the newest first. */
import { type LogLine, sentenceOf } from "../../alerting/decision-log.ts";
import type { Subject } from "../../health/evaluation.ts";
import { counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { type Moment, timeAt } from "./when.ts";

/** Lines that are shown; what is older is told by `lenswatch why`. */
const LINES_SHOWN = 60;

export interface DecisionLogView {
  readonly moment: Moment;
  /** IANA zone its times are told in. */
  readonly timezone: string;
  readonly title: string;
  /** Whose story it is: what is said of others says of whom. */
  readonly of: Subject["kind"];
}

/** `lines` oldest first, as the incident log gives them. */
export function decisionLogSection(
  lines: readonly LogLine[],
  { moment, timezone, title, of }: DecisionLogView,
): Markup {
  const shown = lines.slice(-LINES_SHOWN).reverse();
  const left = lines.length - shown.length;
  const items = shown.map(
    (line) =>
      html`<li>${timeAt(line.at, timezone, moment)} <span>${about(line, of)}<bdi>${cut(sentenceOf(line), 300)}</bdi></span></li>
`,
  );
  const none = html`<p class="soft">Nothing was decided in this time.</p>`;
  const more =
    left === 0
      ? nothing
      : html`<p class="soft">${counted(left, "older line")}: <code>lenswatch why</code> tells them.</p>`;
  return html`<section aria-labelledby="story"><h2 id="story">${title}</h2>${items.length === 0 ? none : html`<ol class="story">${items}</ol>`}${more}</section>
`;
}

function about({ subject: { kind } }: LogLine, of: Subject["kind"]): Markup {
  return kind === of ? nothing : html`<small>${kind}</small> `;
}
