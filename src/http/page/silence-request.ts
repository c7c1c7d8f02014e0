/** The fields of the form for a silence, and a preview of what it would suppress. */
import { z } from "zod";
import { namesFrom, subjectName } from "../../alerting/incident-words.ts";
import { type Matcher, matchesAll, parseMatchers } from "../../alerting/matcher.ts";
import { alertSortKey } from "../../alerting/overview.ts";
import { requestBudget } from "../../alerting/pattern.ts";
import { equalMatchers } from "../../alerting/prepared-silence.ts";
import { RECORDING_LABELS } from "../../alerting/silence.ts";
import { isMatched, lookBudget } from "../../alerting/silence-verdicts.ts";
import { type Alert, defaultAlertNames, groupLabels, type ProblemKind } from "../../health/alert.ts";
import type { Rule } from "../../health/model.ts";
import type { Recording } from "../../health/recording.ts";
import { recordingLabels } from "../../health/recording-evaluator.ts";
import { type FleetNames, recordingsWith } from "../../health/shard-overview.ts";
import type { Inventory } from "../../health/shard-state.ts";
import { totalOf } from "../../health/status-counts.ts";
import type { Instant } from "../../lib/clock.ts";
import { parseDuration } from "../../lib/duration.ts";
import { counted, nameOf } from "../../lib/format.ts";
import { MOMENT_EXAMPLES, parseMoment } from "../../lib/moment.ts";
import { own } from "../../lib/own.ts";
import { closestRows } from "../../lib/suggest.ts";
import { stripControls } from "../../lib/text.ts";
import { eachRow } from "../../lib/yield.ts";
import { type Listing, listingOf } from "../paging.ts";
import { parsedBy } from "../query.ts";
import type { FieldProblem } from "./field.ts";
import type { PageData } from "./page-data.ts";
import { knownZone } from "./when.ts";

const LONGEST_MATCHERS = 4_000;
const MOST_MATCHERS = 100;
const LONGEST_COMMENT = 1_000;
/** The longest that a silence lasts from now on. */
export const LONGEST_MS = 365 * 86_400_000;

const matchers = z
  .string({ error: "expected matchers" })
  .max(LONGEST_MATCHERS, `expected at most ${LONGEST_MATCHERS} characters`)
  .transform(parsedBy((text: string): readonly Matcher[] => parseMatchers(text, requestBudget())))
  .refine((parsed) => parsed.length <= MOST_MATCHERS, `expected at most ${MOST_MATCHERS} matchers`);

const EXPECTED_SPAN = "expected how long it lasts";
const lasting = z.union([z.literal(["1h", "4h", "custom", "dates"]), z.iso.datetime({ error: EXPECTED_SPAN })], {
  error: EXPECTED_SPAN,
});

const shown = z.string().max(8_000).catch("");
/** The fields as they were typed or chosen; no preview without matchers. Dates come before a duration. */
export const PreviewQuery = z
  .object({
    matchers: z.string({ error: "expected one text" }).default(""),
    comment: shown,
    custom: shown,
    starts: shown,
    ends: shown,
    lasting: lasting.optional().catch(undefined),
  })
  .transform((typed) => {
    const written = typed.ends.trim() !== "" ? "dates" : typed.custom.trim() !== "" ? "custom" : "1h";
    return { ...typed, lasting: typed.lasting ?? written };
  });

export const MatchersField = z.object({ matchers });

const MOMENT = `expected a time such as ${MOMENT_EXAMPLES}`;
const DURATION = "expected a duration such as 30m, 2h or 1d12h, of a year at most";

/** A silence as the form sends it: `dates` is until `ends`; without `starts` it begins now. */
export const SilenceFields = z.object({
  matchers,
  comment: z
    .string({ error: "expected the reason, or a ticket" })
    .max(LONGEST_COMMENT, `expected at most ${LONGEST_COMMENT} characters`)
    .transform((text) => stripControls(text).trim())
    .refine((text) => text !== "", "expected the reason, or a ticket"),
  lasting,
  custom: z.string().max(40, DURATION).default(""),
  starts: z.string().max(40, MOMENT).default(""),
  ends: z.string().max(40, MOMENT).default(""),
  /** Also where it matches nothing that is known. */
  anyway: z.literal("yes").optional().catch(undefined),
});
export type SilenceFields = z.infer<typeof SilenceFields>;

export interface SilenceSpan {
  /** Undefined: now. */
  readonly startsAt: Instant | undefined;
  readonly endsAt: Instant;
}

/** The beginning and the end of the silence; times are in the zone unless they name another. */
export function spanOf(
  { lasting, custom, starts, ends }: Pick<SilenceFields, "lasting" | "custom" | "starts" | "ends">,
  now: Instant,
  timezone: string,
): SilenceSpan | FieldProblem {
  const startsAt = starts.trim() === "" ? undefined : parseMoment(starts, now, timezone);
  if (starts.trim() !== "" && startsAt === undefined) return { field: "starts", message: MOMENT };
  const ms = parseDuration(lasting === "custom" ? custom.trim() : lasting);
  if (lasting === "custom" && (!ms || ms > LONGEST_MS)) return { field: "custom", message: DURATION };
  const until = lasting === "dates" ? parseMoment(ends, now, timezone) : Date.parse(lasting);
  const endsAt = ms === undefined ? until : (startsAt ?? now) + ms;
  if (endsAt === undefined) return { field: "ends", message: MOMENT };
  const field = lasting === "dates" ? "ends" : "lasting";
  if (endsAt <= now) return { field, message: "that time has passed, choose another" };
  return endsAt <= (startsAt ?? now) ? { field, message: "expected a time after its start" } : { startsAt, endsAt };
}

/** The zone of the recording or location that the matchers name, else UTC. */
export function zoneOf(all: readonly Matcher[], inventory: Inventory): string {
  const named = (label: string) => all.find(({ name, operator }) => name === label && operator === "=")?.value ?? "";
  const recording = inventory.recording(named("recording_id"));
  const location = inventory.location(named("location_id"));
  const around = recording && inventory.location(recording.locationId);
  return knownZone(recording?.timezone, location?.timezone, around?.timezone);
}

/** The names of locations and recordings that may be typed for their matchers; a name of several has none. */
export function* namesOf({ inventory, locations }: PageData["fleet"]): Generator<void, ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const add = (name: string, label: string, id: string) =>
    names.set(name, names.has(name) ? "" : equalMatchers([[label, id]]));
  for (const id of locations.keys()) add(inventory.location(id)?.name || id, "location_id", id);
  const known = namesFrom(inventory);
  const visit = ({ id }: Recording) => add(subjectName({ kind: "recording", id }, known), "recording_id", id);
  yield* eachRow(inventory.recordings(), visit, 1);
  return names;
}

/** The matchers that a typed text means: a name is looked up, or compared with those of locations. */
export function matchersTyped(text: string, names: ReadonlyMap<string, string>): string {
  const name = text.trim();
  return name === "" || /[=~]/.test(name) ? text : names.get(name) || equalMatchers([["location", name]]);
}

export interface Preview {
  /** The firing alerts it matches. */
  readonly alerts: Listing<Alert>;
  /** Recordings whose later alerts it could match. */
  readonly covered: number;
  readonly recordings: number;
  /** It matches no firing alert, and none that a rule could make of a recording that is known. */
  readonly isIdle: boolean;
  /** Sentences; empty for a usual silence. */
  readonly warnings: readonly string[];
}

/** Yields after each row. */
export function* previewOf(
  matchers: readonly Matcher[],
  { fleet, alerts: firing }: Pick<PageData, "fleet" | "alerts">,
  rules?: readonly Ruled[],
): Generator<void, Preview> {
  const budget = lookBudget();
  let unknown = 0;
  const matched: Alert[] = [];
  const match = (alert: Alert) => {
    const isMatch = isMatched(matchers, alert, budget);
    if (isMatch === undefined) unknown += 1;
    if (isMatch) matched.push(alert);
  };
  yield* eachRow(firing, match, 1);
  const alerts = listingOf(matched, { limit: 10 }, alertSortKey);
  const isCovered = coverage(matchers, fleet.inventory);
  const scope = scopeOf(matchers);
  const recordings = totalOf(fleet.counts);
  let covered = 0;
  const visit = (row: Recording) => {
    if (fleet.locations.has(row.locationId) && isCovered(row)) covered += 1;
  };
  if (scope !== "no recording") yield* eachRow(recordingsLike(matchers, fleet.inventory), visit, 1);
  const isOfRules = !rules || areOfRules(matchers, rules, fleet.inventory);
  const isIdle = alerts.total + unknown === 0 && (!isOfRules || (scope !== "no recording" && covered === 0));
  const warnings = [];
  if (isIdle)
    warnings.push(`It matches no alert and no recording that is known${misnamed(matchers, fleet, rules ?? [])}.`);
  if (unknown > 0) warnings.push(`It takes too long to compare with ${counted(unknown, "alert")}: more may match.`);
  if (matchesAll(matchers, {}))
    warnings.push("It would match every alert and cannot be set: add a matcher that does not match the empty string.");
  else {
    const isWhole = scope === "outages" && recordings > 1 && covered === recordings;
    if (isWhole) warnings.push("It covers every recording: no outage would be notified.");
    if (firing.length > 1 && alerts.total === firing.length) warnings.push("It suppresses every firing alert.");
  }
  return { alerts, covered, recordings, isIdle, warnings };
}

/** The recordings that the matchers may match: by a label that finds them, or all. */
function recordingsLike(matchers: readonly Matcher[], inventory: FleetNames): Iterable<Recording> {
  for (const { name, operator, value } of matchers) {
    const found = operator === "=" && value !== "" ? recordingsWith(name, value, inventory) : undefined;
    if (found) return found;
  }
  return inventory.recordings();
}

/** Names a value that nothing known has, with what is similar. */
function misnamed(
  matchers: readonly Matcher[],
  { inventory, locations }: PageData["fleet"],
  rules: readonly Ruled[],
): string {
  for (const { name, operator, value } of matchers) {
    const kind = /^(recording|location)(_id)?$/.exec(name)?.[1];
    if (operator !== "=") continue;
    const named = (id: string) => ({ id, name: inventory.location(id)?.name ?? "" });
    const valued = (one: string) => ({ id: one, name: one });
    const all =
      kind === "location"
        ? [...locations.keys()].map(named)
        : kind === "recording"
          ? [...inventory.recordings()]
          : [...valuesOf(name, inventory, rules)].map(valued);
    if (all.length === 0 || all.some((one) => one.id === value || one.name === value)) continue;
    const near = closestRows(value, all).map(({ id, name: of }) => `"${nameOf(of, id)}"${of === id ? "" : ` (${id})`}`);
    const hint = near.length === 0 ? "" : `; did you mean ${near.join(", ")}`;
    const what = kind === undefined ? `nothing has the ${name}` : `no ${kind} has the id or name`;
    return `: ${what} "${nameOf(value, "", 80)}"${hint}`;
  }
  return ": check its names";
}

/** The values that a label has in rules, or in recordings. */
function valuesOf(name: string, inventory: FleetNames, rules: readonly Ruled[]): Set<string> {
  const ofRules = rules.map((rule) => ruleValue(rule, name));
  const areOfRecordings = RECORDING_LABELS.has(name) || inventory.shopLabels?.().includes(name);
  const rows = areOfRecordings ? [...inventory.recordings()] : [];
  const ofRecordings = rows.map(({ id, locationId }) => own(recordingLabels(id, locationId, inventory), name));
  return new Set([...ofRules, ...ofRecordings].flatMap((value) => value || []));
}

type Ruled = Pick<Rule, "alert" | "labels">;

function ruleValue({ alert, labels }: Ruled, name: string): string | undefined {
  return name === "alertname" ? alert : own(labels, name);
}

/** True if a rule may make an alert with these labels: its own have such values, and no label is one that no alert has. */
function areOfRules(matchers: readonly Matcher[], rules: readonly Ruled[], { shopLabels }: Inventory): boolean {
  const ofOthers = new Set([...RECORDING_LABELS, ...(shopLabels?.() ?? []), "receiver", "integration"]);
  return rules.some((rule) =>
    matchers.every(({ name, matches }) => ofOthers.has(name) || matches(ruleValue(rule, name) ?? "")),
  );
}

/** Labels of one recording each; the others are shared by many, and compared once. */
const OWN_LABELS = ["recording_id", "recording"];

/** A test whether later alerts of a recording could match. */
function coverage(matchers: readonly Matcher[], inventory: Inventory): (row: Recording) => boolean {
  const ofShops = inventory.shopLabels?.() ?? [];
  const ofRecordings = matchers.filter(({ name }) => RECORDING_LABELS.has(name) || ofShops.includes(name));
  const byLabel = [...Map.groupBy(ofRecordings, ({ name }) => name)].map(([name, all]) => {
    const known = new Map<string, boolean>();
    const isMatch = (value: string) => all.every(({ matches }) => matches(value));
    if (OWN_LABELS.includes(name)) return [name, isMatch] as const;
    const isKnownMatch = (value: string) => {
      const found = known.get(value) ?? isMatch(value);
      known.set(value, found);
      return found;
    };
    return [name, isKnownMatch] as const;
  });
  return ({ id, locationId }) => {
    const labels = byLabel.length === 0 ? {} : recordingLabels(id, locationId, inventory);
    return byLabel.every(([name, isMatch]) => isMatch(own(labels, name) ?? ""));
  };
}

const groups = groupLabels.map((label) => `${label}_offline` as const);
const outages: readonly ProblemKind[] = [
  "offline",
  "missing",
  "flapping",
  "not_uploading",
  "location_offline",
  ...groups,
];
const noOutages: readonly ProblemKind[] = ["degraded", "low_quality", "low_uptime", "not_seen"];

/** The alerts that the matchers may suppress, by the names of the default rules; alerts of any other name may be outages. */
function scopeOf(matchers: readonly Matcher[]): "outages" | "recordings" | "no recording" {
  const named = matchers.filter(({ name }) => name === "alertname");
  const all = Object.keys(defaultAlertNames) as ProblemKind[];
  const matched = new Set(all.filter((kind) => named.every(({ matches }) => matches(defaultAlertNames[kind]))));
  if (matched.size === 0 || outages.some((kind) => matched.has(kind))) return "outages";
  return noOutages.some((kind) => matched.has(kind)) ? "recordings" : "no recording";
}
