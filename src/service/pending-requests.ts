/** Requests over the socket that wait for their reply, whichever connection they are sent on. */

import { randomUUID } from "node:crypto";
import type { Instant } from "../lib/clock.ts";
import type { Connection } from "../lib/web-socket.ts";
import type { ProtocolErrorKind } from "./model.ts";
import type { SocketRequest } from "./queries.ts";
import { type ByteBudget, PartCollector } from "./reply-frames.ts";
import { limitsOfRequest, type ReplyLimits } from "./reply-size.ts";
import type { Token } from "./token.ts";

/** A connection with the requests sent on it. */
export interface Lane {
  readonly token: Token;
  readonly connection: Connection;
  readonly openedAt: Instant;
  readonly requests: Set<PendingRequest>;
  renewal: NodeJS.Timeout | undefined;
  over: boolean;
}

/** A request that is sent on a connection, or waits for one. */
export interface PendingRequest {
  readonly id: string;
  readonly route: string;
  /** The message as sent. */
  readonly text: string;
  readonly parts: PartCollector;
  readonly reply: PromiseWithResolvers<unknown>;
  lane: Lane | undefined;
  timesSent: number;
}

/** Ids of settled requests that are stored, to tell a late reply from an unknown one. */
const MAX_SETTLED = 4096;

export class PendingRequests {
  readonly #pending = new Map<string, PendingRequest>();
  readonly #settled = new Set<string>();
  readonly #budget: ByteBudget;
  readonly #limits: ReplyLimits;

  /** `limits` are those of any reply, and `bytes` that of all incomplete replies together. */
  constructor(limits: ReplyLimits) {
    this.#limits = limits;
    this.#budget = { used: 0, max: limits.bytes };
  }

  add({ action, route, body, read }: SocketRequest): PendingRequest {
    const id = randomUUID();
    const request: PendingRequest = {
      id,
      route,
      text: JSON.stringify({ action, data: { id, route, body } }),
      parts: new PartCollector(this.#budget, limitsOfRequest(this.#limits, body), read),
      reply: Promise.withResolvers(),
      lane: undefined,
      timesSent: 0,
    };
    this.#pending.set(id, request);
    return request;
  }

  get(id: string | undefined): PendingRequest | undefined {
    return id === undefined ? undefined : this.#pending.get(id);
  }

  all(): PendingRequest[] {
    return [...this.#pending.values()];
  }

  /** Requests without a connection. */
  waiting(): PendingRequest[] {
    return this.all().filter(({ lane }) => lane === undefined);
  }

  remove({ id }: PendingRequest): void {
    this.#pending.delete(id);
    this.#settled.add(id);
    const [oldest] = this.#settled;
    if (oldest !== undefined && this.#settled.size > MAX_SETTLED) this.#settled.delete(oldest);
  }

  /** The kind by which a frame is counted that replies to no pending request. */
  unmatched(id: string | undefined, bad: boolean): ProtocolErrorKind {
    if (id !== undefined && this.#settled.has(id)) return "late_reply";
    return bad ? "bad_frame" : "unknown_id";
  }
}
