/** On the front page: what is left of the error budgets, a line per objective, the worst first. */
import type { BudgetLeft } from "../../health/slo-evaluator.ts";
import { humanDuration } from "../../lib/duration.ts";
import { count, exactPercent } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { type ListingColumn, tableOf } from "./listing.ts";
import { budgetText } from "./report-page.ts";

const SHOWN = 5;
const COLUMNS: readonly ListingColumn[] = [
  ["Objective"],
  ["Target", "target", "n"],
  ["Error budget left", "error budget left", "n"],
];

/** Of an objective with a budget for each group, that with the least left. */
export function budgetSection(budgets: readonly BudgetLeft[]): Markup {
  if (budgets.length === 0) return nothing;
  const leftOf = ({ remaining }: BudgetLeft) => remaining ?? Number.POSITIVE_INFINITY;
  const sorted = budgets.toSorted((a, b) => leftOf(a) - leftOf(b) || 0);
  const slos = [...Map.groupBy(sorted, ({ slo }) => slo).values()];
  const rows = slos.slice(0, SHOWN).flatMap(([worst, ...others]) => (worst ? [cellsOf(worst, others.length)] : []));
  const more = slos.length > SHOWN ? `${count(slos.length - SHOWN)} more, lost time by cause` : "Lost time by cause";
  return html`<section aria-labelledby="budgets"><h2 id="budgets">Error budgets</h2>${tableOf("Objectives, the worst first", COLUMNS, rows)}
<p class="pager"><a href="./report">${more}</a></p></section>`;
}

function cellsOf({ title, objective, periodMs, remaining }: BudgetLeft, others: number): Markup[] {
  const rank = others > 0 ? `, the least of ${count(others + 1)}` : "";
  const left = remaining === undefined ? "unknown" : budgetText(remaining);
  return [
    html`<bdi>${title}</bdi> <span class="soft">${humanDuration(periodMs)}${rank}</span>`,
    html`${exactPercent(objective)}`,
    (remaining ?? 0) < 0 ? html`<span class="s offline">${left}</span>` : html`${left}`,
  ];
}
