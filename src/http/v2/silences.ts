/** The silences of Alertmanager's API v2 (its api/v2/openapi.yaml: `postableSilence`, `gettableSilence`). */
import { z } from "zod";
import { type IncidentNames, matchersInWords } from "../../alerting/incident-words.ts";
import {
  createMatcher,
  formatMatcher,
  type Matcher,
  operatorOf,
  parseMatcher,
  toApiMatcher,
} from "../../alerting/matcher.ts";
import { requestBudget } from "../../alerting/pattern.ts";
import { type Silence, silenceState, silenceStates, type WantedSilence } from "../../alerting/silence.ts";
import type { Instant } from "../../lib/clock.ts";
import { booleanFlag, boundedText, isoTime, parsedBy, repeated } from "../query.ts";

const bool = z.boolean({ error: "expected true or false" });

/** Go writes a time that is not set as year 1. */
export const goTime = z.iso
  .datetime({ offset: true, error: "expected a time such as 2026-01-31T08:00:00Z" })
  .transform((written) => (written.startsWith("0001-") ? undefined : Date.parse(written)));

const PostableMatcher = z.object({
  name: boundedText(200).min(1, "expected a label name"),
  value: boundedText(4_096),
  isRegex: bool,
  isEqual: bool.nullish().transform((given) => given ?? true),
});

/** Compiled within one budget. */
function compileAll(given: readonly z.infer<typeof PostableMatcher>[]): Matcher[] {
  const budget = requestBudget();
  return given.map((one) => createMatcher(one.name, operatorOf(one), one.value, budget));
}

/** Unknown fields are ignored. An end that is not set is an error. */
export const PostableSilence: z.ZodType<WantedSilence> = z.object({
  id: boundedText(200)
    .nullish()
    .transform((id) => id || undefined),
  matchers: z
    .array(PostableMatcher, { error: "expected a list of matchers" })
    .max(100, "expected at most 100 matchers")
    .transform(parsedBy(compileAll)),
  startsAt: goTime.nullish().transform((at) => at ?? undefined),
  endsAt: goTime.transform((at, context) => {
    if (at !== undefined) return at;
    context.addIssue({ code: "custom", message: "expected the time it ends" });
    return z.NEVER;
  }),
  createdBy: boundedText(200),
  comment: boundedText(4_000),
  annotations: z
    .record(boundedText(200), boundedText(4_000))
    .nullish()
    .transform((given) => given ?? {}),
});

function formatAll(texts: readonly string[]): string[] {
  const budget = requestBudget();
  return texts.map((text) => formatMatcher(parseMatcher(text, budget)));
}

/** `filter` compares matchers as text: each has to be one of the silence's own. */
export const SilencesQuery = z.object({
  filter: repeated(z.string()).transform(parsedBy(formatAll)),
  active: booleanFlag.default(true),
  pending: booleanFlag.default(true),
  expired: booleanFlag.default(true),
});

/** Active silences by their end, pending ones by their start, then expired ones, the latest first. */
export function gettableSilences(
  silences: readonly Silence[],
  query: z.infer<typeof SilencesQuery>,
  now: Instant,
  names: IncidentNames,
) {
  const rank = (silence: Silence) => silenceStates.indexOf(silenceState(silence, now));
  const within = (silence: Silence) => {
    const state = silenceState(silence, now);
    return state === "active" ? silence.endsAt : state === "pending" ? silence.startsAt : -silence.endsAt;
  };
  return silences
    .filter((silence) => query[silenceState(silence, now)] && hasAll(silence, query.filter))
    .sort((a, b) => rank(a) - rank(b) || within(a) - within(b) || (a.id < b.id ? -1 : 1))
    .map((silence) => gettableSilence(silence, now, names));
}

function hasAll({ matchers }: Silence, wanted: readonly string[]): boolean {
  const own = matchers.map(formatMatcher);
  return wanted.every((one) => own.includes(one));
}

/** The silence as Alertmanager answers it, with words for what it is about. */
export function gettableSilence(silence: Silence, now: Instant, names: IncidentNames) {
  const { id, matchers, createdBy, comment, annotations } = silence;
  return {
    id,
    status: { state: silenceState(silence, now) },
    updatedAt: isoTime(silence.updatedAt),
    matchers: matchers.map(toApiMatcher),
    startsAt: isoTime(silence.startsAt),
    endsAt: isoTime(silence.endsAt),
    createdBy,
    comment,
    annotations,
    about: matchersInWords(matchers, names),
  };
}
