/**
 * Evaluates one good answer of a shard against its previous state: the next state, what its alerts did, and why. Pure,
 * and quick where nothing is wrong: a healthy recording costs two numbers. A failed sweep is not evaluated; the caller
 * keeps the previous state.
 */
import type { Instant } from "../lib/clock.ts";
import { areChangesBelieved, isAbsenceBelieved } from "./absence.ts";
import type { SubjectKind } from "./alert.ts";
import { applyRules, EVIDENCE_WAIT_MS, type EvaluationMoment, endAlerts } from "./apply-rules.ts";
import { withCounts } from "./counts-evaluator.ts";
import type { DecisionReason, Evaluation, EvaluationContext, Outcomes } from "./evaluation.ts";
import { recordStatus } from "./flapping.ts";
import { countAmong, countGroups, type Notable } from "./group-counts.ts";
import { locationEvaluator } from "./location-evaluator.ts";
import { areGrouped, type Members, membersOf } from "./members.ts";
import type { Reading, StatusSnapshot } from "./recording.ts";
import type { Sample } from "./recording-conditions.ts";
import { recordingEvaluator } from "./recording-evaluator.ts";
import { allowedGapMs, GAP_INTERVALS, gapsAfter } from "./rhythm.ts";
import { NextRows, Rows } from "./rows.ts";
import { compileRules } from "./rule.ts";
import {
  afterPresence,
  afterReading,
  type GoodReading,
  isGood,
  type LocationState,
  type RecordingState,
  type ReportedOutage,
  type ShardState,
  type StateHistory,
} from "./shard-state.ts";

/** A row that names another location than the one its recording is known at. */
interface Strayed {
  readonly place: number;
  readonly previous: RecordingState;
  readonly reading: Reading;
  readonly locationId: string;
}

/** Evaluates one snapshot. `previous` is never changed; of two rows of one recording the first counts. */
export function judgeShard(previous: ShardState, snapshot: StatusSnapshot, context: EvaluationContext): Evaluation {
  return new ShardEvaluation(previous, context).of(snapshot);
}

const NONE: ReadonlySet<string> = new Set();

class ShardEvaluation {
  readonly #previous: ShardState;
  readonly #context: EvaluationContext;
  readonly #moment: EvaluationMoment;
  readonly #gaps: readonly number[];
  readonly #rules: ReturnType<typeof compileRules>;
  readonly #watched: ReadonlySet<string>;
  /** Recordings with a low uptime, a set for each rule about it; undefined where each has to be asked for. */
  readonly #low: readonly ReadonlySet<string>[] | undefined;
  /** Whether there is a rule about locations or groups. */
  readonly #isCounted: boolean;
  readonly #notable: Notable[] = [];
  /** Whether the shard has other recordings than before, or the same at other locations. */
  #hasChanged = false;
  /** Locations whose request failed. */
  #unread = NONE;
  readonly #before: Rows;
  readonly #next: NextRows;
  /** The place of a recording before, −1 where it is new. */
  readonly #placeOf: (id: string) => number;
  /** Rows at another location than the known one: they wait for a row at that. */
  readonly #strayed: Strayed[] = [];
  /** Recordings that do not belong to the shard, or not any more. */
  readonly #left = new Set<string>();
  readonly #out: Outcomes = { transitions: [], decisions: [] };
  #lastWatchedId: string | undefined;
  /** How many recordings of the previous state are dealt with. */
  #dealtWith = 0;
  #absent = 0;
  #stale = 0;

  constructor(previous: ShardState, context: EvaluationContext) {
    const { now, intervalMs, forgetAfterMs, rules, locationIds, excluded, lowUptimes } = context;
    this.#previous = previous;
    this.#context = context;
    this.#gaps = gapsAfter(previous, now, context.unbroken);
    const maxGapMs = allowedGapMs(this.#gaps, intervalMs);
    const patienceMs = Math.max(EVIDENCE_WAIT_MS, forgetAfterMs);
    const sinceLastMs = Math.max(0, now - previous.sweptAt);
    this.#moment = { now, maxGapMs, sinceLastMs: sinceLastMs > maxGapMs ? 0 : sinceLastMs, patienceMs };
    this.#rules = compileRules(rules);
    this.#watched = new Set(locationIds.filter((id) => !excluded.has(id)));
    this.#low = lowUptimes && this.#rules.figures.map(({ figure, below }) => lowUptimes(figure, below) ?? NONE);
    this.#isCounted = this.#rules.location.length + this.#rules.groups.size > 0;
    this.#before = Rows.of(previous);
    this.#next = new NextRows(this.#before, now);
    this.#placeOf = this.#before.finder();
  }

  of({ readings, unreadable, unidentified, unread = NONE }: StatusSnapshot): Evaluation {
    this.#unread = unread;
    for (const reading of readings) this.#evaluateRow(reading);
    this.#evaluateStrayed();
    for (const id of unreadable) this.#evaluateRow(unreadableRow(id));
    if (this.#dealtWith < this.#before.size) this.#evaluateMissing(unidentified, unread);
    const { now, maxGapMs } = this.#moment;
    const recordings = this.#next.build();
    const members = this.#members(recordings);
    const locations = this.#evaluateLocations(unread, members);
    const next = { sweptAt: now, gaps: this.#gaps, recordings, locations };
    const isGrouped = members && this.#rules.groups.size > 0;
    const gap = maxGapMs > GAP_INTERVALS * this.#context.intervalMs ? { gapMs: maxGapMs } : {};
    const groups = isGrouped && { at: now, ...gap, ...countGroups(members, this.#notable, this.#context.inventory) };
    return { next, groups: groups || undefined, members, absent: this.#absent, stale: this.#stale, ...this.#out };
  }

  /** Those of the state before, while there are the same recordings at the same locations. */
  #members(recordings: Rows): Members | undefined {
    if (!this.#isCounted) return undefined;
    const { members, inventory } = this.#context;
    const { groups } = this.#rules;
    const isSame = !this.#hasChanged && recordings.size === this.#before.size;
    return isSame && members && areGrouped(members, inventory, groups)
      ? members
      : membersOf(recordings, inventory, groups);
  }

  #evaluateRow(reading: Reading): void {
    const place = this.#placeOf(reading.recordingId);
    // The known string rather than an equal one: it is hashed already, and the new one need not be kept.
    const id = this.#before.states.ids[place] ?? reading.recordingId;
    if (this.#next.has(place, id) || this.#left.has(id)) return;
    if (!this.#context.elsewhere?.has(id) && this.#keepHealthy(place, id, reading)) return;
    this.#evaluateOther(place, this.#before.at(place), reading);
  }

  /** A healthy recording, as it was before. */
  #keepHealthy(place: number, id: string, reading: Reading): boolean {
    const { states } = this.#before;
    const locationId = states.locationIds[place];
    if (locationId === undefined || reading.locationId !== locationId || !this.#isWatched(id, locationId)) return false;
    if (states.statuses[place] !== "online" || !isGood(reading)) return false;
    const { alerts, history } = states.more(place);
    if (alerts || history || !this.#isHealthy(id, reading)) return false;
    if (this.#isCounted && (this.#unread.has(locationId) || !this.#context.inSchedule(id))) return false;
    const isKept = this.#next.keep(place, reading.lastSeenAt, reading.averageQuality);
    if (isKept) this.#dealtWith++;
    return isKept;
  }

  #evaluateOther(place: number, previous: RecordingState | undefined, reading: Reading): void {
    const id = previous?.id ?? reading.recordingId;
    const locationId = this.#locationOf(previous, reading);
    if (this.#context.elsewhere?.has(id)) {
      if (previous) this.#leave(previous, "listed_elsewhere");
      else this.#decide(id, "listed_elsewhere");
      this.#left.add(id);
    } else if (locationId === undefined) {
      this.#decide(id, "no_location");
    } else if (previous && previous.locationId !== locationId) {
      this.#strayed.push({ place, previous, reading, locationId });
    } else {
      this.#evaluateAt(locationId, place, previous, reading);
    }
  }

  /** Evaluates the row at a location; a recording at one that is not watched leaves. */
  #evaluateAt(locationId: string, place: number, previous: RecordingState | undefined, reading: Reading): void {
    if (this.#isWatched(reading.recordingId, locationId)) {
      if (previous) this.#dealtWith++;
      if (previous?.locationId !== locationId) this.#hasChanged = true;
      this.#store(place, this.#present(previous, reading, locationId));
    } else if (previous) {
      this.#leave(previous, this.#isElsewhere(previous.id, locationId) ? "moved" : "no_longer_watched");
    } else this.#left.add(reading.recordingId);
  }

  /**
   * Moves recordings to the location that their row names. Where many would move at once each needs the inventory to say
   * the same; until then the reading counts at the known location.
   */
  #evaluateStrayed(): void {
    const strayed = this.#strayed.filter(({ place, previous: { id } }) => !this.#next.has(place, id));
    const ids = new Set(strayed.map(({ previous: { id } }) => id));
    const isBelieved = areChangesBelieved({ known: this.#before.size, absent: ids.size });
    for (const { place, previous, reading, locationId } of strayed) {
      const { id } = previous;
      if (this.#next.has(place, id) || this.#left.has(id)) continue;
      const isProven = isBelieved || this.#context.inventory.recording(id)?.locationId === locationId;
      const stays = !isProven && this.#isWatched(id, previous.locationId);
      this.#evaluateAt(stays ? previous.locationId : locationId, place, previous, reading);
    }
  }

  /** Where a row does not name its location, the inventory does if the shard has that one. */
  #locationOf(previous: RecordingState | undefined, { recordingId, locationId }: Reading): string | undefined {
    if (locationId !== undefined) return locationId === previous?.locationId ? previous.locationId : locationId;
    const known = this.#context.inventory.recording(recordingId)?.locationId;
    return known !== undefined && this.#watched.has(known) ? known : (previous?.locationId ?? known);
  }

  #isWatched(id: string, locationId: string): boolean {
    if (this.#lastWatchedId !== locationId && !this.#watched.has(locationId)) return false;
    this.#lastWatchedId = locationId;
    const { excluded } = this.#context;
    return excluded.size === 0 || !excluded.has(id);
  }

  /** The recording after a row of the snapshot. */
  #present(previous: RecordingState | undefined, reading: Reading, locationId: string): RecordingState {
    const { now } = this.#moment;
    if (!isGood(reading)) {
      const state = afterPresence(previous, reading.recordingId, locationId, now);
      this.#noteUnread(state);
      this.#noteChange(previous, state);
      return this.#withAlerts(previous, { state, read: false, missing: false });
    }
    const state = afterReading(previous, reading, locationId, now, this.#historyAfter(previous, reading));
    const wasHealthy = previous?.status === "online" && !previous.alerts && !previous.history;
    if (wasHealthy && previous.locationId === locationId && this.#isHealthy(previous.id, reading)) return state;
    this.#noteChange(previous, state);
    return this.#withAlerts(previous, { state, read: true, missing: false });
  }

  /** Where all rules on flapping respect schedules, readings outside of one do not count. */
  #historyAfter(previous: RecordingState | undefined, { recordingId, status }: GoodReading): StateHistory | undefined {
    const { watchesFlapping, flapsOutsideSchedule } = this.#rules;
    if (!watchesFlapping || (!previous?.history && previous?.status === status)) return undefined;
    if (!flapsOutsideSchedule && !this.#context.inSchedule(recordingId)) return previous?.history;
    return recordStatus(previous, status, this.#moment.now, this.#context.intervalMs);
  }

  /** Of one that was online, without changes or alerts: nothing is below a threshold, no rule's condition is met. */
  #isHealthy(id: string, { status, averageQuality, lastSeenAt = Infinity }: GoodReading): boolean {
    if (status !== "online") return false;
    if (averageQuality !== undefined && averageQuality < this.#rules.qualityFloor) return false;
    if (this.#moment.now - lastSeenAt >= this.#rules.lastSeenMs) return false;
    return !this.#hasLowUptime(id) && !this.#countsBadly("recording", id);
  }

  #countsBadly(kind: SubjectKind, id: string): boolean {
    return this.#rules.counts.some((when) => this.#context.counts?.(when, kind, id)?.met);
  }

  #hasLowUptime(id: string): boolean {
    if (this.#low) return this.#low.some((ids) => ids.has(id));
    return this.#rules.figures.some(({ below, figure }) => (this.#context.uptime(id, figure) ?? below) < below);
  }

  #noteChange(previous: RecordingState | undefined, { id, locationId, status }: RecordingState): void {
    if (previous && previous.locationId !== locationId) this.#decide(id, "moved");
    const isFirstAndOnline = previous?.status === undefined && status === "online";
    if (status === undefined || status === previous?.status || isFirstAndOnline) return;
    this.#decide(id, `observed_${status}`);
    if (status !== "online" && !this.#context.inSchedule(id)) this.#decide(id, "outside_schedule");
  }

  #withAlerts(previous: RecordingState | undefined, sample: Sample): RecordingState {
    const { state } = sample;
    const evaluator = recordingEvaluator(sample, this.#context);
    const alerts = applyRules(evaluator, state.alerts, this.#rules.recording, this.#moment, this.#out);
    const reported = this.#rules.outages.map((id) => alerts?.[id]).find((alert) => alert?.state === "firing");
    const outage = outageAfter(previous, sample, reported?.startsAt);
    return alerts === state.alerts && outage === state.outage ? state : { ...state, alerts, outage };
  }

  /** Keeps the recording, and notes it where its location and its groups have to count it by itself. */
  #store(place: number, state: RecordingState): void {
    this.#next.put(place, state);
    if (!this.#isCounted) return;
    const { now, maxGapMs } = this.#moment;
    const stale = this.#unread.has(state.locationId);
    const fresh = !stale && state.status !== undefined && now - state.readAt <= maxGapMs;
    const inSchedule = this.#context.inSchedule(state.id);
    if (fresh && inSchedule && state.status !== "offline") return;
    this.#notable.push({ state, fresh, stale, inSchedule });
  }

  /** Drops the recording; its alerts end as no longer watched, except for an episode that another shard has as well. */
  #leave(state: RecordingState, reason: DecisionReason): void {
    this.#left.add(state.id);
    this.#dealtWith++;
    this.#decide(state.id, reason);
    const other = this.#context.elsewhere?.get(state.id)?.alerts;
    const own = Object.entries(state.alerts ?? {}).filter(([rule, { firedAt }]) => other?.[rule]?.firedAt !== firedAt);
    this.#endAlerts("recording", { id: state.id, alerts: Object.fromEntries(own) });
  }

  #endAlerts(kind: SubjectKind, { id, alerts }: Pick<RecordingState, "id" | "alerts">): void {
    const { now } = this.#moment;
    endAlerts({ kind, id }, alerts, { endReason: "no_longer_watched", now, out: this.#out });
  }

  #decide(id: string, reason: DecisionReason): void {
    const subject = { kind: "recording", id } as const;
    this.#out.decisions.push({ subject, ruleId: undefined, reason, at: this.#moment.now });
  }

  /** Known recordings without a row; of as many of them as rows are `unidentified` nothing is known. */
  #evaluateMissing(unidentified: number, unread: ReadonlySet<string>): void {
    const without: Placed[] = [];
    for (const [place, id] of this.#before.states.ids.entries()) {
      const state = this.#next.has(place, id) || this.#left.has(id) ? undefined : this.#before.at(place);
      if (!state) continue;
      const reason = this.#reasonToLeave(state);
      if (reason) this.#leave(state, reason);
      else if (unread.has(state.locationId)) this.#keep(place, state);
      else without.push([place, state]);
    }
    if (unidentified > 0) without.sort(lastPresentFirst);
    for (const [place, state] of without.slice(0, unidentified)) this.#keep(place, state);
    const absent = without.slice(unidentified);
    this.#absent = absent.length;
    const isBelieved = this.#isAbsenceBelieved();
    for (const [place, state] of absent) {
      if (isBelieved) this.#evaluateAbsent(place, state);
      else this.#keep(place, state);
    }
  }

  #noteUnread({ readAt }: RecordingState): void {
    const { now, intervalMs } = this.#context;
    if (now - readAt > GAP_INTERVALS * intervalMs) this.#stale++;
  }

  /** Nothing is known of it: it stays as it was, and the time is not time it was absent. */
  #keep(place: number, state: RecordingState): void {
    this.#noteUnread(state);
    this.#store(place, { ...state, presentAt: state.presentAt + this.#moment.now - this.#previous.sweptAt });
  }

  #evaluateAbsent(place: number, state: RecordingState): void {
    const { sweptAt } = this.#previous;
    const { now, maxGapMs } = this.#moment;
    if (state.presentAt === sweptAt) this.#decide(state.id, "observed_missing");
    // Time without sweeps is not time it was absent.
    const unsweptMs = sweptAt > 0 && now - sweptAt > maxGapMs ? now - sweptAt : 0;
    const absent = unsweptMs > 0 ? { ...state, presentAt: state.presentAt + unsweptMs } : state;
    if (now - absent.presentAt >= this.#context.forgetAfterMs) this.#leave(absent, "forgotten");
    else if (!absent.alerts && !this.#rules.watchesMissing) this.#store(place, absent);
    else this.#store(place, this.#withAlerts(state, { state: absent, read: false, missing: true }));
  }

  #isAbsenceBelieved(): boolean {
    const { others } = this.#context;
    if (!others) return true;
    const known = others.known + this.#before.size;
    return isAbsenceBelieved({ known, absent: others.absent + this.#absent });
  }

  /** A recording without a row has moved once another shard has it; until then it is absent. */
  #reasonToLeave({ id, locationId }: RecordingState): "moved" | "no_longer_watched" | undefined {
    if (this.#context.elsewhere?.has(id)) return "moved";
    if (this.#isWatched(id, locationId)) return undefined;
    const known = this.#context.inventory.recording(id)?.locationId;
    const isMoved = this.#isElsewhere(id, known ?? locationId) || this.#isElsewhere(id, locationId);
    return isMoved ? "moved" : "no_longer_watched";
  }

  /** At a location of another shard, which evaluates it from now on. */
  #isElsewhere(id: string, locationId: string): boolean {
    if (this.#watched.has(locationId) || this.#context.excluded.has(id)) return false;
    return !this.#context.excluded.has(locationId) && this.#context.isAssigned(locationId);
  }

  #evaluateLocations(unread: ReadonlySet<string>, members: Members | undefined): Map<string, LocationState> {
    const notable = Map.groupBy(this.#notable, ({ state }) => state.locationId);
    const next = new Map<string, LocationState>();
    for (const id of this.#watched) {
      const previous = this.#previous.locations.get(id) ?? { id, alerts: undefined };
      const isAffected = previous.alerts || notable.has(id) || this.#countsBadly("location", id);
      if (!isAffected || unread.has(id)) next.set(id, previous);
      else next.set(id, this.#evaluateLocation(previous, members, notable.get(id)));
    }
    for (const location of this.#previous.locations.values()) {
      if (!next.has(location.id)) this.#endAlerts("location", location);
    }
    return next;
  }

  #evaluateLocation(
    { id, alerts: before }: LocationState,
    members: Members | undefined,
    notable: readonly Notable[] = [],
  ): LocationState {
    const here = members?.locations.get(id);
    const count = here && { ...countAmong(here.known, notable), sampleId: here.sampleId };
    const evaluator = withCounts(locationEvaluator(id, count, this.#context.inventory, here?.shared), this.#context);
    const alerts = applyRules(evaluator, before, this.#rules.location, this.#moment, this.#out);
    return { id, alerts };
  }
}

type Placed = readonly [place: number, state: RecordingState];

/**
 * The order in which absent recordings may be those of rows that name none: the last present first, and of those the ones
 * in doubt before, so that a recording which leaves later is not taken for them.
 */
function lastPresentFirst([, a]: Placed, [, b]: Placed): number {
  return b.presentAt - a.presentAt || a.readAt - b.readAt;
}

/** Since `reportedSince` an alert fires about an outage: it goes on from reading to reading, until none fires any more. */
function outageAfter(
  previous: RecordingState | undefined,
  { state: { outage, readAt }, read }: Sample,
  reportedSince: Instant | undefined,
): ReportedOutage | undefined {
  const isOpen = outage && outage.until === undefined;
  if (reportedSince === undefined) return isOpen ? { from: outage.from, until: previous?.readAt ?? readAt } : outage;
  return !read || (isOpen && outage.from === reportedSince) ? outage : { from: reportedSince, until: undefined };
}

function unreadableRow(recordingId: string): Reading {
  return { recordingId, locationId: undefined, status: "unknown", lastSeenAt: undefined, averageQuality: undefined };
}
