/** A fleet told tick by tick: each sweep says what the service answers, and the judgement is at hand. */

import type { Evaluation, EvaluationContext } from "../../src/health/evaluation.ts";
import { judgeShard } from "../../src/health/judge.ts";
import type { Condition, Rule } from "../../src/health/model.ts";
import type { Location, Reading, Recording, StatusSnapshot } from "../../src/health/recording.ts";
import type { ScheduleState } from "../../src/health/schedule.ts";
import type { RecordingState, ShardState } from "../../src/health/shard-state.ts";
import { afterSweep, patchTo } from "../support/shard-patch.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
/** 2026-03-02 08:00 UTC. */
export const START = Date.UTC(2026, 2, 2, 8);
export const INTERVAL = 30 * SECOND;

export const emptyShard: ShardState = { sweptAt: 0, recordings: new Map(), locations: new Map() };

export function rule(alert: string, when: Condition, more: Partial<Rule> = {}): Rule {
  return {
    id: alert,
    alert,
    when,
    forMs: 0,
    keepFiringForMs: 0,
    respectSchedule: true,
    labels: {},
    annotations: {},
    ...more,
  };
}

export const offlineRule = (more: Partial<Rule> = {}) =>
  rule("RecordingOffline", { kind: "status", status: "offline" }, more);
export const degradedRule = (more: Partial<Rule> = {}) =>
  rule("RecordingDegraded", { kind: "status", status: "degraded" }, more);
export const qualityRule = (more: Partial<Rule> = {}) =>
  rule("LowQuality", { kind: "average_quality", below: 0.7, clearAbove: 0.8 }, more);
export const uptimeRule = (more: Partial<Rule> = {}) =>
  rule("LowUptime", { kind: "overall_uptime", below: 0.95, clearAbove: 0.97, overMs: 24 * HOUR }, more);
export const missingRule = (more: Partial<Rule> = {}) => rule("RecordingMissing", { kind: "missing" }, more);
export const locationRule = (more: Partial<Rule> = {}) =>
  rule("LocationOffline", { kind: "location_offline", atLeast: 1, clearBelow: 0.8, minRecordings: 2 }, more);

/** A row, or just its status. Location `L1` unless it says another. */
export type Row = Reading["status"] | Partial<Reading>;

export function reading(recordingId: string, row: Row): Reading {
  const base: Reading = {
    recordingId,
    locationId: "L1",
    status: "online",
    lastSeenAt: undefined,
    averageQuality: undefined,
  };
  return typeof row === "string" ? { ...base, status: row } : { ...base, ...row };
}

export { aRecording as recording } from "../support/fixtures.ts";

/** Freezes everything in it, maps' values too. A map itself cannot be frozen: it is compared instead. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  const parts: unknown[] = value instanceof Map ? [...value.values()] : Object.values(value);
  for (const part of parts) deepFreeze(part);
  return value;
}

class Inventory extends Map<string, Recording> {
  revision = 0;

  override set(id: string, row: Recording): this {
    if (JSON.stringify(this.get(id)) !== JSON.stringify(row)) this.revision++;
    return super.set(id, row);
  }

  override delete(id: string): boolean {
    this.revision++;
    return super.delete(id);
  }
}

export class Story {
  now = START;
  state: ShardState = emptyShard;
  last: Evaluation = {
    patch: patchTo(emptyShard),
    absent: 0,
    stale: 0,
    unread: new Map(),
    transitions: [],
    decisions: [],
  };
  /** The state that the last evaluation led to. */
  #reached = emptyShard;
  /** Called with the state before a sweep and its evaluation. */
  swept = (_before: ShardState, _evaluation: Evaluation): void => {};
  rules: readonly Rule[];
  locationIds: readonly string[] = ["L1"];
  excluded = new Set<string>();
  forgetAfterMs = 24 * HOUR;
  inSchedule = true;
  /** Recordings that another shard has. */
  elsewhere: ReadonlyMap<string, RecordingState> = new Map();
  isOutside = (_: string): boolean => !this.inSchedule;
  /** Whether no start lies between two sweeps. */
  unbroken = false;
  scheduleBegan: number | undefined;
  readonly schedules = new Map<string, ScheduleState>();
  /** When `inSchedule` changed. */
  readonly #changes: { at: number; inSchedule: boolean }[] = [];
  readonly uptimes = new Map<string, number>();
  readonly recordings = new Inventory();
  readonly locations = new Map<string, Location>();

  constructor(...rules: Rule[]) {
    this.rules = rules;
  }

  context(): EvaluationContext {
    if (this.#changes.at(-1)?.inSchedule !== this.inSchedule)
      this.#changes.push({ at: this.now, inSchedule: this.inSchedule });
    return {
      now: this.now,
      intervalMs: INTERVAL,
      unbroken: this.unbroken,
      forgetAfterMs: this.forgetAfterMs,
      rules: this.rules,
      inventory: {
        recording: (id) => this.recordings.get(id),
        location: (id) => this.locations.get(id),
        revision: () => this.recordings.revision,
      },
      locationIds: this.locationIds,
      isAssigned: (id) => this.locations.has(id),
      excluded: this.excluded,
      elsewhere: this.elsewhere,
      uptime: (id, figure) => (String(figure).startsWith("arrived") ? undefined : this.uptimes.get(id)),
      inSchedule: (id) => !this.isOutside(id),
      scheduleOf: (id) => (this.inSchedule ? this.schedules.get(id) : "outside"),
      scheduleBegan: () => this.scheduleBegan,
      scheduledMs: (_, { from, to }) => this.#scheduledMs(from, to),
    };
  }

  #scheduledMs(from: number, to: number): number {
    let sum = 0;
    for (const [i, { at, inSchedule }] of this.#changes.entries()) {
      const [begins, ends] = [i === 0 ? from : at, this.#changes[i + 1]?.at ?? to];
      if (inSchedule) sum += Math.max(0, Math.min(to, ends) - Math.max(from, begins));
    }
    return sum;
  }

  /** Time passes without a good answer. */
  pass(ms: number): this {
    this.now += ms;
    return this;
  }

  /** The next sweep's answer; gives what alerts did, as `firing RecordingOffline/recording/a`. */
  sweep(rows: Readonly<Record<string, Row>>, more: Partial<StatusSnapshot> = {}, afterMs = INTERVAL): string[] {
    this.now += afterMs;
    const readings = Object.entries(rows).map(([id, row]) => reading(id, row));
    return this.judge({ readings, unreadable: [], unidentified: 0, ...more });
  }

  /** The same answer for a while, a sweep per interval; gives what alerts did in all of it. */
  sweepFor(ms: number, rows: Readonly<Record<string, Row>>): string[] {
    const said: string[] = [];
    for (let passed = 0; passed < ms; passed += INTERVAL) said.push(...this.sweep(rows));
    return said;
  }

  judge(snapshot: StatusSnapshot): string[] {
    const before = JSON.stringify(plain(this.state));
    deepFreeze(this.state);
    const members = this.#reached === this.state ? this.last.members : undefined;
    this.last = judgeShard(this.state, deepFreeze(snapshot), { ...this.context(), members });
    if (before !== JSON.stringify(plain(this.state))) throw new Error("previous was changed");
    this.swept(this.state, this.last);
    this.#reached = afterSweep(this.state, this.last.patch);
    this.state = this.#reached;
    return this.last.transitions.map(({ kind, alert }) =>
      kind === "resolved" ? `${kind} ${alert.key} ${alert.endReason}` : `${kind} ${alert.key}`,
    );
  }

  /** Reasons of the last sweep, `rule:reason` where a rule is involved. */
  reasons(): string[] {
    return this.last.decisions.map(({ ruleId, reason }) => (ruleId ? `${ruleId}:${reason}` : reason));
  }

  get alert() {
    const alert = this.last.transitions[0]?.alert;
    if (!alert) throw new Error("the last sweep moved no alert");
    return alert;
  }

  alertState(recordingId: string, ruleId: string) {
    return this.state.recordings.get(recordingId)?.alerts?.[ruleId];
  }
}

/** A shard as plain data, for comparing. */
export function plain(state: ShardState) {
  return { ...state, recordings: [...state.recordings], locations: [...state.locations] };
}
