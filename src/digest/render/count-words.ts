/** Words for visitor counts that are not to be trusted, the same in HTML and text. */

import { shortfall } from "../compute/untrusted.ts";
import type { Digest, UntrustedDay } from "../digest.ts";
import type { CountsView } from "./view.ts";
import { count, counted, percent, upShare } from "./words.ts";

export const TITLE = "Visitor counts not to be trusted";

export interface DayFigures {
  readonly up: string;
  /** Empty where there is no figure. */
  readonly entries: string;
  readonly usual: string;
  /** `−60 %`; empty where it is not short. */
  readonly short: string;
}

export function dayFigures(day: UntrustedDay): DayFigures {
  const { uptime, entries, usual } = day;
  const short = shortfall(day);
  return {
    up: uptime === undefined ? "uptime unknown" : upShare(uptime),
    entries: entries === undefined ? "" : count(entries),
    usual: usual === undefined ? "" : count(usual),
    short: short === undefined || !usual ? "" : `−${Math.round((short / usual) * 100)} %`,
  };
}

export function remainder({ moreDays, moreLocations }: CountsView): string[] {
  if (moreDays === 0) return [];
  const where = moreLocations > 0 ? `, ${counted(moreLocations, "more location")} among them` : "";
  return [`and ${counted(moreDays, "more day")}${where}`];
}

/** What the figures are, and what they are not. */
export function explanation({ untrustedBelow, counts }: Digest): string {
  const what = `Days with less than ${percent(untrustedBelow)} uptime within schedule, or none known.`;
  if (counts === "failed") return `${what} The service could not be asked for all of its counts.`;
  const usual = "Usual is the median of that weekday in the eight weeks before, without days like these.";
  return `${what} Counts are the service's own, nothing is corrected. ${usual}`;
}
