/** A report in one sentence and three figures, for a reader who sees nothing else of it. */
import { humanDuration } from "../lib/duration.ts";
import { nameOf, percent } from "../lib/format.ts";
import type { Report } from "./report.ts";
import { type LossTally, unplannedAvailability, unplannedMs } from "./tally.ts";

/** With less of its time known a period is not compared with another. */
const COMPARABLE_SHARE = 0.9;

/** `Cameras recorded 98.2 % of the time they should, down from 99.1 %; most was lost at Leeds Briggate (9 h)`. */
export function reportSummary({ total, before, rows: [worst] }: Report): string {
  const recorded = unplannedAvailability(total);
  if (recorded === undefined && total.knownMs > 0) return "There was nothing but planned work, as far as is known";
  if (recorded === undefined)
    return total.expectedMs === 0 ? "No camera should have recorded" : "It is not known whether cameras recorded";
  const lost = unplannedMs(total);
  const share = lost === 0 ? "all" : percent(recorded);
  const known = isComparable(total)
    ? compared(recorded, before.total)
    : `, as far as is known (${percent(total.knownMs / total.expectedMs)} of it)`;
  const planned = total.maintenance > 0 ? " outside planned work" : "";
  const most = worst && lost > 0 ? `; most was lost at ${nameOf(worst.name, worst.id)} (${length(worst.loss)})` : "";
  return `Cameras recorded ${share} of the time they should${planned}${known}${most}`;
}

/** `, down from 99.1 %`; empty where there is nothing to compare with. */
function compared(recorded: number, before: LossTally): string {
  if (!isComparable(before)) return "";
  const was = unplannedAvailability(before) ?? 0;
  if (percent(was) === percent(recorded)) return ", as before";
  return `, ${recorded < was ? "down" : "up"} from ${percent(was)}`;
}

function isComparable({ knownMs, expectedMs }: LossTally): boolean {
  return knownMs > 0 && knownMs >= COMPARABLE_SHARE * expectedMs;
}

const length = (loss: LossTally) => (unplannedMs(loss) === 0 ? "none" : humanDuration(unplannedMs(loss)));

export interface ReportFigure {
  readonly name: string;
  readonly value: string;
  /** The value of the period before; empty where too little of it is known. */
  readonly was: string;
}

export function reportFigures({ total, before }: Pick<Report, "total" | "before">): ReportFigure[] {
  const figures: readonly (readonly [string, (loss: LossTally) => string])[] = [
    ["Recorded", (loss) => percent(unplannedAvailability(loss))],
    ["Lost", length],
    ["Planned work", ({ maintenance }) => (maintenance === 0 ? "none" : humanDuration(maintenance))],
  ];
  const isCompared = isComparable(total) && isComparable(before.total);
  return figures.map(([name, of]) => ({
    name,
    value: total.knownMs > 0 ? of(total) : "",
    was: isCompared ? of(before.total) : "",
  }));
}
