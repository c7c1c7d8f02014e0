/**
 * Plays a scenario against the clock. Each step happens at its own instant, whoever comes first: the timer, or a
 * request that would see it; so the ledger's times are the scenario's, to the millisecond.
 */
import type { Clock, Instant } from "../lib/clock.ts";
import { applyChange, findLocation, findRecording, type Named, recordingsNamed } from "./change.ts";
import { SimulatorError } from "./errors.ts";
import type { Faults } from "./faults.ts";
import { isFaultName } from "./faults.ts";
import { type SimRecording, usualQuality } from "./fleet.ts";
import { type FaultEvent, faultParams, type Scenario, type ScenarioEvent } from "./scenario.ts";
import type { World } from "./world.ts";

export interface ScenarioStep {
  readonly at: Instant;
  readonly phase: "begin" | "end";
  readonly event: ScenarioEvent;
  /** Tells the repetitions of one event apart. */
  readonly occurrence: symbol;
}

/** Every beginning and end, in order of time; what begins as something else ends takes over without a gap. */
export function stepsOf(scenario: Scenario, startedAt: Instant): ScenarioStep[] {
  const steps = scenario.events.flatMap((event) =>
    Array.from({ length: event.repeat?.times ?? 1 }, (_, nth): ScenarioStep[] => {
      const at = startedAt + event.at + nth * (event.repeat?.every ?? 0);
      const occurrence = Symbol(event.kind);
      const begin: ScenarioStep = { at, phase: "begin", event, occurrence };
      const lasting = "for" in event ? event.for : undefined;
      return lasting === undefined ? [begin] : [begin, { at: at + lasting, phase: "end", event, occurrence }];
    }).flat(),
  );
  return steps.sort((a, b) => a.at - b.at || rank(a) - rank(b));
}

const rank = ({ phase }: ScenarioStep) => (phase === "begin" ? 0 : 1);

export interface Player {
  /** Does everything due by now. */
  catchUp(): void;
  stop(): void;
}

export interface PlayerDeps {
  readonly world: World;
  readonly faults: Faults;
  readonly clock: Clock;
  /** A step that could not be done: what it names has gone. */
  readonly onProblem: (problem: Error) => void;
}

/** The longest a timer may wait, ms: the clock may be another than the timer's. */
const LONGEST_WAIT_MS = 60_000;

/** Starts to play. Throws SimulatorError `bad_scenario` where an event names what neither is nor will be. */
export function playScenario(scenario: Scenario, deps: PlayerDeps): Player {
  checkNames(scenario, deps.world);
  const steps = stepsOf(scenario, deps.world.startedAt);
  const stage = createStage(deps);
  let next = 0;
  let timer: NodeJS.Timeout | undefined;

  function catchUp(): void {
    const now = deps.clock.now();
    for (let step = steps[next]; step && step.at <= now; step = steps[next]) {
      next += 1;
      try {
        stage(step);
      } catch (thrown) {
        if (!(thrown instanceof SimulatorError)) throw thrown;
        deps.onProblem(thrown);
      }
    }
  }
  function tick(): void {
    catchUp();
    const step = steps[next];
    if (!step) return;
    timer = setTimeout(tick, Math.min(LONGEST_WAIT_MS, Math.max(1, step.at - deps.clock.now())));
    timer.unref();
  }
  tick();
  return { catchUp, stop: () => clearTimeout(timer) };
}

type Lasting = Extract<ScenarioEvent, { kind: "status" | "quality" }>;
interface Held {
  readonly event: Lasting;
  readonly recordings: readonly SimRecording[];
}

/** Applies steps; of events that overlap on a recording the one begun last wins, and all over it is as usual. */
function createStage({ world, faults }: PlayerDeps): (step: ScenarioStep) => void {
  const held = new Map<symbol, Held>();
  const faultSetBy = new Map<string, symbol>();

  return ({ at, phase, event, occurrence }) => {
    switch (event.kind) {
      case "status":
      case "quality":
        return phase === "begin" ? hold(event, occurrence, at) : release(occurrence, at);
      case "fault":
        return phase === "begin" ? setFault(event, occurrence) : clearFault(event, occurrence);
      case "clear_faults":
        return faults.clearAll();
      default:
        return applyChange(world, event, at);
    }
  };

  function hold(event: Lasting, occurrence: symbol, at: Instant): void {
    const recordings = recordingsNamed(world, event);
    held.set(occurrence, { event, recordings });
    for (const recording of recordings) settle(recording, event.kind, at);
  }

  function release(occurrence: symbol, at: Instant): void {
    const over = held.get(occurrence);
    held.delete(occurrence);
    for (const recording of over?.recordings ?? []) settle(recording, over?.event.kind ?? "status", at);
  }

  /** Sets what the latest event still on says of this recording, or the usual. */
  function settle(recording: SimRecording, kind: Lasting["kind"], at: Instant): void {
    const { id } = recording;
    if (!world.recording(id)) return;
    const latest = [...held.values()].findLast((h) => h.event.kind === kind && h.recordings.includes(recording));
    const event = latest?.event;
    if (kind === "status") world.setStatus(id, event?.kind === "status" ? event.status : "online", at);
    else world.setQuality(id, event?.kind === "quality" ? event.quality : usualQuality(id), at);
  }

  function setFault(event: FaultEvent, occurrence: symbol): void {
    faults.setUntyped(event.fault, faultParams(event));
    faultSetBy.set(event.fault, occurrence);
  }

  function clearFault({ fault }: FaultEvent, occurrence: symbol): void {
    if (faultSetBy.get(fault) === occurrence && isFaultName(fault)) faults.clear(fault);
  }
}

/** A name must be there at the start, or be given by an event of the scenario itself. */
function checkNames(scenario: Scenario, world: World): void {
  const coming = new Set(scenario.events.flatMap(namesGiven));
  const addsLocations = scenario.events.some(({ kind }) => kind.startsWith("add_"));
  const problems = scenario.events.flatMap((event) => {
    const { location, recording } = event as Named;
    const isComing = (name: string) => coming.has(name) || (addsLocations && /^[L#]\d/.test(name));
    try {
      if (location !== undefined && !isComing(location)) findLocation(world, location);
      if (recording !== undefined && !isComing(recording)) findRecording(world, recording);
      return [];
    } catch (thrown) {
      if (!(thrown instanceof SimulatorError)) throw thrown;
      return [event.line === undefined ? thrown.message : `line ${event.line}: ${thrown.message}`];
    }
  });
  if (problems.length === 0) return;
  throw new SimulatorError("bad_scenario", `The scenario cannot be played:\n${problems.join("\n")}`);
}

function namesGiven(event: ScenarioEvent): string[] {
  if (event.kind === "rename") return [event.rename];
  if (event.kind === "add_location") return [event.add_location];
  return event.kind === "add_recording" ? [event.add_recording] : [];
}
