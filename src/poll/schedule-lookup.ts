/** What sweeps ask about uploading schedules, answered from memory. */
import { type ScheduleState, scheduleBegan, scheduleState } from "../health/schedule.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import type { Store } from "../store/store.ts";

export type ScheduleLookup = ReturnType<typeof createScheduleLookup>;

/** The look-ups of an EvaluationContext, by recording id and time. */
export function createScheduleLookup(uptime: Pick<Store["uptime"], "schedule">, inventory: Inventory) {
  const localHours = createLocalHours();
  const hoursIn = (timezone: string) => (at: Instant) => localHours.at(at, timezone);
  return {
    scheduleOf(id: string, now: Instant): ScheduleState | undefined {
      const known = uptime.schedule(id);
      if (known) return scheduleState(known, now, hoursIn(known.timezone));
      return inventory.recording(id)?.useUploadingSchedule ? "unknown" : undefined;
    },

    inSchedule(id: string, now: Instant): boolean {
      const known = uptime.schedule(id);
      return known === undefined || scheduleState(known, now, hoursIn(known.timezone)) !== "outside";
    },

    scheduleBegan(id: string, now: Instant): Instant | undefined {
      const known = uptime.schedule(id);
      return known && scheduleBegan(known, now, hoursIn(known.timezone));
    },
  };
}
