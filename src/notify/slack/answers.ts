/** What a person who pressed a button or typed a command is answered; nobody else sees it. Pure. */
import { neededOf, phraseOf, type Suppressors } from "../../alerting/attention.ts";
import { causePhrase, type SharedCause } from "../../alerting/clusters.ts";
import type { LogLine } from "../../alerting/decision-log.ts";
import { foldDecisions } from "../../alerting/fold-decisions.ts";
import type { Alert } from "../../health/alert.ts";
import { type RecordingStatus, worstFirst } from "../../health/recording.ts";
import type { Instant } from "../../lib/clock.ts";
import { counted } from "../../lib/format.ts";
import { capital } from "../../lib/text.ts";
import { span, timesSeenAt } from "../../lib/when.ts";
import { clean, locationName, plainName } from "../name.ts";
import type { Place } from "./command.ts";
import { bold, mrkdwn } from "./mrkdwn.ts";

const MOST_LINES = 20;
const MOST_CHARACTERS = 3_500;
const LINE = 300;

/** Newest last. `names` by subject, `kind/id`; shown where there are several. */
export function whyText(
  { name, names, timezone }: { name: string; names: ReadonlyMap<string, string>; timezone: string },
  lines: readonly LogLine[],
  now: Instant,
): string {
  const times = timesSeenAt(now);
  const rows = foldDecisions(lines).map(({ subject, steps, ruleId }) => {
    const text = steps
      .map(({ at, words }) => `${times.at(at, timezone)} ${words.replace(`${ruleId}: `, "")}`)
      .join(" → ");
    const head = [names.size > 1 ? names.get(`${subject.kind}/${subject.id}`) : "", ruleId].filter(Boolean).join(" · ");
    return mrkdwn(clean(head === "" ? text : `${head}: ${text}`, LINE));
  });
  if (rows.length === 0) return `No decisions about ${bold(clean(name))} in the last week.`;
  return bounded([bold(clean(name)), ...rows.slice(-MOST_LINES)]);
}

type Active = { readonly alert: Alert } & Suppressors;

/** The alerts that need somebody, by location, the oldest first, below what explains them; the others only counted. */
export function statusText(active: readonly Active[], causes: readonly SharedCause[], now: Instant): string {
  const needed = neededOf(active);
  const others = active.length - needed.length;
  const noun = needed.length > 0 ? "more alert" : "alert";
  const handled = others > 0 ? `${counted(others, noun)} acknowledged, silenced or explained by another.` : "";
  if (needed.length === 0) return ["Nothing needs anybody.", handled].filter(Boolean).join(" ");
  const groups = [...Map.groupBy(needed, (alert) => locationName(alert) || plainName(alert))];
  const rows = groups.map(([name, alerts]) => {
    const first = alerts.reduce((a, b) => (b.startsAt < a.startsAt ? b : a));
    const since = sinceText(first.startsAt, first.facts.timezone, now);
    return { at: first.startsAt, text: `${bold(name)}: ${mrkdwn(phraseOf(alerts))} ${since}` };
  });
  const lines = rows.sort((a, b) => a.at - b.at).map(({ text }) => text);
  const needing = bold(`${counted(needed.length, "alert needs", "alerts need")} somebody`);
  const shared = causes.map((cause) => `${mrkdwn(capital(clean(causePhrase(cause), LINE)))}.`);
  return bounded([`${needing}: ${mrkdwn(phraseOf(needed))}`, ...shared, ...lines], handled);
}

export interface PlaceRow {
  readonly name: string;
  readonly status: RecordingStatus;
  readonly since: Instant;
}

/** A recording, or those of a location, the worst first; and who handles its alerts. */
export function placeText(place: Place, rows: readonly PlaceRow[], firing: readonly Active[], now: Instant): string {
  const sorted = rows.toSorted(
    (a, b) => worstFirst.indexOf(a.status) - worstFirst.indexOf(b.status) || a.since - b.since,
  );
  const lines = sorted.map(({ name, status, since }) => {
    const when = status === "unknown" ? "" : ` ${sinceText(since, place.timezone, now)}`;
    return `${mrkdwn(clean(name))}: ${status}${when}`;
  });
  const authors = new Set(
    firing.flatMap(({ acknowledgement }) => (acknowledgement as { author?: string })?.author ?? []),
  );
  const by = authors.size > 0 ? `, acknowledged by ${mrkdwn([...authors].slice(0, 5).join(", "))}` : "";
  return bounded([bold(clean(place.name)), ...lines], `${counted(firing.length, "alert")} firing${by}.`);
}

function sinceText(at: Instant, timezone: string, now: Instant): string {
  return `since ${timesSeenAt(now).at(at, timezone)} (${span(at, now)})`;
}

/** As many lines as a message of Slack's has room for, and how many more there are. */
export function bounded(lines: readonly string[], last = ""): string {
  const kept: string[] = [];
  let left = MOST_CHARACTERS;
  for (const line of lines.slice(0, MOST_LINES + 1)) {
    left -= line.length + 1;
    if (left > 0) kept.push(line);
  }
  const more = lines.length - kept.length;
  return [...kept, ...(more > 0 ? [`… and ${more} more`] : []), ...(last ? [last] : [])].join("\n");
}
