import { EventEmitter } from "node:events";
import type { Instant } from "../lib/clock.ts";
import type { LedgerEntry } from "./world.ts";

/** A request that has been dealt with, over HTTP or the socket; `endpoint` is a name, never an address. */
export interface RequestEvent {
  readonly transport: "http" | "socket";
  readonly endpoint: string;
  /** HTTP: the status. Socket: `answered`, `error` or `ignored`. */
  readonly outcome: number | "answered" | "error" | "ignored";
  /** The caller's request id, on the socket. */
  readonly id?: string;
  /** The body as parsed; never the token request's. */
  readonly body?: unknown;
  readonly at: Instant;
}

export interface SocketEvent {
  readonly type: "opened" | "refused" | "closed";
  /** Number of the connection, from 1; 0 for one that was refused. */
  readonly connection: number;
  /** Open connections after this event. */
  readonly open: number;
}

export interface FaultEvent {
  readonly type: "set" | "cleared";
  readonly name: string;
}

export interface SimulatorEventMap {
  request: [RequestEvent];
  socket: [SocketEvent];
  change: [LedgerEntry];
  fault: [FaultEvent];
}

/** What happens inside, for tests to wait on: `once(simulator.events, "change")`. */
export type SimulatorEvents = EventEmitter<SimulatorEventMap>;

export function createEvents(): SimulatorEvents {
  return new EventEmitter<SimulatorEventMap>().setMaxListeners(0);
}
