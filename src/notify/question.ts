/** Questions to a person whose ETA is over or whose silence ends soon, about what still fires. Pure. */
import type { Notification, NotifiedAlert } from "../alerting/model.ts";
import type { Instant } from "../lib/clock.ts";
import { timesSeenAt } from "../lib/when.ts";
import { clean } from "./name.ts";

const NAME_LENGTH = 40;

/** `amy, ETA 09:00 GMT is over: …`, `The silence of amy ends at 08:00 GMT: …`; of several, the first one's. */
export function questionTitle(
  { firing: [first], now, timezone }: Pick<Notification, "firing" | "now" | "timezone">,
  about: string,
): string {
  const { reason, author = "", until, eta } = first?.suppressedBy ?? {};
  const at = (instant: Instant = now) => timesSeenAt(now, timezone).at(instant, first?.facts.timezone ?? "UTC");
  const who = clean(author, NAME_LENGTH) || "somebody";
  if (reason === "silenced") return `The silence of ${who} ends at ${at(until)}: ${about}`;
  return `${who}, ETA ${at(eta)} is over: ${about}`;
}

/** What can be done about each, with the command. */
export function questionLead({ firing }: Pick<Notification, "firing">): string[] {
  return [...new Map(firing.map((alert) => [silenceOf(alert) ?? "", alert]))].map(([silence, { fingerprint }]) =>
    silence === ""
      ? `Give another ETA: lenswatch ack ${fingerprint} --eta 2h; or withdraw: --withdraw.`
      : `Extend it: lenswatch silence extend ${silence.slice(0, 8)} --for 1h; or let it end, and what fires is notified again.`,
  );
}

/** The silence that a question is about. */
export function silenceOf({ suppressedBy }: NotifiedAlert): string | undefined {
  return suppressedBy?.reason === "silenced" ? suppressedBy.by : undefined;
}
