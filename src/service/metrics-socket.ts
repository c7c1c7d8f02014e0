/**
 * All socket requests over one WebSocket. The first request opens the connection, and it stays open. When it breaks,
 * its requests are sent again on the next one (they only read). Before the token expires, a new connection replaces
 * it; the old one closes when its last reply is in.
 *
 *   idle ── first request ──> connecting ── open ──> current ── token ages ──> current + draining ──> current
 *                                 ^                     │ lost: its requests wait
 *                                 └────── backoff ──────┘
 */
import { setTimeout as delay } from "node:timers/promises";
import { backoffMs } from "../lib/backoff.ts";
import { type Connection, type ConnectionDeps, openConnection } from "./connection.ts";
import { withinDeadline } from "./deadline.ts";
import { ServiceError } from "./errors.ts";
import type { ProtocolErrorKind } from "./observer.ts";
import type { OutageLog } from "./outage-log.ts";
import { type PendingRequest, PendingRequests, type SocketRequest } from "./pending-requests.ts";
import { errorPayload } from "./refusal.ts";
import { parseFrame } from "./reply-frames.ts";
import { MAX_EXCERPT, type ReportDeviation } from "./reporter.ts";
import type { Token, TokenSource } from "./token.ts";

interface MetricsSocketDeps extends ConnectionDeps {
  readonly tokens: TokenSource;
  readonly report: ReportDeviation;
  readonly random: () => number;
  readonly requestTimeoutMs: number;
  readonly outage: OutageLog;
  /** A connection replaced an earlier one. */
  readonly onReconnect: () => void;
}

/** A connection with the requests sent on it. */
interface Lane {
  readonly token: Token;
  readonly connection: Connection;
  readonly requests: Set<Pending>;
  renewal: NodeJS.Timeout | undefined;
  over: boolean;
}

type Pending = PendingRequest<Lane>;

/** A request whose connection broke that often fails: it may be the cause. */
const MAX_SENDS = 3;
const MAX_HANDSHAKE_MS = 10_000;
const MIN_RENEWAL_MS = 1000;
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Close codes for a token that is no longer valid (1008 is RFC 6455's "policy"). */
const TOKEN_REFUSED: ReadonlySet<number> = new Set([1008, 4001, 4003, 4401, 4403]);

export class MetricsSocket {
  readonly #deps: MetricsSocketDeps;
  readonly #pending: PendingRequests<Lane>;
  readonly #draining = new Set<Lane>();
  readonly #closing = new AbortController();
  #current: Lane | undefined;
  #connecting: Promise<void> | undefined;
  #wasConnected = false;
  #failures = 0;
  #lastError: ServiceError | undefined;
  /** No attempt before this time of `performance.now()`. */
  #notBefore = 0;

  constructor(deps: MetricsSocketDeps) {
    this.#deps = deps;
    this.#pending = new PendingRequests(deps.maxMessageBytes);
  }

  /** The reply's JSON value. Throws ServiceError, or the signal's reason. */
  ask(asked: SocketRequest, signal: AbortSignal): Promise<unknown> {
    const { signal: closing } = this.#closing;
    if (closing.aborted || signal.aborted) {
      return Promise.reject(closing.aborted ? closing.reason : signal.reason);
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => request.settle({ error: this.#reasonFor(request, signal) });
      const request = this.#pending.add(asked, (settled, answer) => {
        signal.removeEventListener("abort", onAbort);
        this.#pending.remove(settled);
        this.#unassign(settled);
        if ("value" in answer) resolve(answer.value);
        else reject(answer.error);
      });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#dispatch(request);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new ServiceError("closed", "The client of the service was closed."));
    for (const request of this.#pending.all()) request.settle({ error: this.#closing.signal.reason });
    const lanes = this.#current ? [this.#current, ...this.#draining] : [...this.#draining];
    await Promise.all([this.#connecting, ...lanes.map(hangUp)]);
  }

  /** A timeout before anything was sent: why there is no connection is the more useful error. */
  #reasonFor(request: Pending, { reason }: AbortSignal): unknown {
    const waited = reason instanceof ServiceError && reason.code === "timeout" && request.lane === undefined;
    return waited && this.#lastError ? this.#lastError : reason;
  }

  // Sending.

  #dispatch(request: Pending): void {
    const lane = this.#current;
    if (!lane) {
      this.#waitForLane(request);
      return;
    }
    request.lane = lane;
    request.timesSent += 1;
    lane.requests.add(request);
    lane.connection.send(request.text);
  }

  #waitForLane(request: Pending): void {
    const isPointless = this.#lastError && !this.#worthWaiting(this.#lastError);
    if (isPointless && this.#pauseMs() > 0) request.settle({ error: this.#lastError });
    else this.#connect();
  }

  #unassign(request: Pending): void {
    const { lane } = request;
    request.lane = undefined;
    request.parts.clear();
    lane?.requests.delete(request);
    if (lane?.requests.size === 0 && this.#draining.has(lane)) void hangUp(lane);
  }

  #sendAgain(request: Pending): void {
    this.#unassign(request);
    if (request.timesSent < MAX_SENDS) {
      this.#dispatch(request);
      return;
    }
    const message = `Route ${request.route}: the connection broke ${MAX_SENDS} times before the reply: if it persists, lower watch.locations_per_request.`;
    request.settle({ error: new ServiceError("unavailable", message) });
  }

  // Receiving.

  #receive(lane: Lane, data: Buffer): void {
    const frame = parseFrame(data);
    const request = this.#pending.get(frame.id);
    if (request?.lane !== lane) {
      this.#deps.report(this.#pending.unmatched(frame.id, "bad" in frame), () => beginning(data));
      return;
    }
    const answer = "bad" in frame ? { kind: "bad_frame" as const } : request.parts.add(frame);
    if (!answer) return;
    if ("kind" in answer) this.#unreadable(request, answer.kind, data);
    else this.#answer(lane, request, answer.value);
  }

  #answer(lane: Lane, request: Pending, value: unknown): void {
    this.#failures = 0;
    const error = errorPayload(`Route ${request.route}`, value);
    if (!error) {
      request.settle({ value });
      return;
    }
    this.#deps.report("error_payload", () => value);
    if (error.code === "auth") this.#replaceToken(lane);
    if (error.code === "auth" && request.timesSent === 1) this.#sendAgain(request);
    else request.settle({ error });
  }

  #unreadable(request: Pending, kind: ProtocolErrorKind, data: Buffer): void {
    this.#deps.report(kind, () => beginning(data));
    const message = `The reply on route ${request.route} could not be read (${kind}): lower watch.locations_per_request, or report it to the operator of the service.`;
    request.settle({ error: new ServiceError("bad_payload", message) });
  }

  // Connections.

  /** The token is no longer valid: no new request is sent on this connection. */
  #replaceToken(lane: Lane): void {
    this.#deps.tokens.refuse(lane.token);
    if (this.#current === lane) this.#current = undefined;
    this.#drain(lane);
  }

  #drain(lane: Lane): void {
    clearTimeout(lane.renewal);
    if (lane.over) return;
    this.#draining.add(lane);
    if (lane.requests.size === 0) void hangUp(lane);
  }

  #lost(lane: Lane, closeCode: number, failure: string | undefined): void {
    const wasCurrent = this.#current === lane;
    lane.over = true;
    clearTimeout(lane.renewal);
    this.#draining.delete(lane);
    if (wasCurrent) this.#current = undefined;
    if (this.#closing.signal.aborted) return;
    if (TOKEN_REFUSED.has(closeCode)) this.#deps.tokens.refuse(lane.token);
    if (failure === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") this.#deps.report("too_large");
    else if (failure?.startsWith("WS_ERR_")) this.#deps.report("bad_frame", () => failure);
    if (wasCurrent) {
      const message = `The metrics socket was closed (code ${closeCode}): it is reopened.`;
      this.#failed(new ServiceError("unavailable", message));
      this.#connect();
    }
    for (const request of [...lane.requests]) this.#sendAgain(request);
  }

  #failed(error: ServiceError): void {
    this.#deps.outage.failed(error);
    this.#lastError = error;
    this.#failures += 1;
    const policy = { baseMs: 100, capMs: Math.min(10_000, this.#deps.requestTimeoutMs / 4) };
    const waitMs = error.retryAfterMs ?? backoffMs(policy, this.#failures, this.#deps.random);
    this.#notBefore = performance.now() + waitMs;
  }

  #pauseMs(): number {
    return Math.max(0, this.#notBefore - performance.now());
  }

  /** Whether the next attempt may come in time for the requests that wait now. */
  #worthWaiting(error: ServiceError): boolean {
    const passing = error.code === "unavailable" || error.code === "timeout";
    return passing && this.#pauseMs() < this.#deps.requestTimeoutMs;
  }

  /** Opens a connection where there is none, or one `replacing` another; one attempt at a time. */
  #connect(replacing?: Lane): void {
    if (this.#connecting || this.#closing.signal.aborted) return;
    this.#connecting = this.#connectUntilOpen(replacing).finally(() => {
      this.#connecting = undefined;
      if (!this.#current && this.#pending.waiting().length > 0) this.#connect();
    });
  }

  async #connectUntilOpen(replacing: Lane | undefined): Promise<void> {
    const { signal } = this.#closing;
    do {
      try {
        await delay(this.#pauseMs(), undefined, { signal });
        this.#adopt(await this.#openWithToken(replacing?.token, signal));
        return;
      } catch (thrown) {
        if (signal.aborted) return;
        const error = thrown as ServiceError;
        this.#failed(error);
        if (!this.#worthWaiting(error)) this.#failWaiting(error);
      }
    } while (this.#pending.waiting().length > 0 || (replacing && this.#current === replacing));
  }

  #failWaiting(error: ServiceError): void {
    for (const request of this.#pending.waiting()) request.settle({ error });
  }

  /** A refused token is replaced once; a second refusal is an error. */
  #openWithToken(stale: Token | undefined, closing: AbortSignal): Promise<Lane> {
    const ms = Math.min(MAX_HANDSHAKE_MS, this.#deps.requestTimeoutMs);
    const limit = { what: "The metrics socket's handshake", ms, signals: [closing] };
    return withinDeadline(limit, async (signal) => {
      const token = await this.#deps.tokens.get(signal, stale);
      try {
        return await this.#openLane(token, signal);
      } catch (thrown) {
        if (!(thrown instanceof ServiceError) || thrown.code !== "auth") throw thrown;
        this.#deps.tokens.refuse(token);
        return this.#openLane(await this.#deps.tokens.get(signal, token), signal);
      }
    });
  }

  async #openLane(token: Token, signal: AbortSignal): Promise<Lane> {
    let lane: Lane | undefined;
    const events = {
      onMessage: (data: Buffer) => {
        if (lane) this.#receive(lane, data);
      },
      onClose: (code: number, failure: string | undefined) => {
        if (lane) this.#lost(lane, code, failure);
      },
    };
    const connection = await openConnection(this.#deps, token.value, events, signal);
    lane = { token, connection, requests: new Set(), renewal: undefined, over: false };
    return lane;
  }

  #adopt(lane: Lane): void {
    if (this.#closing.signal.aborted || lane.over) {
      void hangUp(lane);
      throw new ServiceError("unavailable", "The metrics socket closed as soon as it was open.");
    }
    const old = this.#current;
    if (this.#wasConnected) this.#deps.onReconnect();
    this.#wasConnected = true;
    this.#deps.outage.recovered();
    this.#lastError = undefined;
    this.#current = lane;
    this.#scheduleRenewal(lane);
    if (old) this.#drain(old);
    for (const request of this.#pending.waiting()) this.#dispatch(request);
  }

  #scheduleRenewal(lane: Lane): void {
    const { renewAt } = lane.token;
    if (renewAt === undefined) return;
    const waitMs = Math.max(MIN_RENEWAL_MS, renewAt - this.#deps.clock.now());
    const renew = () => (waitMs > MAX_TIMER_MS ? this.#scheduleRenewal(lane) : this.#connect(lane));
    lane.renewal = setTimeout(renew, Math.min(waitMs, MAX_TIMER_MS));
  }
}

async function hangUp(lane: Lane): Promise<void> {
  clearTimeout(lane.renewal);
  await lane.connection.close();
}

/** The beginning of a message, for the log. */
function beginning(data: Buffer): string {
  return data.toString("utf8", 0, MAX_EXCERPT);
}
