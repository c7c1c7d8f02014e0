/** From when to when a silence is asked for, in the zone of the reader. */
import type { Instant } from "../../lib/clock.ts";
import { humanDuration } from "../../lib/duration.ts";
import { MOMENT_EXAMPLES, parseMoment } from "../../lib/moment.ts";
import type { Times } from "../../lib/when.ts";
import { DaemonError } from "./daemon.ts";

interface Asked {
  readonly start?: string;
  readonly until?: string;
  /** From its start, in ms. */
  readonly duration: number;
}

/** `words`: `for 2 h`, `from Sun 1 Feb 22:00 GMT until 23:00 GMT`. Throws DaemonError `bad_option`. */
export function silenceSpan(
  { start, until, duration }: Asked,
  { now, times, shop }: { readonly now: Instant; readonly times: Times; readonly shop: string },
): { readonly startsAt: Instant; readonly endsAt: Instant; readonly words: string } {
  if (start === undefined && until === undefined)
    return { startsAt: now, endsAt: now + duration, words: `for ${humanDuration(duration)}` };
  const zone = times.zoneFor(shop);
  const read = (option: string, text: string) => {
    const at = parseMoment(text, now, zone);
    if (at === undefined) throw wrong(`--${option} must be a time such as ${MOMENT_EXAMPLES}`);
    if (at < now) throw wrong(`--${option} ${text} has passed in ${zone}: give a later time`);
    return at;
  };
  const startsAt = start === undefined ? now : read("start", start);
  const endsAt = until === undefined ? startsAt + duration : read("until", until);
  if (endsAt <= startsAt) throw wrong("--until must be after --start");
  const from = start === undefined ? "" : `from ${times.at(startsAt, shop)} `;
  return { startsAt, endsAt, words: `${from}until ${times.at(endsAt, shop)}` };
}

function wrong(message: string): DaemonError {
  return new DaemonError("bad_option", message);
}
