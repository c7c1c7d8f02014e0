/** Evaluates rules on burn rates for one error budget: of an SLO, or of one group of its recordings. */
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { count, exactPercent } from "../lib/format.ts";
import type { Labels } from "./alert.ts";
import type { Evaluator } from "./apply-rules.ts";
import { budgetRemaining, burnRate, burnWindows, type ErrorBudget, isBurning } from "./error-budget.ts";
import { alertAnnotations, alertLabels, type Rule } from "./rule.ts";

export interface SloEvidence {
  /** `recording`, or `recording/acme` for one of several groups. */
  readonly id: string;
  /** With the groups's name: `recording, acme`. */
  readonly title: string;
  readonly objective: number;
  readonly periodMs: number;
  /** `slo`, and those of the group. */
  readonly labels: Labels;
  readonly budget: ErrorBudget;
  /** Recordings of it that did not record at the last sample; a few names. */
  readonly offline?: { readonly total: number; readonly names: readonly string[] };
}

/** What is left of one error budget. */
export interface BudgetLeft extends Pick<SloEvidence, "title" | "objective" | "periodMs"> {
  readonly slo: string;
  /** Empty where all recordings of the SLO share one. */
  readonly group: string;
  /** A ratio, negative where it is overspent; undefined before anything is known. */
  readonly remaining: number | undefined;
}

export function budgetsLeft(slos: readonly SloEvidence[], now: Instant): BudgetLeft[] {
  return slos.map((one) => {
    const { id, title, objective, periodMs, budget } = one;
    const slo = one.labels.slo ?? id;
    return {
      slo,
      group: id.slice(slo.length + 1),
      title,
      objective,
      periodMs,
      remaining: budgetRemaining(budget, one, now),
    };
  });
}

/** The subject of its alerts is a group: `slo/recording`. */
export function sloEvaluator(slo: SloEvidence, now: Instant): Evaluator {
  const { title, objective, budget, labels } = slo;
  const speedOf = ({ when }: Rule) => (when.kind === "slo_burn" ? when.speed : "fast");
  return {
    subject: { kind: "group", id: `slo/${slo.id}` },
    evidence: (rule) => isBurning(budget, objective, speedOf(rule), now),
    startsAt: () => now,
    facts: () => ({ timezone: "UTC" }),
    describe(rule) {
      const speed = speedOf(rule);
      const summary = `The error budget of ${title} burns ${speed === "fast" ? "fast" : "faster than it lasts"}`;
      const rates = burnWindows[speed].map(({ overMs }) => rateText(burnRate(budget, objective, overMs, now), overMs));
      const left = budgetRemaining(budget, slo, now);
      const rest = left === undefined ? "" : ` ${budgetWords(left, slo.periodMs)}.`;
      const description = `The objective is ${exactPercent(objective)}. Errors against what it allows: ${rates.join(", ")}.${rest}${offlineWords(slo)}`;
      return { labels: alertLabels(rule, labels), annotations: alertAnnotations(rule, [summary, description]) };
    },
  };
}

/** ` Offline now: Leeds, Till 3; York, Entrance; 4 more.` */
function offlineWords({ offline: { total, names } = { total: 0, names: [] } }: SloEvidence): string {
  const more = total > names.length ? [`${count(total - names.length)} more`] : [];
  return total === 0 ? "" : ` Offline now: ${[...names, ...more].join("; ")}.`;
}

function rateText(rate: number | undefined, overMs: number): string {
  return `${rate === undefined ? "unknown" : `${rate.toFixed(1)} times`} in ${humanDuration(overMs)}`;
}

/** `95 % of the error budget of 30 d is left`; a negative ratio is overspent. */
export function budgetWords(left: number, periodMs: number): string {
  const budget = `error budget of ${humanDuration(periodMs)}`;
  if (left < 0) return `The ${budget} is overspent by ${Math.ceil(-left * 100)} %`;
  return `${Math.floor(left * 100)} % of the ${budget} is left`;
}
