/** The sentences of the overview: what needs somebody; an unknown status never counts as good. Pure. */
import type { Alert } from "../health/alert.ts";
import type { Evidence } from "../health/evidence.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { FleetOverview, Tally } from "../health/shard-overview.ts";
import { type StatusCounts, totalOf } from "../health/status-counts.ts";
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { count, counted } from "../lib/format.ts";
import { capital } from "../lib/text.ts";
import type { Times } from "../lib/when.ts";
import { handledPhrase, neededPhrase } from "./attention.ts";
import { namedOnce } from "./extent.ts";
import { type Overview, occurring } from "./overview.ts";
import { countsTone, type Tone, worstTone } from "./tone.ts";
import { phraseOf } from "./words.ts";

export interface FleetHeadline {
  readonly tone: Tone;
  /** Without a full stop. */
  readonly sentence: string;
  /** Further sentences that qualify the first. */
  readonly asides: readonly string[];
}

type Shown = Pick<FleetOverview, "counts" | "evidence">;

/** The headline of a fleet at a moment, whose times are in the zones of its alerts. */
export function headlineOf(board: Overview, fleet: FleetOverview, times: Times): FleetHeadline {
  const { counts, evidence, statusIntervalMs } = fleet;
  const sentence = [unknownPhrase(counts), neededSentence(board, times)].filter((phrase) => phrase !== "").join("; ");
  const handled = capital(handledOf(board));
  const period = humanDuration(GAP_INTERVALS * statusIntervalMs);
  const unknown = `Unknown: no good reading for ${period} or longer. They may be offline.`;
  return {
    tone: fleetTone(board, fleet),
    sentence: sentence || calmSentence(counts, totalOf(counts), evidence),
    asides: [
      ...(handled === "" ? [] : [`${handled}.`]),
      ...(counts.unknown > 0 ? [unknown] : []),
      ...unreadAsides(evidence),
    ],
  };
}

/** `The status of all 24 recordings is unknown`; empty where the status of any is known. */
function unknownPhrase(counts: StatusCounts): string {
  const total = totalOf(counts);
  if (total === 0) return "No recording is known yet";
  return counts.unknown === total ? `The status of ${all(total)} is unknown` : "";
}

/** `26 need attention: 20 locations offline since 06:06 GMT, 6 older`; empty where nothing does. */
function neededSentence(board: Overview, times: Times): string {
  const { needed, lead } = board;
  const [only] = needed;
  if (!only) return "";
  const subject = subjectOf(board);
  if (!lead && needed.length > 1) return `${subject}: ${phraseOf(needed)}`;
  const { alerts, since } = lead ?? { alerts: needed, since: only.startsAt };
  const at = times.at(since, alerts[0]?.facts.timezone ?? "UTC");
  const others = othersThan(alerts, needed);
  if (others.length === 0) return `${subject}: ${phraseOf(alerts)} since ${at}`;
  const isEach = (is: (startsAt: Instant) => boolean) => others.every(({ startsAt }) => is(startsAt));
  const more = isEach((startsAt) => startsAt > since) ? "newer" : others.length === 1 ? "other" : "others";
  const age = isEach((startsAt) => startsAt < since) ? "older" : more;
  return `${subject}: ${phraseOf(alerts)} since ${at}, ${count(others.length)} ${age}`;
}

/** `2 need attention: 1 location offline, 1 recording degraded; 1 silenced`, for the command line. */
export function overviewPhrase(overview: Overview, { counts, were, evidence }: Shown & Tally): string {
  const { needed } = overview;
  const unknown = unknownPhrase(counts);
  const last = unknown === "" ? "" : statusPhrase({ ...were, unknown: 0 });
  const none = unknown === "" ? neededPhrase(0) : "";
  const first = needed.length === 0 ? none : `${subjectOf(overview)}: ${phraseOf(needed)}`;
  const unread = isWhole(evidence) || unknown !== "" ? "" : "not everything was read in time";
  return [unknown && last ? `${unknown}, last known ${last}` : unknown, first, handledOf(overview), unread]
    .filter((phrase) => phrase !== "")
    .join("; ");
}

/** `3 acknowledged, 12 suppressed by another alert`; empty where nothing is. */
export function handledOf({ handled }: Pick<Overview, "handled">): string {
  return handledPhrase(new Map([...handled].map(([attention, alerts]) => [attention, alerts.length])));
}

/** Each outage is counted once, by its locations or by its camera servers. */
function subjectOf({ needed, lead }: Pick<Overview, "needed" | "lead">): string {
  const alerts = lead?.alerts ?? needed;
  return neededPhrase(namedOnce(alerts).length + othersThan(alerts, needed).length);
}

function othersThan(alerts: readonly Alert[], needed: readonly Alert[]): readonly Alert[] {
  const members = new Set(alerts);
  return namedOnce(needed.filter((alert) => !members.has(alert)));
}

/** Nothing needs somebody; what is not online is known, or has not lasted long enough. */
function calmSentence(counts: StatusCounts, total: number, evidence: Evidence | undefined): string {
  const [first, ...others] = occurring(counts).filter((status) => status !== "online");
  if (first !== undefined) {
    const verb = counts[first] === 1 ? "is" : "are";
    const more = others.map((status) => `, ${count(counts[status])} ${status}`).join("");
    return `Nothing needs attention; ${count(counts[first])} of ${counted(total, "recording")} ${verb} ${first}${more}`;
  }
  if (!isWhole(evidence)) return `${capital(all(total))} ${total === 1 ? "was" : "were"} online when last read`;
  return `${capital(all(total))} ${total === 1 ? "is" : "are"} online, nothing needs attention`;
}

function statusPhrase(counts: StatusCounts): string {
  const statuses = occurring(counts).filter((status) => status !== "online");
  return statuses.map((status) => `${count(counts[status])} ${status}`).join(", ");
}

/** The tone of a fleet: of its worst alert and its worst status; of what was not read, nothing is known. */
export function fleetTone({ tone }: Pick<Overview, "tone">, { counts, evidence }: Shown): Tone {
  if (counts.unknown > 0 && counts.unknown === totalOf(counts)) return "critical";
  return worstTone([tone, countsTone(counts), ...(isWhole(evidence) ? [] : ["unknown" as const])]);
}

/** True where everything was read in time: only then is all well. */
function isWhole(evidence: Evidence | undefined): boolean {
  return evidence === undefined || evidence.state === "in_time";
}

/** Recordings that are in none of the counts. */
function unreadAsides(evidence: Evidence | undefined): string[] {
  if (!evidence || isWhole(evidence)) return [];
  const { unstored, neverRead } = evidence;
  const others =
    unstored > 0 ? `${counted(unstored, "other recording")} are listed and` : "Recordings of some locations";
  return neverRead > 0 ? [`${others} were never read: they may be offline.`] : [];
}

function all(total: number): string {
  return total === 1 ? "the one recording" : `all ${counted(total, "recording")}`;
}
