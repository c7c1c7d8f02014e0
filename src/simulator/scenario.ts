/**
 * A scripted day, as YAML: what happens when, counted from the simulator's start.
 *
 *   events:
 *     - { at: 10s, location: Leeds Briggate, status: offline, for: 90s }
 *     - { at: 20s, recording: L3/2, quality: 0.4, for: 5m, repeat: { every: 10m, times: 3 } }
 *     - { at: -5h, recording: L1/1, sees: 0, for: 8h }       # before the start; or freeze: true, ghosts: 20, turned: true
 *     - { at: 2m, fault: http_error, status: 503, for: 20s }
 *     - { at: 3m, location: L1, add_recording: Back Door }
 *     - { at: 4m, add_location: York Coney Street, timezone: Europe/London, recordings: 2 }
 *     - { at: 5m, recording: L3/2, rename: Front Door }       # or: remove: true
 *
 * A location is named by id, name or place (`L3`, or "#3" in quotes), a recording likewise (`L3/2`).
 */
import { type Document, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { parseDuration } from "../lib/duration.ts";
import { toError } from "../lib/errors.ts";
import { changeKindOf, changeShapes, NO_DURATION, scenarioTime } from "./change.ts";
import { SimulatorError } from "./errors.ts";
import { parseFault } from "./faults.ts";
import { Traits } from "./traits.ts";
import { Visits } from "./visits/parameters.ts";

const duration = z.string(NO_DURATION).transform(parseDuration).pipe(z.number(NO_DURATION));
const longer = duration.refine((ms) => ms > 0, "must be more than 0s");
const when = {
  at: scenarioTime,
  repeat: z.strictObject({ every: longer, times: z.int().min(2).max(10_000) }).optional(),
};
const lasting = { ...when, for: longer.optional() };
const { status, quality, sees, freeze, ghosts, turned, schedule, remove, rename, add_recording, add_location } =
  changeShapes;
const shapes = {
  fault: z.looseObject({ ...lasting, fault: z.string() }),
  clear_faults: z.strictObject({ ...when, clear_faults: z.literal(true) }),
  status: status.safeExtend(lasting),
  quality: quality.safeExtend(lasting),
  sees: sees.safeExtend(lasting),
  freeze: freeze.safeExtend(lasting),
  ghosts: ghosts.safeExtend(lasting),
  turned: turned.safeExtend(lasting),
  schedule: schedule.safeExtend(when),
  remove: remove.safeExtend(when),
  rename: rename.safeExtend(when),
  add_recording: add_recording.safeExtend(when),
  add_location: add_location.safeExtend(when),
} as const;

type Kind = keyof typeof shapes;
/** One event; `kind` says what it does. Times in ms after the start. `line` is where it stands in its file. */
export type ScenarioEvent = {
  [K in Kind]: { readonly kind: K; readonly line?: number } & Readonly<z.output<(typeof shapes)[K]>>;
}[Kind];

export interface Scenario {
  /** The traits of the service. */
  readonly traits?: Traits | undefined;
  /** The people who come. */
  readonly visits?: Visits | undefined;
  readonly events: readonly ScenarioEvent[];
}

const Event = z.looseObject({}).transform((event, context): ScenarioEvent => {
  const kind = kindOf(event);
  const problem = (message: string, path: PropertyKey[] = []) => context.addIssue({ code: "custom", path, message });
  const parsed = kind && shapes[kind].safeParse(event);
  if (!parsed) problem(`an event needs one of ${Object.keys(shapes).join(", ")}`);
  for (const { path, message } of parsed?.error?.issues ?? []) problem(message, path);
  if (!parsed?.success) return z.NEVER;
  const result = { ...parsed.data, kind } as ScenarioEvent;
  if (result.kind !== "fault") return result;
  try {
    parseFault(result.fault, faultParams(result));
  } catch (thrown) {
    problem(toError(thrown).message, ["fault"]);
  }
  return result;
});
const File = z.strictObject({
  traits: Traits.optional(),
  visits: Visits.optional(),
  events: z.array(Event).default([]),
});

/** A fault first: its own parameters may be called `status`. */
function kindOf(event: object): Kind | undefined {
  if (Object.hasOwn(event, "fault")) return "fault";
  return Object.hasOwn(event, "clear_faults") ? "clear_faults" : changeKindOf(event);
}

/** The parameters of a fault event: everything but its times and its name. */
export function faultParams(event: Extract<ScenarioEvent, { kind: "fault" }>): Record<string, unknown> {
  const { kind: _, line: _line, at: _at, for: _for, repeat: _repeat, fault: _fault, ...params } = event;
  return params;
}

/** Reads a scenario. Throws SimulatorError `bad_scenario` that lists every problem as `file:line:column`. */
export function parseScenario(text: string, file = "scenario"): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const place = (offset: number) => `${file}:${Object.values(lines.linePos(offset)).join(":")}`;
  const unread = document.errors.map(({ pos, message }) => `${place(pos[0])}: ${message.split("\n")[0]}`);
  if (unread.length > 0) throw unusable(unread);
  const parsed = File.safeParse(plain(document));
  if (parsed.success) {
    const lineOf = (i: number) => lines.linePos(offsetOf(document, ["events", i])).line;
    return { ...parsed.data, events: parsed.data.events.map((event, i) => ({ ...event, line: lineOf(i) })) };
  }
  throw unusable(
    parsed.error.issues.map(({ path, message }) =>
      [place(offsetOf(document, path)), ...(path.length > 0 ? [path.join(".")] : []), inWords(message)].join(": "),
    ),
  );
}

/** A message of zod's in the words of configuration problems. */
function inWords(message: string): string {
  const said = message.replace(/Invalid (?:input|option): /g, "").replace(/, received /g, ", found ");
  return said.replace(/Unrecognized key(s?): /g, "unknown key$1 ");
}

/** The document as plain values. Aliases that would unfold without end are a problem of the file. */
function plain(document: Document): unknown {
  try {
    return document.toJS();
  } catch (thrown) {
    throw unusable([toError(thrown).message]);
  }
}

/** Offset of the value at a path, or of the nearest parent that is there. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  const node = document.getIn(path, true) as { range?: readonly number[] } | undefined;
  return node?.range?.[0] ?? (path.length > 0 ? offsetOf(document, path.slice(0, -1)) : 0);
}

function unusable(problems: readonly string[]): SimulatorError {
  return new SimulatorError("bad_scenario", `The scenario cannot be used:\n${problems.join("\n")}`);
}
