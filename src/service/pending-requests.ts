/**
 * The questions asked over the socket that still wait for their answers, told apart by ids no one can guess.
 * A question lives here until it is answered or given up, whatever happens to connections.
 */
import { randomUUID } from "node:crypto";
import type { Frame } from "./frame.ts";
import type { ProtocolErrorKind } from "./observer.ts";
import { type ByteBudget, decodeParts, PartCollector } from "./parts.ts";

export interface SocketRequest {
  readonly action: "metric" | "detail" | "status";
  readonly route: string;
  readonly body: unknown;
}

export type Answer = { readonly value: unknown } | { readonly error: unknown };

/** A question that is open on a connection of type `Lane`, or waits for one. */
export interface Open<Lane> {
  readonly id: string;
  readonly route: string;
  /** The message that asks it. */
  readonly text: string;
  readonly parts: PartCollector;
  readonly settle: (answer: Answer) => void;
  lane: Lane | undefined;
  timesSent: number;
}

/** Ids kept to tell a late reply from a stray one. */
const MAX_RETIRED = 4096;

export class PendingRequests<Lane> {
  readonly #open = new Map<string, Open<Lane>>();
  readonly #retired = new Set<string>();
  readonly #budget: ByteBudget;

  /** `maxBytes` bounds what unfinished replies hold, all together. */
  constructor(maxBytes: number) {
    this.#budget = { held: 0, max: maxBytes };
  }

  add(question: SocketRequest, settle: (open: Open<Lane>, answer: Answer) => void): Open<Lane> {
    const id = randomUUID();
    const { action, route, body } = question;
    const open: Open<Lane> = {
      id,
      route,
      text: JSON.stringify({ action, data: { id, route, body } }),
      parts: new PartCollector(this.#budget),
      settle: (answer) => settle(open, answer),
      lane: undefined,
      timesSent: 0,
    };
    this.#open.set(id, open);
    return open;
  }

  get(id: string | undefined): Open<Lane> | undefined {
    return id === undefined ? undefined : this.#open.get(id);
  }

  all(): Open<Lane>[] {
    return [...this.#open.values()];
  }

  /** Those without a connection. */
  waiting(): Open<Lane>[] {
    return this.all().filter((open) => open.lane === undefined);
  }

  retire(open: Open<Lane>): void {
    this.#open.delete(open.id);
    this.#retired.add(open.id);
    const [oldest] = this.#retired;
    if (oldest !== undefined && this.#retired.size > MAX_RETIRED) this.#retired.delete(oldest);
  }

  /** What a frame is that answers no open question. */
  stray(id: string | undefined, bad: boolean): ProtocolErrorKind {
    if (id !== undefined && this.#retired.has(id)) return "late_reply";
    return bad ? "bad_frame" : "unknown_id";
  }
}

/** The answer once its last part is there; undefined while parts are missing. */
export function read(
  parts: PartCollector,
  frame: Frame,
): { readonly value: unknown } | { readonly kind: ProtocolErrorKind } | undefined {
  const collected = parts.add(frame);
  if (collected.state === "broken") return { kind: collected.kind };
  return collected.state === "waiting" ? undefined : decodeParts(collected.parts);
}
