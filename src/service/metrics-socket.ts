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
import type { Closure } from "../lib/web-socket.ts";
import { type ConnectionDeps, openConnection } from "./connection.ts";
import { ServiceError, withinDeadline } from "./errors.ts";
import type { ProtocolErrorKind } from "./model.ts";
import { type Lane, type PendingRequest, PendingRequests } from "./pending-requests.ts";
import type { SocketRequest } from "./queries.ts";
import { errorPayload, quotedReason, statedIn } from "./refusal.ts";
import { decodeParts, parseFrame } from "./reply-frames.ts";
import { MAX_EXCERPT, type OutageLog, type ReportDeviation } from "./reporter.ts";
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

/** A request whose connection broke that often fails: it may be the cause. */
const MAX_SENDS = 3;
const MAX_HANDSHAKE_MS = 10_000;
const MIN_RENEWAL_MS = 1000;
const MAX_TIMER_MS = 2 ** 31 - 1;
/** A token of this age may have expired. */
const FRESH_MS = 60_000;
/** Close codes for a token that is no longer valid (1008 is RFC 6455's "policy"). */
const TOKEN_REFUSED: ReadonlySet<number> = new Set([1008, 4001, 4003, 4401, 4403]);

export class MetricsSocket {
  readonly #deps: MetricsSocketDeps;
  readonly #pending: PendingRequests;
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
    this.#pending = new PendingRequests(deps.limits);
  }

  /** The reply's JSON value. Throws ServiceError, or the signal's reason. */
  async ask(asked: SocketRequest, signal: AbortSignal): Promise<unknown> {
    this.#closing.signal.throwIfAborted();
    signal.throwIfAborted();
    const request = this.#pending.add(asked);
    const onAbort = () => this.#fail(request, this.#reasonFor(request, signal));
    signal.addEventListener("abort", onAbort, { once: true });
    this.#dispatch(request);
    return request.reply.promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  async close(): Promise<void> {
    this.#closing.abort(new ServiceError("closed", "The client of the service was closed."));
    for (const request of this.#pending.all()) this.#fail(request, this.#closing.signal.reason);
    const lanes = [...(this.#current ? [this.#current] : []), ...this.#draining];
    await Promise.all([this.#connecting, ...lanes.map(hangUp)]);
  }

  #fail(request: PendingRequest, reason: unknown): void {
    this.#forget(request);
    request.reply.reject(reason);
  }

  #forget(request: PendingRequest): void {
    this.#pending.remove(request);
    this.#unassign(request);
  }

  /** A timeout before anything was sent: why there is no connection is the more useful error. */
  #reasonFor(request: PendingRequest, { reason }: AbortSignal): unknown {
    const isUnsent = reason instanceof ServiceError && reason.code === "timeout" && request.lane === undefined;
    return (isUnsent && this.#lastError) || reason;
  }

  // Sending.

  #dispatch(request: PendingRequest): void {
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

  #waitForLane(request: PendingRequest): void {
    const isPointless = this.#lastError && !this.#worthWaiting(this.#lastError);
    if (isPointless && this.#pauseMs() > 0) this.#fail(request, this.#lastError);
    else this.#connect();
  }

  #unassign(request: PendingRequest): void {
    const { lane } = request;
    request.lane = undefined;
    request.parts.clear();
    lane?.requests.delete(request);
    if (lane?.requests.size === 0 && this.#draining.has(lane)) void hangUp(lane);
  }

  #sendAgain(request: PendingRequest): void {
    this.#unassign(request);
    if (request.timesSent < MAX_SENDS) {
      this.#dispatch(request);
      return;
    }
    const message = `Route ${request.route}: the connection broke ${MAX_SENDS} times before the reply: if it persists, lower watch.locations_per_request.`;
    this.#fail(request, new ServiceError("unavailable", message));
  }

  // Receiving.

  #receive(lane: Lane, data: Buffer): void {
    const frame = parseFrame(data);
    const request = this.#pending.get(frame.id);
    if (request?.lane !== lane) {
      this.#deps.report(this.#pending.unmatched(frame.id, "bad" in frame), () => beginning(data));
      this.#onUnmatched(lane, data);
      return;
    }
    const answer = "bad" in frame ? { kind: "bad_frame" as const } : request.parts.add(frame);
    if (!answer) return;
    if ("kind" in answer) this.#unreadable(request, answer.kind, data);
    else this.#answer(lane, request, answer.value);
  }

  #answer(lane: Lane, request: PendingRequest, value: unknown): void {
    this.#failures = 0;
    const error = errorPayload(`Route ${request.route}`, value, this.#deps.redactor);
    if (!error) {
      this.#forget(request);
      request.reply.resolve(value);
      return;
    }
    this.#deps.report("error_payload", () => value);
    if (this.#isTokenRefused(lane, error)) this.#refused(lane, [request], error);
    else this.#fail(request, error);
  }

  /** A new token does not help where a fresh one is not permitted. */
  #isTokenRefused({ openedAt }: Lane, { status }: ServiceError): boolean {
    return status === 401 || (status === 403 && this.#deps.clock.now() - openedAt > FRESH_MS);
  }

  /** Each is asked once more, with a new token. */
  #refused(lane: Lane, requests: readonly PendingRequest[], error: ServiceError): void {
    this.#replaceToken(lane);
    for (const request of requests) {
      if (request.timesSent === 1) this.#sendAgain(request);
      else this.#fail(request, error);
    }
  }

  /** A refused token that is stated without the id of a request concerns all of the connection. */
  #onUnmatched(lane: Lane, data: Buffer): void {
    if (data.length > MAX_EXCERPT) return;
    const decoded = decodeParts([data.subarray(data.indexOf("{"))], MAX_EXCERPT);
    const error = "value" in decoded && errorPayload("The metrics socket", decoded.value, this.#deps.redactor);
    if (error && error.status === 401) this.#refused(lane, [...lane.requests], error);
  }

  #unreadable(request: PendingRequest, kind: ProtocolErrorKind, data: Buffer): void {
    this.#deps.report(kind, () => beginning(data));
    const message = `The reply on route ${request.route} could not be read (${kind}): where it is about several locations, lower watch.locations_per_request; else report it to the operator of the service.`;
    this.#fail(request, new ServiceError("bad_payload", message));
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

  #lost(lane: Lane, { code, reason, failure }: Closure): void {
    const wasCurrent = this.#current === lane;
    lane.over = true;
    clearTimeout(lane.renewal);
    this.#draining.delete(lane);
    if (wasCurrent) this.#current = undefined;
    if (this.#closing.signal.aborted) return;
    if (TOKEN_REFUSED.has(code)) this.#deps.tokens.refuse(lane.token);
    if (failure === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") this.#deps.report("too_large");
    else if (failure?.startsWith("WS_ERR_")) this.#deps.report("bad_frame", () => failure);
    if (wasCurrent) {
      const why = quotedReason(statedIn(reason, this.#deps.redactor).reason);
      const message = `The metrics socket was closed (code ${code})${why}: it is reopened.`;
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

  /** The next attempt may come in time for the requests that wait now. */
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
        if (this.#worthWaiting(error)) continue;
        for (const request of this.#pending.waiting()) this.#fail(request, error);
      }
    } while (this.#pending.waiting().length > 0 || (replacing && this.#current === replacing));
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
      onMessage: (data: Buffer) => lane && this.#receive(lane, data),
      onClose: (closure: Closure) => lane && this.#lost(lane, closure),
    };
    const connection = await openConnection(this.#deps, token.value, events, signal);
    const openedAt = this.#deps.clock.now();
    lane = { token, connection, openedAt, requests: new Set(), renewal: undefined, over: false };
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

function beginning(data: Buffer): string {
  return data.toString("utf8", 0, MAX_EXCERPT);
}
