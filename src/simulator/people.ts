/**
 * The people a recording counts, one by one: each has an age band, gender, role and dwell time drawn from who
 * they are (recording, hour, number), so that any filter and any split of them adds up.
 */
import { fraction, keyOf, mix, type SimRecording } from "./fleet.ts";
import type { CalendarHour } from "./local-time.ts";

export const ageBands = ["0_15", "16_24", "25_34", "35_44", "45_54", "55_64", "65_100"] as const;
export const genderValues = ["female", "male"] as const;
export const roleValues = ["customer", "staff"] as const;

export interface Person {
  readonly age: string;
  readonly gender: string;
  readonly role: string;
  /** Whole seconds. */
  readonly dwellSeconds: number;
}

/** Share of a busy hour's visitors by local hour of the day. */
const HOUR_CURVE = [
  0, 0, 0, 0, 0, 0, 0, 0.05, 0.15, 0.4, 0.6, 0.8, 1, 0.95, 0.85, 0.8, 0.8, 0.75, 0.55, 0.3, 0.1, 0, 0, 0,
];
const WEEKDAY_FACTOR = [0.7, 0.75, 0.8, 0.9, 1.1, 1.4, 0.9];
const AGE_SHARES = [0.06, 0.22, 0.5, 0.68, 0.81, 0.92, 1];
const STAFF_SHARE = 0.08;

/** How many people pass the recording in a whole hour, seen or not. */
export function passersIn(recording: SimRecording, hour: CalendarHour): number {
  const key = keyOf(recording.id);
  const busiest = 10 + (key % 41);
  const usual = busiest * (HOUR_CURVE[hour.hour] ?? 0) * (WEEKDAY_FACTOR[hour.weekday - 1] ?? 1);
  return Math.floor(usual * (0.75 + 0.5 * fraction(key, minuteOf(hour), 5)));
}

/** One of the people of that hour, by number from 0. */
export function personOf(recording: SimRecording, hour: CalendarHour, nth: number): Person {
  const bits = mix(keyOf(recording.id), minuteOf(hour), nth + 16);
  const ageShare = (bits & 0xff) / 256;
  return {
    age: ageBands[AGE_SHARES.findIndex((upTo) => ageShare < upTo)] ?? "65_100",
    gender: ((bits >>> 8) & 0xff) / 256 < 0.56 ? "female" : "male",
    role: ((bits >>> 16) & 0xff) / 256 < STAFF_SHARE ? "staff" : "customer",
    dwellSeconds: 20 + ((bits >>> 20) % 600),
  };
}

/** Purchases among so many counted people of an hour; never more than they are. */
export function purchasesOf(recording: SimRecording, hour: CalendarHour, counted: number): number {
  const rate = 0.12 + 0.2 * fraction(keyOf(recording.location.id), minuteOf(hour), 6);
  return Math.min(counted, Math.round(counted * rate));
}

function minuteOf(hour: CalendarHour): number {
  return hour.startAt / 60_000;
}
