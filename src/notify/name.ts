/** Names of recordings, locations and receivers, safe to show in one line whatever the service calls them. */
import { alertSubjectName } from "../alerting/incident-words.ts";
import type { Alert, Labels } from "../health/alert.ts";
import { nameWithin } from "../lib/format.ts";
import { cut, stripControls } from "../lib/text.ts";

/** The longest name shown in a line of its own, in code points. */
const NAME_LENGTH = 80;

/** The longest in a title, in code points: a lock screen shows about a hundred of them. */
export const NAME_IN_TITLE = 40;

/** Longer text is cut before it is cleaned. */
const LONGEST_READ = 4_000;

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * One line of visible text of at most `max` code points. Right-to-left text is isolated (U+2068 … U+2069), so that the
 * figures beside it keep their order.
 */
export function clean(text: string | undefined, max: number = NAME_LENGTH): string {
  const visible = stripControls((text ?? "").slice(0, LONGEST_READ));
  const line = cut(visible.replace(/ {2,}/g, " ").trim(), max);
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}

type NamedAlert = Pick<Alert, "labels" | "subject">;

/** The alert's subject: `Till 3`, `Leeds Briggate`, `Camera server edge-7`, `Analytics service`, `Slack (ops)`. */
export function plainName(alert: NamedAlert, max: number = NAME_LENGTH): string {
  const { labels, subject } = alert;
  switch (subject.kind) {
    case "recording":
      return named("recording", labels.recording, subject.id, max);
    case "location":
      return locationName(alert, max);
    case "group":
    case "service":
    case "directory":
    case "integration":
      return clean(alertSubjectName(alert), max);
    case "external":
      return externalName(alert, max);
  }
}

/** The subject beside the name of its location: `Entrance` of `Leeds Briggate Entrance`. */
export function shortName(alert: NamedAlert, max: number = NAME_LENGTH): string {
  const { labels, subject } = alert;
  return (subject.kind === "recording" && withoutLocation(labels.recording, labels, max)) || plainName(alert, max);
}

/** The name of a recording without that of its location at its front; empty where nothing else is in it. */
export function withoutLocation(name = "", { location = "" }: Labels, max: number): string {
  const rest = nameWithin(name, location);
  return rest === name ? "" : clean(rest, max);
}

/** `DiskFull: nas-1`: its alertname, and the recording, location or instance it names. */
function externalName({ labels }: NamedAlert, max: number): string {
  const { recording, location, instance, alertname } = labels;
  const name = [recording, location, instance].map((text) => clean(text, max)).find((text) => text);
  return [clean(alertname, max), name].filter((part) => part).join(": ") || "alert";
}

/** The key that alerts of one location share; empty for an alert without a location. */
export function locationKey(alert: NamedAlert): string {
  return alert.labels.location_id ?? locationName(alert);
}

/** The alert's location; empty where it has none. */
export function locationName({ labels, subject }: NamedAlert, max: number = NAME_LENGTH): string {
  const id = labels.location_id ?? (subject.kind === "location" ? subject.id : "");
  return named("location", labels.location, id, max);
}

/** A name; `recording 5f…` where only the id is known. */
function named(noun: string, name: string | undefined, id: string, max: number): string {
  const known = name === id ? "" : clean(name, max);
  return known || (id === "" ? "" : `${noun} ${clean(id, max)}`);
}
