/** Plays a scenario: each step happens at its own instant, so the ledger's times are exact to the millisecond. */
import type { Instant } from "../lib/clock.ts";
import { applyChange, findLocation, findRecording, impairmentOf, type Named, targetOf } from "./change.ts";
import type { SimulatorContext } from "./context.ts";
import { SimulatorError } from "./errors.ts";
import type { Faults } from "./faults.ts";
import { type Impairment, type SimRecording, usualQuality } from "./fleet.ts";
import { faultParams, type Scenario, type ScenarioEvent } from "./scenario.ts";
import type { World } from "./world.ts";

interface ScenarioStep {
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

/** The longest a timer may wait, ms: the clock may be another than the timer's. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Starts to play. `onProblem`: a step could not be done, what it names has gone. `catchUp` does everything due by now.
 * Throws SimulatorError `bad_scenario` where an event names what neither is nor will be.
 */
export function playScenario(
  scenario: Scenario,
  { world, faults, clock }: Pick<SimulatorContext, "world" | "faults" | "clock">,
  onProblem: (problem: Error) => void,
): { catchUp(): void; stop(): void } {
  checkNames(scenario, world);
  const steps = stepsOf(scenario, world.startedAt);
  const stage = createStage(world, faults);
  let next = 0;
  let timer: NodeJS.Timeout | undefined;

  function catchUp(): void {
    const now = clock.now();
    for (let step = steps[next]; step && step.at <= now; step = steps[next]) {
      next += 1;
      try {
        stage(step);
      } catch (thrown) {
        if (!(thrown instanceof SimulatorError)) throw thrown;
        onProblem(thrown);
      }
    }
  }
  function tick(): void {
    catchUp();
    const step = steps[next];
    if (!step) return;
    timer = setTimeout(tick, Math.min(LONGEST_WAIT_MS, Math.max(1, step.at - clock.now())));
    timer.unref();
  }
  tick();
  return { catchUp, stop: () => clearTimeout(timer) };
}

type Lasting = Extract<ScenarioEvent, { kind: "status" | "quality" }>;

/** Applies steps; of events that overlap on a recording the one begun last wins, and all over it is as usual. */
function createStage(world: World, faults: Faults): (step: ScenarioStep) => void {
  const underWay = new Map<symbol, { event: Lasting; recordings: readonly SimRecording[] }>();
  const impairing = new Map<symbol, readonly Impairment[]>();
  const faultSetBy = new Map<string, symbol>();

  /** Sets what the latest event still on says of this recording, or the usual. */
  function settle(recording: SimRecording, kind: Lasting["kind"], at: Instant): void {
    const { id } = recording;
    if (!world.recording(id)) return;
    const ofIt = [...underWay.values()].filter(({ recordings }) => recordings.includes(recording));
    const event = ofIt.findLast((begun) => begun.event.kind === kind)?.event;
    if (kind === "status") world.setStatus(id, event?.kind === "status" ? event.status : "online", at);
    else world.setQuality(id, event?.kind === "quality" ? event.quality : usualQuality(id), at);
  }

  return ({ at, phase, event, occurrence }) => {
    const begins = phase === "begin";
    switch (event.kind) {
      case "status":
      case "quality": {
        const about = () => world.recordingsOf(targetOf(world, event));
        const recordings = begins ? about() : (underWay.get(occurrence)?.recordings ?? []);
        if (begins) underWay.set(occurrence, { event, recordings });
        else underWay.delete(occurrence);
        for (const recording of recordings) settle(recording, event.kind, at);
        return;
      }
      case "sees":
      case "freeze":
      case "ghosts":
      case "turned":
        if (!begins) world.endImpairments(impairing.get(occurrence) ?? [], at);
        else impairing.set(occurrence, world.impair(targetOf(world, event), ...impairmentOf(event), at));
        return;
      case "fault":
        if (begins) {
          faults.set(event.fault, faultParams(event));
          faultSetBy.set(event.fault, occurrence);
        } else if (faultSetBy.get(event.fault) === occurrence) faults.clear(event.fault);
        return;
      case "clear_faults":
        return faults.clearAll();
      default:
        return applyChange(world, event, at);
    }
  };
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
