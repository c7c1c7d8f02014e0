/**
 * A scripted day, as YAML: what happens when, counted from the simulator's start.
 *
 *   events:
 *     - { at: 10s, location: Leeds Briggate, status: offline, for: 90s }
 *     - { at: 20s, recording: L3/2, quality: 0.4, for: 5m, repeat: { every: 10m, times: 3 } }
 *     - { at: 2m, fault: http_error, status: 503, for: 20s }
 *     - { at: 3m, location: L1, add_recording: Back Door }
 *     - { at: 4m, add_location: York Coney Street, timezone: Europe/London, recordings: 2 }
 *     - { at: 5m, recording: L3/2, rename: Front Door }       # or: remove: true
 *
 * A location is named by id, name or place (`L3`, or "#3" in quotes), a recording likewise (`L3/2`).
 */
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { parseDuration } from "../lib/duration.ts";
import { toError } from "../lib/errors.ts";
import { changeKindOf, changeShapes, namesOneTarget } from "./change.ts";
import { SimulatorError } from "./errors.ts";
import { parseFault } from "./faults.ts";

const NO_DURATION = "must be a duration such as 10s, 5m or 1h30m";
const duration = z.string(NO_DURATION).transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: "custom", message: NO_DURATION });
  return z.NEVER;
});
const longer = duration.refine((ms) => ms > 0, "must be more than 0s");
const when = { at: duration, repeat: z.strictObject({ every: longer, times: z.int().min(2).max(10_000) }).optional() };
const lasting = { ...when, for: longer.optional() };
const { status, quality, schedule, remove, rename, add_recording, add_location } = changeShapes;
const shapes = {
  fault: z.looseObject({ ...lasting, fault: z.string() }),
  clear_faults: z.strictObject({ ...when, clear_faults: z.literal(true) }),
  status: status.extend(lasting),
  quality: quality.extend(lasting),
  schedule: schedule.extend(when),
  remove: remove.extend(when),
  rename: rename.extend(when),
  add_recording: add_recording.extend(when),
  add_location: add_location.extend(when),
} as const;

type Kind = keyof typeof shapes;
/** One event; `kind` says what it does. Times in ms after the start. `line` is where it stands in its file. */
export type ScenarioEvent = {
  [K in Kind]: { readonly kind: K; readonly line?: number } & Readonly<z.output<(typeof shapes)[K]>>;
}[Kind];
export type FaultEvent = Extract<ScenarioEvent, { kind: "fault" }>;

export interface Scenario {
  readonly events: readonly ScenarioEvent[];
}

const File = z.strictObject({ events: z.array(z.record(z.string(), z.unknown())) });

/** Reads a scenario. Throws SimulatorError `bad_scenario` that lists every problem as `file:line:column`. */
export function parseScenario(text: string, file = "scenario"): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const problems = document.errors.map((e) => `${place(e.pos[0])}: ${e.message.split("\n")[0] ?? "unreadable"}`);
  if (problems.length > 0) throw unreadable(problems);
  const where = (path: readonly PropertyKey[]) => lineOf(document, path);
  const parsed = File.safeParse(plain(document));
  if (!parsed.success) {
    throw unreadable(parsed.error.issues.map((i) => describe(i.path, i.message, place(where(i.path)))));
  }
  const events = parsed.data.events.flatMap((event, i) => {
    const at = ["events", i];
    const report = (path: readonly PropertyKey[], message: string) => {
      problems.push(describe([...at, ...path], message, place(where([...at, ...path]))));
    };
    return parseEvent(event, lines.linePos(where(at)).line, report) ?? [];
  });
  if (problems.length > 0) throw unreadable(problems);
  return { events };
}

/** The document as plain values. Aliases that would unfold without end are a problem of the file. */
function plain(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch (thrown) {
    throw unreadable([toError(thrown).message]);
  }
}

type ReportProblem = (path: readonly PropertyKey[], message: string) => void;

function parseEvent(event: Record<string, unknown>, line: number, report: ReportProblem): ScenarioEvent | undefined {
  const kind = kindOf(event);
  if (!kind) {
    report([], `an event needs one of ${Object.keys(shapes).join(", ")}`);
    return undefined;
  }
  const parsed = shapes[kind].safeParse(event);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) report(path, message);
    return undefined;
  }
  const result = { ...parsed.data, kind, line } as ScenarioEvent;
  if (result.kind === "fault") checkFault(result, report);
  else if (result.kind !== "clear_faults" && !namesOneTarget(result.kind, result)) {
    report([], "name either a location or a recording");
  }
  return result;
}

/** A fault first: its own parameters may be called `status`. */
function kindOf(event: object): Kind | undefined {
  if (Object.hasOwn(event, "fault")) return "fault";
  return Object.hasOwn(event, "clear_faults") ? "clear_faults" : changeKindOf(event);
}

/** The parameters of a fault event: everything but its times and its name. */
export function faultParams(event: FaultEvent): Record<string, unknown> {
  const { kind: _, line: _line, at: _at, for: _for, repeat: _repeat, fault: _fault, ...params } = event;
  return params;
}

function checkFault(event: FaultEvent, report: ReportProblem): void {
  try {
    parseFault(event.fault, faultParams(event));
  } catch (thrown) {
    if (!(thrown instanceof SimulatorError)) throw thrown;
    report(["fault"], thrown.message);
  }
}

/** Offset of the value at a path, or of the nearest parent that is there. */
function lineOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range = (node as { range?: readonly number[] } | undefined)?.range;
    if (range?.[0] !== undefined) return range[0];
  }
  return 0;
}

function describe(path: readonly PropertyKey[], message: string, place: string): string {
  return `${place}: ${path.length > 0 ? `${path.join(".")}: ` : ""}${message}`;
}

function unreadable(problems: readonly string[]): SimulatorError {
  return new SimulatorError("bad_scenario", `The scenario cannot be used:\n${problems.join("\n")}`);
}
