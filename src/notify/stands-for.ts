/** Whom an alert speaks for: `Stands for 4 recordings: Entrance, Tills, Yard, Door`. */
import type { NotifiedAlert, StandsFor } from "../alerting/notification.ts";
import { counted } from "../lib/format.ts";
import { clean } from "./name.ts";

const NAME_LENGTH = 40;
const NAMES_LENGTH = 300;

/**
 * One line, cleaned but not escaped; undefined for an alert that stands for itself alone. A location whose recordings'
 * own alerts are not there yet names those that are dark. That a recording's alert stands for what else is wrong with
 * that recording is no news.
 */
export function standsForNote({ subject, facts, standsFor }: NotifiedAlert): string | undefined {
  if (!standsFor) {
    const { offline = 0, offlineNames: names = [] } = facts;
    const dark = namesOf({ recordings: offline, locations: 0, names });
    return dark === "" ? undefined : `Offline: ${dark}`;
  }
  if (subject.kind === "recording") return undefined;
  const of = subjectsOf(standsFor);
  if (subject.kind === "service")
    return `Until this is over, alerts ${of === "" ? "that depend on it" : `of ${of}`} are held back.`;
  if (of === "") return undefined;
  const names = namesOf(standsFor);
  return `Stands for ${of}${names === "" ? "" : `: ${names}`}`;
}

function subjectsOf({ recordings, locations }: StandsFor): string {
  return [
    ...(recordings > 0 ? [counted(recordings, "recording")] : []),
    ...(locations > 0 ? [counted(locations, "location")] : []),
  ].join(" and ");
}

/** The names there is room for, and how many more there are. */
function namesOf({ recordings, locations, names }: StandsFor): string {
  const shown: string[] = [];
  let left = NAMES_LENGTH;
  for (const name of names.map((text) => clean(text, NAME_LENGTH)).filter((text) => text !== "")) {
    left -= name.length + 2;
    if (left < 0) break;
    shown.push(name);
  }
  const more = (recordings || locations) - shown.length;
  if (shown.length === 0) return "";
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
