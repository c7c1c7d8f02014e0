/** Lines of the decision log that no write makes: acknowledgements that ran out or are late, silences that began and ended. Pure. */
import type { Subject } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { cut } from "../lib/text.ts";
import type { LogLine } from "./decision-log.ts";
import { formatMatcher, matchesAll } from "./matcher.ts";
import { RECORDING_LABELS, type Silence } from "./silence.ts";

const DETAIL_CHARACTERS = 600;

type NamingLabels = Readonly<Record<string, string | undefined>>;

interface LogContext {
  readonly since: Instant;
  readonly now: Instant;
  readonly silences: readonly Silence[];
  /** Each with the labels that identify it. */
  readonly subjects: readonly (readonly [subject: Subject, labels: NamingLabels])[];
}

/** Stored lines with those of the clock, oldest first. A silence is of the first subject that it matches. */
export function withSuppressionLines(
  lines: readonly LogLine[],
  { silences, subjects, since, now }: LogContext,
): LogLine[] {
  const ofSilences = silences.flatMap((silence) => {
    const [found] = subjects.filter(([, labels]) => isAbout(silence, labels));
    return found ? silenceLines(silence, now, ...found) : [];
  });
  const ofClock = [...expiries(lines), ...ofSilences].filter(({ at }) => at >= since && at <= now);
  return ofClock.length === 0 ? [...lines] : [...lines, ...ofClock].sort((a, b) => a.at - b.at);
}

/** True where a silence names the recording or location; its other matchers decide which of the alerts it silences. */
function isAbout({ matchers }: Silence, labels: NamingLabels): boolean {
  const naming = matchers.filter(({ name }) => isNaming(name, labels));
  return naming.length > 0 && matchesAll(naming, labels);
}

function isNaming(name: string, labels: NamingLabels): boolean {
  return RECORDING_LABELS.has(name) || Object.hasOwn(labels, name);
}

/** Its beginning names the end that it was to have, also where somebody ended it before. */
function silenceLines(silence: Silence, now: Instant, subject: Subject, labels: NamingLabels): LogLine[] {
  const { matchers, startsAt, endsAt, createdBy, comment, last } = silence;
  const others = matchers.filter(({ name }) => !isNaming(name, labels)).map(formatMatcher);
  const of = others.length === 0 ? "" : ` (${others.join(", ")})`;
  const detail = cut(`${createdBy}${of}: ${comment}`, DETAIL_CHARACTERS);
  const until = endsAt > now ? endsAt : Math.max(endsAt, last?.before?.endsAt ?? endsAt);
  const line = { subject, ruleId: undefined, detail };
  return [
    { ...line, at: startsAt, reason: "silence_began", until },
    { ...line, at: endsAt, reason: "silence_ended" },
  ];
}

/** Reasons of lines that leave nothing of an alert's earlier acknowledgement. */
const ENDS_ACK: ReadonlySet<string> = new Set(
  "ack_set ack_withdrawn ack_undone resolved expired rule_removed rule_changed dropped_together no_longer_watched".split(
    " ",
  ),
);

function expiries(lines: readonly LogLine[]): LogLine[] {
  return lines.flatMap((line, i) => {
    const { until, eta, subject, ruleId } = line;
    if (line.reason !== "ack_set" && line.reason !== "ack_undone") return [];
    const isSame = (other: LogLine) =>
      other.ruleId === ruleId && other.subject.kind === subject.kind && other.subject.id === subject.id;
    const end = lines
      .slice(i + 1)
      .find((later) => later.integration === undefined && ENDS_ACK.has(later.reason) && isSame(later));
    const ofClock = (at: Instant | undefined, reason: string) =>
      at === undefined || (end && end.at < at) ? [] : [{ ...line, at, reason, until: undefined, eta: undefined }];
    return [...ofClock(until, "ack_ran_out"), ...(eta === until ? [] : ofClock(eta, "ack_eta_over"))];
  });
}
