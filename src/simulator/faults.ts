/** The faults that are on. The handlers ask `take` at the place each one bites. */
import { SimulatorError } from "./errors.ts";
import type { SimulatorEvents } from "./events.ts";
import {
  type Endpoint,
  type FaultInput,
  type FaultName,
  type FaultParams,
  faultKinds,
  isFaultName,
} from "./fault-kinds.ts";
import { issuesText } from "./problems.ts";

export interface Faults {
  /** Switches a fault on, replacing one of the same name. Throws SimulatorError `bad_fault`. */
  set<N extends FaultName>(name: N, ...params: SetArguments<N>): void;
  /** The same for a name and parameters that come from outside. */
  setUntyped(name: string, params: unknown): void;
  clear(name: FaultName): void;
  clearAll(): void;
  /** What is on, with parameters. */
  active(): Readonly<Partial<Record<FaultName, unknown>>>;
  /** The fault's parameters where it is on and meant for this endpoint; counts as one hit. */
  take<N extends FaultName>(name: N, endpoint?: Endpoint): FaultParams<N> | undefined;
}

/** Parameters may be left out where the fault needs none. */
type SetArguments<N extends FaultName> =
  Record<never, never> extends FaultInput<N> ? [params?: FaultInput<N>] : [params: FaultInput<N>];

interface Active {
  readonly params: object;
  hitsLeft: number;
}

/** Parses a fault's parameters. Throws SimulatorError `bad_fault` naming the parameter. */
export function parseFault(name: string, params: unknown): { name: FaultName; params: object } {
  if (!isFaultName(name)) {
    const known = Object.keys(faultKinds).join(", ");
    throw new SimulatorError("bad_fault", `There is no fault "${name}"; the faults are ${known}.`);
  }
  const parsed = faultKinds[name].safeParse(params ?? {});
  if (parsed.success) return { name, params: parsed.data };
  throw new SimulatorError("bad_fault", `The fault ${name} cannot be set: ${issuesText(parsed.error)}.`);
}

export function createFaults(events: SimulatorEvents): Faults {
  const on = new Map<FaultName, Active>();

  function setUntyped(name: string, params: unknown): void {
    const parsed = parseFault(name, params);
    const { times } = parsed.params as { times?: number };
    on.set(parsed.name, { params: parsed.params, hitsLeft: times ?? Number.POSITIVE_INFINITY });
    events.emit("fault", { type: "set", name });
  }
  function clear(name: FaultName): void {
    if (on.delete(name)) events.emit("fault", { type: "cleared", name });
  }

  return {
    set: (name, ...params) => setUntyped(name, params[0]),
    setUntyped,
    clear,
    clearAll() {
      for (const name of [...on.keys()]) clear(name);
    },
    active: () => Object.fromEntries([...on].map(([name, { params }]) => [name, params])),
    take<N extends FaultName>(name: N, endpoint?: Endpoint) {
      const active = on.get(name);
      if (!active || !isMeantFor(active.params, endpoint)) return undefined;
      active.hitsLeft -= 1;
      if (active.hitsLeft <= 0) clear(name);
      return active.params as FaultParams<N>;
    },
  };
}

function isMeantFor(params: object, endpoint: Endpoint | undefined): boolean {
  const { endpoint: one, route = one } = params as {
    endpoint?: string | string[];
    route?: string | string[];
  };
  return route === undefined || (endpoint !== undefined && [route].flat().includes(endpoint));
}
