/** From when to when a silence is asked for, in the zone of the location it is about, else of the terminal. */
import { z } from "zod";
import type { Matcher } from "../../alerting/matcher.ts";
import type { Instant } from "../../lib/clock.ts";
import { humanDuration } from "../../lib/duration.ts";
import { MOMENT_EXAMPLES, parseMoment } from "../../lib/moment.ts";
import { timesSeenAt } from "../../lib/when.ts";
import { type Daemon, DaemonError } from "./daemon.ts";

interface Asked {
  readonly start?: string;
  readonly until?: string;
  /** From its start, in ms. */
  readonly duration: number;
}

type Named = Pick<Matcher, "name" | "operator" | "value">;

/** `words`: `for 2 h`, `from Sun 1 Feb 22:00 GMT until 23:00 GMT`. Throws DaemonError `bad_option`. */
export async function silenceSpan(
  daemon: Daemon,
  matchers: readonly Named[],
  { start, until, duration }: Asked,
  { now, localZone }: { readonly now: Instant; readonly localZone: string },
): Promise<{ readonly startsAt: Instant; readonly endsAt: Instant; readonly words: string }> {
  if (start === undefined && until === undefined)
    return { startsAt: now, endsAt: now + duration, words: `for ${humanDuration(duration)}` };
  const zone = (await zoneIn(daemon, matchers)) ?? localZone;
  const read = (option: string, text: string) => {
    const at = parseMoment(text, now, zone);
    if (at === undefined) throw wrong(`--${option} must be a time such as ${MOMENT_EXAMPLES}`);
    if (at < now) throw wrong(`--${option} ${text} has passed in ${zone}: give a later time`);
    return at;
  };
  const startsAt = start === undefined ? now : read("start", start);
  const endsAt = until === undefined ? startsAt + duration : read("until", until);
  if (endsAt <= startsAt) throw wrong("--until must be after --start");
  const times = timesSeenAt(now);
  const from = start === undefined ? "" : `from ${times.at(startsAt, zone)} `;
  return { startsAt, endsAt, words: `${from}until ${times.at(endsAt, zone)} (${zone})` };
}

function wrong(message: string): DaemonError {
  return new DaemonError("bad_option", message);
}

const Recordings = z.object({ items: z.array(z.object({ locationId: z.string() })) });
const Locations = z.object({ items: z.array(z.object({ timezone: z.string().nullable() })) });

/** Undefined where the matchers name no place, or it cannot be read. */
async function zoneIn(daemon: Daemon, matchers: readonly Named[]): Promise<string | undefined> {
  const named = (kind: string) =>
    matchers.find(({ name, operator }) => operator === "=" && (name === kind || name === `${kind}_id`))?.value;
  try {
    const recording = named("recording");
    const path = "/api/v1/recordings";
    const [found] = recording ? (await daemon.get(path, { recording, limit: "1" }, Recordings)).items : [];
    const location = named("location") ?? found?.locationId;
    const { items } = location
      ? await daemon.get("/api/v1/locations", { location, limit: "1" }, Locations)
      : { items: [] };
    return items[0]?.timezone ?? undefined;
  } catch (thrown) {
    if (thrown instanceof DaemonError) return undefined;
    throw thrown;
  }
}
