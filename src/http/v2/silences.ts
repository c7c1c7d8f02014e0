/** The silences of Alertmanager's API v2 (its api/v2/openapi.yaml: `postableSilence`, `gettableSilence`). */
import { z } from "zod";
import { createMatcher, formatMatcher, parseMatcher } from "../../alerting/matcher.ts";
import type { Matcher, MatchOperator } from "../../alerting/route.ts";
import { type Silence, silenceState, silenceStates, type WantedSilence } from "../../alerting/silence.ts";
import type { Instant } from "../../lib/clock.ts";
import { flag, repeated } from "../query.ts";

const text = (max: number) =>
  z.string({ error: "expected a text" }).max(max, `expected at most ${max} characters`);

/** Go writes a time that is not set as year 1. */
export const time = z.iso
  .datetime({ offset: true, error: "expected a time such as 2026-01-31T08:00:00Z" })
  .transform((written) => (written.startsWith("0001-") ? undefined : Date.parse(written)));

const matcher = z
  .object({
    name: text(200).min(1, "expected a label name"),
    value: text(4_096),
    isRegex: z.boolean({ error: "expected true or false" }),
    isEqual: z.boolean({ error: "expected true or false" }).nullish(),
  })
  .transform(({ name, value, isRegex, isEqual }, context): Matcher => {
    const operator: MatchOperator = (isEqual ?? true) ? (isRegex ? "=~" : "=") : isRegex ? "!~" : "!=";
    try {
      return createMatcher(name, operator, value);
    } catch (thrown) {
      context.addIssue({ code: "custom", message: (thrown as Error).message });
      return z.NEVER;
    }
  });

const annotations = z.record(text(200), text(4_000)).nullish();

/** Unknown fields are passed over. An end that is not set is missed. */
export const PostableSilence: z.ZodType<WantedSilence> = z
  .object({
    id: text(200).nullish(),
    matchers: z
      .array(matcher, { error: "expected a list of matchers" })
      .max(100, "expected at most 100 matchers"),
    startsAt: time.nullish(),
    endsAt: time,
    createdBy: text(200),
    comment: text(4_000),
    annotations,
  })
  .transform(({ id, startsAt, endsAt, annotations: notes, ...rest }, context): WantedSilence => {
    if (endsAt === undefined) {
      context.addIssue({ code: "custom", path: ["endsAt"], message: "expected the time it ends" });
      return z.NEVER;
    }
    return {
      ...rest,
      id: id || undefined,
      startsAt: startsAt ?? undefined,
      endsAt,
      annotations: notes ?? {},
    };
  });

const filter = z.string().transform((written, context) => {
  try {
    return formatMatcher(parseMatcher(written));
  } catch (thrown) {
    context.addIssue({ code: "custom", message: (thrown as Error).message });
    return z.NEVER;
  }
});

/** `filter` compares matchers as they are written: each has to be one of the silence's own. */
export const SilencesQuery = z.object({
  filter: repeated(filter),
  active: flag.default(true),
  pending: flag.default(true),
  expired: flag.default(true),
});
export type SilencesQuery = z.infer<typeof SilencesQuery>;

/** Those asked for: active by their end, pending by their start, then expired, the latest first. */
export function gettableSilences(silences: readonly Silence[], query: SilencesQuery, now: Instant) {
  const rank = (silence: Silence) => silenceStates.indexOf(silenceState(silence, now));
  const within = (silence: Silence) => {
    const state = silenceState(silence, now);
    return state === "active" ? silence.endsAt : state === "pending" ? silence.startsAt : -silence.endsAt;
  };
  return silences
    .filter((silence) => query[silenceState(silence, now)] && hasAll(silence, query.filter))
    .sort((a, b) => rank(a) - rank(b) || within(a) - within(b) || (a.id < b.id ? -1 : 1))
    .map((silence) => gettableSilence(silence, now));
}

function hasAll({ matchers }: Silence, asked: readonly string[]): boolean {
  const own = matchers.map(formatMatcher);
  return asked.every((one) => own.includes(one));
}

export function gettableSilence(silence: Silence, now: Instant) {
  const iso = (at: Instant) => new Date(at).toISOString();
  return {
    id: silence.id,
    status: { state: silenceState(silence, now) },
    updatedAt: iso(silence.updatedAt),
    matchers: silence.matchers.map(({ name, operator, value }) => ({
      name,
      value,
      isRegex: operator.endsWith("~"),
      isEqual: !operator.startsWith("!"),
    })),
    startsAt: iso(silence.startsAt),
    endsAt: iso(silence.endsAt),
    createdBy: silence.createdBy,
    comment: silence.comment,
    annotations: silence.annotations,
  };
}
