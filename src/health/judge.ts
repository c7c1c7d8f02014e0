/**
 * Evaluates one good answer of a shard against its previous state: what changes, what its alerts did, and why. Pure, and
 * quick where nothing happens: of an uneventful row only the hot values are noted. A failed sweep is not evaluated; the
 * caller keeps the previous state.
 */
import type { Instant } from "../lib/clock.ts";
import { endAlerts } from "./apply-rules.ts";
import { areChangesBelieved, isAbsenceBelieved } from "./belief.ts";
import { evaluateLocations } from "./evaluate-locations.ts";
import {
  decision,
  type EvaluatedRecording,
  evaluateReading,
  evaluateSample,
  isUneventful,
  type RecordingSweep,
} from "./evaluate-recording.ts";
import type { DecisionReason, Evaluation, EvaluationContext, Outcomes } from "./evaluation.ts";
import { countGroups, type Notable } from "./group-counts.ts";
import { areGrouped, type Members, membersOf } from "./members.ts";
import { createPlaces, type Places } from "./places.ts";
import type { Reading, StatusSnapshot } from "./recording.ts";
import { allowedGapMs, GAP_INTERVALS, gapsAfter } from "./rhythm.ts";
import { compileRules } from "./rule.ts";
import { recordingsAfter } from "./shard-patch.ts";
import { isSameCold, type RecordingState, type ShardState } from "./shard-state.ts";

/** A row that names another location than the one its recording is known at. */
interface Strayed {
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
  readonly #moment: RecordingSweep["moment"];
  readonly #gaps: readonly number[];
  readonly #rules: RecordingSweep["rules"];
  readonly #sweep: RecordingSweep;
  readonly #places: Places;
  /** Whether there is a rule about locations or groups. */
  readonly #isCounted: boolean;
  readonly #notable: Notable[] = [];
  /** Whether the shard has other recordings than before, or the same at other locations. */
  #hasChanged = false;
  /** Locations whose request failed. */
  #unread = NONE;
  readonly #before: ShardState["recordings"];
  /** Every recording that is dealt with; with what was read of it where nothing cold changed. */
  readonly #done = new Map<string, Reading | RecordingState | undefined>();
  readonly #changed = new Map<string, RecordingState>();
  /** Rows at another location than the known one: they wait for a row at that. */
  readonly #strayed: Strayed[] = [];
  /** Recordings that do not belong to the shard any more. */
  readonly #left = new Set<string>();
  readonly #out: Outcomes = { transitions: [], decisions: [] };
  /** How many recordings of the previous state are dealt with. */
  #dealtWith = 0;
  #absent = 0;
  #stale = 0;
  /** The last reading of what this sweep did not read: recordings with alerts, and known locations. */
  readonly #unreadAt = new Map<string, Instant>();
  /** By location: how many recordings were not read, and the newest reading of those that the answer does not lack. */
  readonly #notRead = new Map<string, { readonly count: number; readonly readAt: Instant }>();

  constructor(previous: ShardState, context: EvaluationContext) {
    const { now, intervalMs, rules } = context;
    this.#previous = previous;
    this.#context = context;
    this.#gaps = gapsAfter(previous, now, context.unbroken);
    const maxGapMs = allowedGapMs(this.#gaps, intervalMs);
    const sinceLastMs = Math.max(0, now - previous.sweptAt);
    this.#moment = { now, maxGapMs, sinceLastMs: sinceLastMs > maxGapMs ? 0 : sinceLastMs };
    this.#rules = compileRules(rules);
    this.#places = createPlaces(context);
    this.#sweep = { context, moment: this.#moment, rules: this.#rules };
    this.#isCounted = this.#rules.location.length + this.#rules.groups.size > 0;
    this.#before = previous.recordings;
  }

  of({ readings, unreadable, unidentified, unread = NONE }: StatusSnapshot): Evaluation {
    this.#unread = unread;
    for (const reading of readings) this.#evaluateRow(reading);
    this.#evaluateStrayed();
    for (const id of unreadable) this.#evaluateRow(unreadableRow(id));
    if (this.#dealtWith < this.#before.size) this.#evaluateMissing(unidentified, unread);
    const { now, maxGapMs } = this.#moment;
    const after = recordingsAfter(this.#previous, { read: this.#done, changed: this.#changed, left: this.#left });
    const members = this.#members(after.states);
    this.#noteUnreadLocations(members);
    const locations = evaluateLocations(this.#previous.locations, this.#sweep, {
      ...{ watched: this.#places.watched, unread, members, notable: this.#notable, out: this.#out },
    });
    const patch = { sweptAt: now, gaps: this.#gaps, ...after, locations };
    const isGrouped = members && this.#rules.groups.size > 0;
    const gap = maxGapMs > GAP_INTERVALS * this.#context.intervalMs ? { gapMs: maxGapMs } : {};
    const groups = isGrouped && { at: now, ...gap, ...countGroups(members, this.#notable, this.#context.inventory) };
    const stale =
      this.#stale + [...unread].filter((id) => this.#places.watched.has(id) && !this.#unreadAt.has(id)).length;
    return {
      ...{ patch, groups: groups || undefined, members, absent: this.#absent, stale },
      unread: this.#unreadAt,
      ...this.#out,
    };
  }

  /** Those of the state before, while there are the same recordings at the same locations. */
  #members(states: readonly RecordingState[]): Members | undefined {
    if (!this.#isCounted) return undefined;
    const { members, inventory } = this.#context;
    const { groups } = this.#rules;
    if (!this.#hasChanged && members && areGrouped(members, inventory, groups)) return members;
    return membersOf(states, inventory, groups);
  }

  #evaluateRow(reading: Reading): void {
    const previous = this.#before.get(reading.recordingId);
    const id = previous?.id ?? reading.recordingId;
    if (this.#done.has(id)) return;
    if (previous && !this.#context.elsewhere?.has(id) && this.#isPassedOver(previous, reading)) {
      this.#done.set(id, reading);
      this.#dealtWith++;
    } else this.#evaluateOther(previous, reading);
  }

  /** Nothing happened to the recording, and neither its location nor its groups have to count it by itself. */
  #isPassedOver(previous: RecordingState, reading: Reading): boolean {
    const { id, locationId } = previous;
    if (!this.#places.isWatched(id, locationId) || !isUneventful(previous, reading, this.#sweep)) return false;
    return !this.#isCounted || (!this.#unread.has(locationId) && this.#context.inSchedule(id));
  }

  #evaluateOther(previous: RecordingState | undefined, reading: Reading): void {
    const id = previous?.id ?? reading.recordingId;
    const locationId = this.#places.locationOf(previous, reading);
    if (this.#context.elsewhere?.has(id)) {
      if (previous) this.#leave(previous, "listed_elsewhere");
      else this.#decide(id, "listed_elsewhere");
      this.#done.set(id, undefined);
    } else if (locationId === undefined) {
      this.#decide(id, "no_location");
    } else if (previous && previous.locationId !== locationId) {
      this.#strayed.push({ previous, reading, locationId });
    } else {
      this.#evaluateAt(locationId, previous, reading);
    }
  }

  /** Evaluates the row at a location; a recording at one that is not watched leaves. */
  #evaluateAt(locationId: string, previous: RecordingState | undefined, reading: Reading): void {
    if (this.#places.isWatched(reading.recordingId, locationId)) {
      if (previous) this.#dealtWith++;
      if (previous?.locationId !== locationId) this.#hasChanged = true;
      const known = previous ?? this.#context.begun?.get(reading.recordingId);
      const state = this.#take(evaluateReading(known, reading, locationId, this.#sweep));
      this.#countStale(state);
      this.#store(previous, state);
    } else if (previous) {
      this.#leave(previous, this.#places.isElsewhere(previous.id, locationId) ? "moved" : "no_longer_watched");
    } else this.#done.set(reading.recordingId, undefined);
  }

  /**
   * Moves recordings to the location that their row names. Where many would move at once each needs the inventory to say
   * the same; until then the reading counts at the known location.
   */
  #evaluateStrayed(): void {
    const strayed = this.#strayed.filter(({ previous: { id } }) => !this.#done.has(id));
    const ids = new Set(strayed.map(({ previous: { id } }) => id));
    const isBelieved = areChangesBelieved({ known: this.#before.size, absent: ids.size });
    for (const { previous, reading, locationId } of strayed) {
      const { id } = previous;
      if (this.#done.has(id)) continue;
      const isProven = isBelieved || this.#context.inventory.recording(id)?.locationId === locationId;
      const stays = !isProven && this.#places.isWatched(id, previous.locationId);
      this.#evaluateAt(stays ? previous.locationId : locationId, previous, reading);
    }
  }

  #take({ state, transitions, decisions }: EvaluatedRecording): RecordingState {
    this.#out.transitions.push(...transitions);
    this.#out.decisions.push(...decisions);
    return state;
  }

  /** Keeps the recording, and notes it where its location and its groups have to count it by itself. */
  #store(previous: RecordingState | undefined, state: RecordingState): void {
    const { now, maxGapMs } = this.#moment;
    const isSame = previous !== undefined && isSameCold(previous, state);
    if (!isSame) this.#changed.set(state.id, state);
    this.#done.set(state.id, isSame && state.readAt === now ? state : undefined);
    if (state.readAt !== now) this.#noteUnread(state);
    if (!this.#isCounted) return;
    const stale = this.#unread.has(state.locationId);
    const fresh = !stale && state.status !== undefined && now - state.readAt <= maxGapMs;
    const inSchedule = this.#context.inSchedule(state.id);
    if (fresh && inSchedule && state.status !== "offline") return;
    this.#notable.push({ state, fresh, stale, inSchedule });
  }

  /** Drops the recording; its alerts end as no longer watched, except for an episode that another shard has as well. */
  #leave(state: RecordingState, reason: DecisionReason): void {
    this.#left.add(state.id);
    this.#done.set(state.id, undefined);
    this.#hasChanged = true;
    this.#dealtWith++;
    this.#decide(state.id, reason);
    const other = this.#context.elsewhere?.get(state.id)?.alerts;
    const own = Object.entries(state.alerts ?? {}).filter(([rule, { firedAt }]) => other?.[rule]?.firedAt !== firedAt);
    const ending = { endReason: "no_longer_watched", now: this.#moment.now, out: this.#out } as const;
    endAlerts({ kind: "recording", id: state.id }, Object.fromEntries(own), ending);
  }

  #decide(id: string, reason: DecisionReason): void {
    this.#out.decisions.push(decision(id, reason, this.#moment.now));
  }

  /**
   * Known recordings without a row; of as many of them as rows are `unidentified` nothing is known. These may be the last
   * present, and of those the ones in doubt before, so that a recording which leaves later is not taken for them.
   */
  #evaluateMissing(unidentified: number, unread: ReadonlySet<string>): void {
    const without: RecordingState[] = [];
    for (const state of this.#before.values()) {
      if (this.#done.has(state.id)) continue;
      const reason = this.#places.reasonToLeave(state);
      if (reason) this.#leave(state, reason);
      else if (unread.has(state.locationId)) this.#keep(state);
      else without.push(state);
    }
    if (unidentified > 0) without.sort((a, b) => this.#presentAt(b) - this.#presentAt(a) || a.readAt - b.readAt);
    for (const state of without.slice(0, unidentified)) this.#keep(state);
    const absent = without.slice(unidentified);
    this.#absent = absent.length;
    const isBelieved = this.#isAbsenceBelieved();
    for (const state of absent) {
      if (isBelieved) this.#evaluateAbsent(state);
      else this.#keep(state);
    }
  }

  #presentAt({ absentSince }: RecordingState): Instant {
    return absentSince ?? this.#previous.sweptAt;
  }

  #noteUnread({ id, locationId, readAt, alerts, absentSince }: RecordingState): void {
    const here = this.#notRead.get(locationId) ?? { count: 0, readAt: 0 };
    // An answer that lacks a recording says something of its location.
    const isSaid = absentSince !== undefined && !this.#unread.has(locationId);
    const all = { count: here.count + 1, readAt: isSaid ? here.readAt : Math.max(here.readAt, readAt) };
    this.#notRead.set(locationId, all);
    if (alerts) this.#unreadAt.set(id, readAt);
  }

  /** Locations without an answer, and those with an alert at which no recording was read. */
  #noteUnreadLocations(members: Members | undefined): void {
    for (const [id, { count, readAt }] of this.#notRead) {
      const isNone = readAt > 0 && count === members?.locations.get(id)?.known;
      if (this.#unread.has(id) || (isNone && this.#previous.locations.get(id)?.alerts)) this.#unreadAt.set(id, readAt);
    }
  }

  #countStale({ readAt }: RecordingState): void {
    const { now, intervalMs } = this.#context;
    if (now - readAt > GAP_INTERVALS * intervalMs) this.#stale++;
  }

  /** Nothing is known of it: it stays as it was, and the time is not time it was absent. */
  #keep(state: RecordingState): void {
    this.#countStale(state);
    const { absentSince } = state;
    const sinceLastMs = this.#moment.now - (this.#previous.sweptAt || this.#moment.now);
    this.#store(state, absentSince === undefined ? state : { ...state, absentSince: absentSince + sinceLastMs });
  }

  #evaluateAbsent(state: RecordingState): void {
    const { sweptAt } = this.#previous;
    const { now, maxGapMs } = this.#moment;
    if (state.absentSince === undefined) this.#decide(state.id, "observed_missing");
    // Time without sweeps is not time it was absent.
    const unsweptMs = sweptAt > 0 && now - sweptAt > maxGapMs ? now - sweptAt : 0;
    const absent = { ...state, absentSince: this.#presentAt(state) + unsweptMs };
    if (now - absent.absentSince >= this.#context.forgetAfterMs) this.#leave(absent, "forgotten");
    else if (!absent.alerts && !this.#rules.watchesMissing) this.#store(state, absent);
    else {
      const sample = { state: absent, read: false, missing: true };
      this.#store(state, this.#take(evaluateSample(state, sample, this.#sweep)));
    }
  }

  #isAbsenceBelieved(): boolean {
    const { others } = this.#context;
    if (!others) return true;
    const known = others.known + this.#before.size;
    return isAbsenceBelieved({ known, absent: others.absent + this.#absent });
  }
}

function unreadableRow(recordingId: string): Reading {
  return { recordingId, locationId: undefined, status: "unknown", lastSeenAt: undefined, averageQuality: undefined };
}
