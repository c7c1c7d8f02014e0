/** The words for what suppresses an alert: pages, messages, the decision log and the command line say the same. Pure. */
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { nameOf } from "../lib/format.ts";
import { own } from "../lib/own.ts";
import type { Times } from "../lib/when.ts";
import type { StoredAcknowledgement } from "./acknowledgement.ts";
import { attentionsOf, HANDLED_WORDS, type Suppressors } from "./attention.ts";
import { alertSubjectName } from "./incident-words.ts";
import type { Suppression } from "./model.ts";

/** Words of ours, external text with the alert that it names, or an instant: each surface writes the last two its own way. */
type Part =
  | string
  | { readonly text: string; readonly most: number; readonly source?: Suppression["source"] }
  | { readonly at: Instant };

type Sayable = Omit<Suppression, "reason"> & { readonly reason: string };
type Written = (instant: Instant) => string;

/** The words before the name of what suppresses. */
const BEFORE_NAME: Readonly<Record<string, string>> = {
  muted: "muted by the time interval",
  inhibited: "inhibited by",
  silenced: "silenced by",
  maintenance: "in the maintenance",
  acknowledged: "acknowledged by",
};

const WITHOUT_NAME: Readonly<Record<string, string>> = {
  paused: "paused outside the recording's uploading schedule",
  clearing: "its condition is not met any more, keep_firing_for runs",
  stale: "not read in time",
};

/** `LocationOffline (Leeds Briggate)`, a person, a time interval; undefined where the reason says all. */
export function suppressorName({ reason, by, author = by, source }: Sayable): string | undefined {
  if (source) return `${source.labels.alertname ?? "an alert"} (${alertSubjectName(source)})`;
  return own(BEFORE_NAME, reason) && (author || "somebody");
}

/** `silenced by amy`. */
export function suppressedPhrase(reason: string, name = "somebody"): string {
  const before = own(BEFORE_NAME, reason);
  return before === undefined ? (own(WITHOUT_NAME, reason) ?? reason) : `${before} ${name}`;
}

/** `silenced by amy until 15:00 GMT: rewiring`, in its parts. */
export function suppressionParts(suppression: Sayable): Part[] {
  const { reason, until, eta, comment, source } = suppression;
  const text = suppressorName(suppression);
  return [
    ...(text === undefined ? [suppressedPhrase(reason)] : [suppressedPhrase(reason, ""), { text, most: 120, source }]),
    ...(until === undefined ? [] : [" until ", { at: until }]),
    ...(eta === undefined ? [] : [", ETA ", { at: eta }]),
    ...(comment ? [": ", { text: comment, most: 300 }] : []),
  ];
}

/** The same as text; `clean` makes one line of external text. */
export function suppressionText(
  suppression: Sayable,
  at: Written,
  clean = (text: string, most: number) => nameOf(text, "", most),
): string {
  const written = (part: Part) =>
    typeof part === "string" ? part : "at" in part ? at(part.at) : clean(part.text, part.most);
  return suppressionParts(suppression).map(written).join("");
}

type Acknowledged = Pick<StoredAcknowledgement, "author"> & Pick<Suppression, "until" | "eta">;

/** `acknowledged by Ana until 15:00 GMT, ETA 09:00 GMT`. */
export function acknowledgedText({ author: by, until, eta }: Acknowledged, at: Written): string {
  return suppressionText({ reason: "acknowledged", by, until, eta }, at);
}

type Active = Omit<Suppressors, "isPaused"> & {
  readonly alert: Pick<Alert, "facts">;
  readonly acknowledgement?: Acknowledged | undefined;
};

/** `silenced, acknowledged by Ana until 15:00 GMT`: all that suppresses an active alert, in brief; empty where nothing does. */
export function handledText(active: Active, times: Times): string {
  const { timezone, paused: isPaused } = active.alert.facts;
  const { acknowledgement: ack } = active;
  const words = attentionsOf({ ...active, isPaused }).map((one) =>
    one === "acknowledged" && ack ? acknowledgedText(ack, (at) => times.at(at, timezone)) : HANDLED_WORDS[one],
  );
  return words.join(", ");
}
