/** What sweeps ask about uploading schedules, answered from memory. */
import { type ScheduleState, scheduleBegan, scheduleState } from "../health/schedule.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import type { Store } from "../store/store.ts";

export interface ScheduleLookup {
  /** Undefined of a recording without a schedule. */
  scheduleOf(recordingId: string, now: Instant): ScheduleState | undefined;
  /** False only outside a schedule that is known. */
  inSchedule(recordingId: string, now: Instant): boolean;
  /** When the current hours within the schedule began, as far as that is known. */
  scheduleBegan(recordingId: string, now: Instant): Instant | undefined;
}

export function createScheduleLookup(uptime: Pick<Store["uptime"], "schedule">, inventory: Inventory): ScheduleLookup {
  const localHours = createLocalHours();
  const hoursIn = (timezone: string) => (at: Instant) => localHours.at(at, timezone);
  return {
    scheduleOf(id, now) {
      const known = uptime.schedule(id);
      if (known) return scheduleState(known, now, hoursIn(known.timezone));
      return inventory.recording(id)?.useUploadingSchedule ? "unknown" : undefined;
    },

    inSchedule(id, now) {
      const known = uptime.schedule(id);
      return known === undefined || scheduleState(known, now, hoursIn(known.timezone)) !== "outside";
    },

    scheduleBegan(id, now) {
      const known = uptime.schedule(id);
      return known && scheduleBegan(known, now, hoursIn(known.timezone));
    },
  };
}
