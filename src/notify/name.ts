/** Names of recordings, places and receivers, made safe to show in one line whatever the service calls them. */

import type { Alert } from "../health/alert.ts";
import { cut, stripControls } from "../lib/text.ts";

/** The longest name shown in a line of its own, in code points. */
export const NAME_LENGTH = 80;

/** Of a longer text nobody looks at the rest. */
const LONGEST_READ = 4_000;

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * One line of visible text of at most `max` code points. Text that runs from right to left is kept from pulling the
 * figures beside it along (first strong isolate … pop directional isolate).
 */
export function clean(text: string | undefined, max: number = NAME_LENGTH): string {
  const line = cut(
    stripControls((text ?? "").slice(0, LONGEST_READ))
      .replace(/ {2,}/g, " ")
      .trim(),
    max,
  );
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}

/** What the alert speaks of: `Till 3`, `Leeds Briggate`, `the service`, `ops / slack`. */
export function plainName(alert: Alert, max: number = NAME_LENGTH): string {
  const { labels, subject } = alert;
  switch (subject.kind) {
    case "recording":
      return named("recording", labels.recording, subject.id, max);
    case "location":
      return locationName(alert, max);
    case "service":
      return "The service";
    case "integration":
      return integrationName(alert, max);
    case "external":
      return externalName(alert, max);
  }
}

/** What tells it from its like: the recording or the place it names, else its instance, else its name. */
function externalName({ labels }: Alert, max: number): string {
  const { recording, location, instance, alertname } = labels;
  const [name = "alert"] = [recording, location, instance, alertname]
    .map((text) => clean(text, max))
    .filter((text) => text !== "");
  return name;
}

/** Where it is; empty for what is nowhere. */
export function locationName({ labels, subject }: Alert, max: number = NAME_LENGTH): string {
  const id = labels.location_id ?? (subject.kind === "location" ? subject.id : "");
  return named("location", labels.location, id, max);
}

/** A name; `recording 5f…` where there is only its id. */
function named(noun: string, name: string | undefined, id: string, max: number): string {
  const known = name === id ? "" : clean(name, max);
  return known || (id === "" ? "" : `${noun} ${clean(id, max)}`);
}

/** Receiver, kind and position or recipient of an integration: `ops / slack / 0`. */
function integrationName({ labels, subject }: Alert, max: number): string {
  const id = subject.id.split("/");
  const receiver = labels.receiver ?? id[0];
  const integration = labels.integration ?? id.slice(1).join(" / ");
  return clean([receiver, integration].filter((part) => part).join(" / "), max);
}
