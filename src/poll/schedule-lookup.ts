/** Uploading schedules as sweeps ask for them, answered from memory. */
import type { EvaluationContext } from "../health/evaluation.ts";
import { scheduleBegan, scheduledMs, scheduleState } from "../health/schedule.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import type { Store } from "../store/store.ts";

/** Gives the look-ups of an EvaluationContext for an instant. */
export type ScheduleLookup = (
  now: Instant,
) => Pick<EvaluationContext, "scheduleOf" | "inSchedule" | "scheduleBegan" | "scheduledMs">;

export function createScheduleLookup(uptime: Pick<Store["uptime"], "schedule">, inventory: Inventory): ScheduleLookup {
  const localHours = createLocalHours();
  const hoursIn = (timezone: string) => (at: Instant) => localHours.at(at, timezone);
  return (now) => {
    function stateOf(id: string) {
      const known = uptime.schedule(id);
      return known && scheduleState(known, now, hoursIn(known.timezone));
    }
    return {
      scheduleOf: (id) => stateOf(id) ?? (inventory.recording(id)?.useUploadingSchedule ? "unknown" : undefined),
      inSchedule: (id) => stateOf(id) !== "outside",
      scheduleBegan(id) {
        const known = uptime.schedule(id);
        return known && scheduleBegan(known, now, hoursIn(known.timezone));
      },
      scheduledMs(id, span) {
        const known = uptime.schedule(id);
        return known ? scheduledMs(known, span, hoursIn(known.timezone)) : span.to - span.from;
      },
    };
  };
}
