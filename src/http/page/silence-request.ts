/** The fields of the form for a silence: matchers, duration, comment. */
import { z } from "zod";
import { matchesAll, parseMatchers } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import type { Inventory } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { parseDuration } from "../../lib/duration.ts";
import { inZone } from "../../lib/when.ts";
import { parsedBy } from "../query.ts";
import { knownZone } from "./when.ts";

const LONGEST_MATCHERS = 4_000;
const MOST_MATCHERS = 100;
const LONGEST_COMMENT = 1_000;
const LONGEST_MS = 365 * 86_400_000;

const MORNING_HOUR = 8;
/** A nearer morning is skipped. */
const SOON_MS = 3_600_000;

const matchers = z
  .string({ error: "expected matchers" })
  .max(LONGEST_MATCHERS, `expected at most ${LONGEST_MATCHERS} characters`)
  .transform(parsedBy((text: string): readonly Matcher[] => parseMatchers(text)))
  .refine((parsed) => parsed.length <= MOST_MATCHERS, `expected at most ${MOST_MATCHERS} matchers`);

/** The previewed fields; no preview without matchers. */
export const PreviewQuery = z.object({
  matchers: z.string({ error: "expected one text" }).default(""),
  comment: z.string().max(LONGEST_COMMENT).catch("").default(""),
  custom: z.string().max(40).catch("").default(""),
});

export const MatchersField = z.object({ matchers });

const PRESS = "expected how long: press one of the buttons";

/** A silence as the form sends it. `lasting` is the button that was pressed; `preview` sets none. */
export const SilenceFields = z
  .object({
    matchers,
    comment: z.string().max(LONGEST_COMMENT, `expected at most ${LONGEST_COMMENT} characters`).default(""),
    lasting: z.union([z.literal(["1h", "4h", "custom", "preview"]), z.iso.datetime({ error: PRESS })], {
      error: PRESS,
    }),
    custom: z.string().max(40, "expected a duration such as 30m, 2h or 1d12h").default(""),
  })
  .superRefine(({ lasting, custom }, context) => {
    if (lasting !== "custom") return;
    const ms = parseDuration(custom.trim());
    if (ms !== undefined && ms > 0 && ms <= LONGEST_MS) return;
    const message = "expected a duration such as 30m, 2h or 1d12h, of a year at most";
    context.addIssue({ code: "custom", path: ["custom"], message });
  });
export type SilenceFields = z.infer<typeof SilenceFields>;

/** When a silence ends that is set now. */
export function endOf({ lasting, custom }: SilenceFields, now: Instant): Instant {
  const text = lasting === "custom" ? custom.trim() : lasting;
  const ms = parseDuration(text);
  return ms === undefined ? Date.parse(lasting) : now + ms;
}

/** The next 08:00 in the zone that is at least an hour away. */
export function nextMorning(now: Instant, timezone: string): Instant {
  const here = inZone(now + SOON_MS, timezone);
  const today = here.set({ hour: MORNING_HOUR, minute: 0, second: 0, millisecond: 0 });
  return (today >= here ? today : today.plus({ days: 1 })).toMillis();
}

/** The zone of the recording or location that the matchers name, else UTC. */
export function zoneOf(all: readonly Matcher[], inventory: Inventory): string {
  const named = (label: string) => all.find(({ name, operator }) => name === label && operator === "=")?.value;
  const recording = named("recording_id");
  const location = named("location_id");
  return knownZone(
    recording === undefined ? undefined : inventory.recording(recording)?.timezone,
    location === undefined ? undefined : inventory.location(location)?.timezone,
    recording === undefined ? undefined : zoneOfLocation(recording, inventory),
  );
}

function zoneOfLocation(recordingId: string, inventory: Inventory): string | undefined {
  const known = inventory.recording(recordingId);
  return known && inventory.location(known.locationId)?.timezone;
}

/** Whether the matchers match every alert, whatever its labels. */
export function matchesAnything(all: readonly Matcher[]): boolean {
  return matchesAll(all, {});
}
