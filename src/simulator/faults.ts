/** Every fault with its parameters, as a scenario file and the control interface take them, and those switched on. */
import { z } from "zod";
import { parsed, SimulatorError } from "./errors.ts";
import type { SimulatorEvents } from "./world.ts";

/** The faults that are on. */
export class Faults {
  readonly #on = new Map<string, { readonly params: object; hitsLeft: number }>();
  readonly #events: SimulatorEvents;

  constructor(events: SimulatorEvents) {
    this.#events = events;
  }

  /** Switches a fault on, replacing one of the same name. Throws SimulatorError `bad_fault`. */
  set(name: string, given?: unknown): void {
    const params = parseFault(name, given);
    this.#on.set(name, { params, hitsLeft: params.times ?? Number.POSITIVE_INFINITY });
    this.#events.emit("fault", { type: "set", name });
  }

  clear(name: string): void {
    if (this.#on.delete(name)) this.#events.emit("fault", { type: "cleared", name });
  }

  clearAll(): void {
    for (const name of [...this.#on.keys()]) this.clear(name);
  }

  /** The faults that are on, with parameters. */
  active(): Readonly<Partial<Record<FaultName, unknown>>> {
    return Object.fromEntries([...this.#on].map(([name, { params }]) => [name, params]));
  }

  /** The fault's parameters where it is on and meant for this endpoint; counts as one hit. */
  take<N extends FaultName>(name: N, endpoint?: HttpEndpoint | SocketRoute): FaultParams<N> | undefined {
    const active = this.#on.get(name);
    if (!active || !isMeantFor(active.params, endpoint)) return undefined;
    active.hitsLeft -= 1;
    if (active.hitsLeft <= 0) this.clear(name);
    return active.params as FaultParams<N>;
  }
}

/** Parses a fault's parameters. Throws SimulatorError `bad_fault` naming the parameter. */
export function parseFault(name: string, params: unknown): { times?: number | undefined } {
  if (!Object.hasOwn(faultKinds, name)) {
    const known = Object.keys(faultKinds).join(", ");
    throw new SimulatorError("bad_fault", `There is no fault "${name}"; the faults are ${known}.`);
  }
  return parsed<object>(faultKinds[name as FaultName], params ?? {}, "bad_fault", `The fault ${name} cannot be set`);
}

function isMeantFor(params: object, endpoint: string | undefined): boolean {
  const { endpoint: one, route = one } = params as { endpoint?: string | string[]; route?: string | string[] };
  return route === undefined || (endpoint !== undefined && [route].flat().includes(endpoint));
}

const httpEndpoints = ["token", "status", "location_list", "uptime", "uptimes", "upgrade"] as const;
export type HttpEndpoint = (typeof httpEndpoints)[number];

export const socketRoutes = [
  "entries",
  "area/data",
  "average-dwell-time",
  "transactions/conversion-rate",
  "detail/list",
  "status/uptime",
] as const;
export type SocketRoute = (typeof socketRoutes)[number];

const oneOrMany = <T extends z.ZodType>(item: T) => z.union([item, z.array(item)]);
const times = z.int().positive().optional();
const ms = z.number().nonnegative();
const httpEndpoint = oneOrMany(z.enum(httpEndpoints)).optional();
const endpoint = oneOrMany(z.enum([...httpEndpoints, ...socketRoutes])).optional();
const route = oneOrMany(z.enum(socketRoutes)).optional();
const retryAfter = z.union([z.number().nonnegative(), z.string()]);
const httpStatus = z.int().min(400).max(599);
const always = z.strictObject({ times });
const someRows = { every: z.int().positive().default(1), recordings: z.array(z.string()).optional(), times };

const faultKinds = {
  /** An HTTP status instead of an answer; `endpoint` absent: all of HTTP, the socket's upgrade included. */
  http_error: z.strictObject({
    status: httpStatus.default(503),
    endpoint: httpEndpoint,
    retry_after: retryAfter.optional(),
    times,
  }),
  /** 429 with `Retry-After`: seconds, or any text (a date). */
  rate_limited: z.strictObject({ retry_after: retryAfter.default(5), endpoint: httpEndpoint, times }),
  /** The connection is cut instead of an answer. */
  connection_reset: z.strictObject({ endpoint: httpEndpoint, times }),
  /** Answers come later; over HTTP and the socket. */
  slow: z.strictObject({ ms, endpoint, times }),
  /** The issuer refuses right credentials. */
  token_refused: z.strictObject({ status: httpStatus.default(401), times }),
  /** The token reply has no `expires_in`. */
  no_expires_in: always,
  /** Good tokens are answered 401, by the Core API and at the upgrade. */
  unauthorized: z.strictObject({ endpoint: httpEndpoint, times }),
  /** Open sockets are cut when it is set, and each later one at its next request. */
  drop_sockets: z.strictObject({ code: z.int().min(1000).max(4999).optional(), times }),
  /** Sockets open and read, and nothing leaves any more: no reply, no pong, no close. Cleared: they are cut. */
  half_open: z.strictObject({}),
  /** A frame nobody can read instead of the reply. */
  garbage_frames: z.strictObject({
    kind: z.enum(["no_pipes", "bad_json", "unknown_id", "bad_numbers"]).default("no_pipes"),
    route,
    times,
  }),
  /** Replies in several frames: fragments of the text, or JSON arrays of their own (arrays only). */
  multi_part: z.strictObject({
    parts: z.int().min(2).max(1000).default(3),
    base: z.union([z.literal(0), z.literal(1)]).default(1),
    split: z.enum(["text", "arrays"]).default("text"),
    reversed: z.boolean().default(false),
    lose_last: z.boolean().default(false),
    route,
    times,
  }),
  /** Each frame is sent so many times. */
  duplicate_frames: z.strictObject({ copies: z.int().min(2).max(10).default(2), route, times }),
  /** An object with `error` or `errors` instead of the payload. */
  error_payload: z.strictObject({
    key: z.enum(["error", "errors"]).default("error"),
    /** A word such as `token_expired`, written as `error_codes` says. */
    code: z.string().optional(),
    message: z.string().default("internal error"),
    endpoint,
    times,
  }),
  /** The request is read and never answered. */
  no_reply: z.strictObject({ route, times }),
  missing_rows: z.strictObject(someRows),
  /** A field holds another type; `row`: the row itself does. Absent: each in turn. */
  wrong_types: z.strictObject({
    ...someRows,
    field: z.enum(["recording_id", "location_id", "status", "last_seen_utc", "average_quality", "row"]).optional(),
  }),
  unknown_status: z.strictObject({ ...someRows, status: z.string().default("maintenance") }),
  /** `status/uptime` answers an empty array. */
  empty_snapshot: always,
} as const;

export type FaultName = keyof typeof faultKinds;
export type FaultInput<N extends FaultName> = z.input<(typeof faultKinds)[N]>;
export type FaultParams<N extends FaultName> = z.output<(typeof faultKinds)[N]>;
