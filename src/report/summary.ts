/** A report in one sentence and three figures, for a reader who sees nothing else of it. */
import { humanDuration } from "../lib/duration.ts";
import { count, nameOf, percent } from "../lib/format.ts";
import { capital } from "../lib/text.ts";
import { causeWords, type LossCause, lossCauses } from "./attribute.ts";
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
    ? compared(recorded, before)
    : `, as far as is known (${percent(total.knownMs / total.expectedMs)} of it)`;
  const planned = total.maintenance > 0 ? " outside planned work" : "";
  const most = worst && lost > 0 ? `; most was lost at ${nameOf(worst.name, worst.id)} (${length(worst.loss)})` : "";
  return `Cameras recorded ${share} of the time they should${planned}${known}${most}`;
}

/** `, down from 99.1 %`; empty where there is nothing to compare with. */
function compared(recorded: number, before: Report["before"]): string {
  if (!wasWatched(before)) return "";
  const was = unplannedAvailability(before.total) ?? 0;
  if (percent(was) === percent(recorded)) return ", as before";
  return `, ${recorded < was ? "down" : "up"} from ${percent(was)}`;
}

function isComparable({ knownMs, expectedMs }: LossTally): boolean {
  return knownMs > 0 && knownMs >= COMPARABLE_SHARE * expectedMs;
}

/** The figures of the service go back to when nobody watched for outages: they are not compared with what is seen now. */
function wasWatched({ total, incidents }: Report["before"]): boolean {
  return incidents !== undefined && isComparable(total);
}

const length = (loss: LossTally) => (unplannedMs(loss) === 0 ? "none" : humanDuration(unplannedMs(loss)));

export interface ReportFigure {
  readonly name: string;
  readonly value: string;
  /** The value of the period before; empty where too little of it is known. */
  readonly was: string;
}

export function reportFigures({
  total,
  before,
  incidents,
}: Pick<Report, "total" | "before" | "incidents">): ReportFigure[] {
  const figuresOf = (loss: LossTally, own: number) =>
    [
      ["Recorded", percent(unplannedAvailability(loss))],
      ["Lost", length(loss)],
      ["Incidents", own === 0 ? "none" : count(own)],
    ] as const;
  const isCompared = isComparable(total) && wasWatched(before);
  const was = figuresOf(before.total, before.incidents ?? 0);
  return figuresOf(total, incidents.length).map(([name, value], i) => ({
    name,
    value: total.knownMs > 0 ? value : "",
    was: isCompared ? (was[i]?.[1] ?? "") : "",
  }));
}

const CAUSE_NOTES: Readonly<Partial<Record<LossCause, string>>> = {
  not_watched: "lost while lenswatch did not run, or was not installed yet; whose fault it was is not known",
  unknown: "missing in the service's own figures, though no outage was seen",
};

/** A sentence for each cause that occurs and whose name does not explain it. */
export function causeNotes(total: LossTally): string[] {
  return lossCauses.flatMap((cause) => {
    const note = total[cause] > 0 ? CAUSE_NOTES[cause] : undefined;
    return note === undefined ? [] : [`${capital(causeWords[cause])}: ${note}.`];
  });
}
