import { DateTime } from "luxon";
import type { Instant } from "./clock.ts";

/** The day of an instant in an IANA zone. */
export function dayOf(at: Instant, zone: string): string {
  return DateTime.fromMillis(at, { zone }).toFormat("yyyy-MM-dd");
}
