/** Why blind cameras were found late or never: what the evaluations said until then, and what could be known at all. */
import type { SiteAssessment } from "../../src/counts/evaluate.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Fault } from "./faults.ts";
import { explains, tradingDayAfter } from "./report.ts";
import type { Played } from "./run.ts";

const DAY_MS = 86_400_000;

/** Give `observe` to the run, then ask for the lines. */
export function createMissed() {
  const said = new Map<string, { readonly at: Instant; readonly reason: string }[]>();
  return {
    observe({ verdicts }: SiteAssessment, sensitivity: number, at: Instant): void {
      for (const { subject, verdict } of verdicts) {
        const key = `${sensitivity} ${subject.recordingId}`;
        const own = said.get(key) ?? [];
        own.push({ at, reason: verdict.is === "implausible" ? "implausible" : verdict.reason });
        said.set(key, own);
      }
    },
    /** A line for each blind camera that was not found within a trading day. */
    linesOf({ world, faults, episodes }: Played, sensitivity: number): string[] {
      const lineOf = (fault: Fault) => {
        const until = tradingDayAfter(world, fault);
        const first = episodes.find((one) => one.sensitivity === sensitivity && explains(fault, one));
        if (first && first.at <= until) return [];
        const { recordingId, from, to } = fault;
        const reasons = new Map<string, number>();
        for (const { at, reason } of said.get(`${sensitivity} ${recordingId}`) ?? [])
          if (at > from && at <= until) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        const visits = world.missedBetween({ recordingId, from, to: until }).missed;
        const nats = world.idealSurprise({ recordingId, from, to: until }).toFixed(1);
        const when = first ? `found after ${((first.at - from) / DAY_MS).toFixed(1)} d` : "not found";
        const text = [...reasons].sort((a, b) => b[1] - a[1]).map(([reason, times]) => `${reason} ${times}`);
        return [
          `${recordingId}, ${new Date(from).toISOString()} – ${new Date(to).toISOString()}: ${when}; ` +
            `in a trading day ${visits} visits, ${nats} nats; ${text.join(", ")}`,
        ];
      };
      return faults.filter(({ kind, isShared }) => kind === "blind" && !isShared).flatMap(lineOf);
    },
  };
}
