/**
 * Many questions over one WebSocket. The connection is opened with the first question and kept. When it breaks, its
 * questions are asked again on the next one (they only read). Before the token expires a new connection is opened
 * first; the old one is closed when its last answer is in.
 *
 *   idle ── first question ──> connecting ── open ──> current ── token ages ──> current + retiring ──> current
 *                                  ^                     │ lost: its questions wait
 *                                  └────── back-off ─────┘
 */
import { setTimeout as delay } from "node:timers/promises";
import { backoffMs } from "../lib/backoff.ts";
import { type Connection, type ConnectionDeps, openConnection } from "./connection.ts";
import { withinDeadline } from "./deadline.ts";
import { ServiceError } from "./errors.ts";
import { parseFrame } from "./frame.ts";
import type { ProtocolErrorKind } from "./observer.ts";
import type { OutageLog } from "./outage-log.ts";
import { type Open as OpenOn, PendingRequests, read, type SocketRequest } from "./pending-requests.ts";
import { errorPayload } from "./refusal.ts";
import { LOOKED_AT, type ReportDeviation } from "./reporter.ts";
import type { Token, TokenSource } from "./token.ts";

export interface MetricsSocketDeps extends ConnectionDeps {
  readonly tokens: TokenSource;
  readonly report: ReportDeviation;
  readonly random: () => number;
  readonly requestTimeoutMs: number;
  readonly outage: OutageLog;
  /** A connection took the place of an earlier one. */
  readonly onReconnect: () => void;
}

/** A connection with what was asked on it. */
interface Lane {
  readonly token: Token;
  readonly connection: Connection;
  readonly asked: Set<Open>;
  renewal: NodeJS.Timeout | undefined;
  over: boolean;
}

type Open = OpenOn<Lane>;

/** A question whose connection broke that often is given up: it may be the reason. */
const MAX_SENDS = 3;
const MAX_HANDSHAKE_MS = 10_000;
const MIN_RENEWAL_MS = 1000;
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Close codes by which servers say that the token no longer holds (1008 is RFC 6455's "policy"). */
const TOKEN_REFUSED: ReadonlySet<number> = new Set([1008, 4001, 4003, 4401, 4403]);

export class MetricsSocket {
  readonly #deps: MetricsSocketDeps;
  readonly #questions: PendingRequests<Lane>;
  readonly #retiring = new Set<Lane>();
  readonly #closing = new AbortController();
  #current: Lane | undefined;
  #connecting: Promise<void> | undefined;
  #everConnected = false;
  #failures = 0;
  #lastError: ServiceError | undefined;
  /** Not to dial before this moment of `performance.now()`. */
  #notBefore = 0;

  constructor(deps: MetricsSocketDeps) {
    this.#deps = deps;
    this.#questions = new PendingRequests(deps.maxMessageBytes);
  }

  /** The reply's JSON value. Throws ServiceError, or the signal's reason. */
  ask(question: SocketRequest, signal: AbortSignal): Promise<unknown> {
    const { signal: closing } = this.#closing;
    if (closing.aborted || signal.aborted) {
      return Promise.reject(closing.aborted ? closing.reason : signal.reason);
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => open.settle({ error: this.#reasonFor(open, signal) });
      const open = this.#questions.add(question, (settled, answer) => {
        signal.removeEventListener("abort", onAbort);
        this.#questions.retire(settled);
        this.#takeBack(settled);
        if ("value" in answer) resolve(answer.value);
        else reject(answer.error);
      });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#dispatch(open);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new ServiceError("closed", "The client of the service was closed."));
    for (const open of this.#questions.all()) open.settle({ error: this.#closing.signal.reason });
    const lanes = this.#current ? [this.#current, ...this.#retiring] : [...this.#retiring];
    await Promise.all([this.#connecting, ...lanes.map(hangUp)]);
  }

  /** A time-out before anything could be sent is better told by why there was no connection. */
  #reasonFor(open: Open, { reason }: AbortSignal): unknown {
    const waited = reason instanceof ServiceError && reason.code === "timeout" && open.lane === undefined;
    return waited && this.#lastError ? this.#lastError : reason;
  }

  // Asking.

  #dispatch(open: Open): void {
    const lane = this.#current;
    if (!lane) {
      this.#await(open);
      return;
    }
    open.lane = lane;
    open.timesSent += 1;
    lane.asked.add(open);
    lane.connection.send(open.text);
  }

  #await(open: Open): void {
    const hopeless = this.#lastError && !this.#worthWaiting(this.#lastError);
    if (hopeless && this.#pauseMs() > 0) open.settle({ error: this.#lastError });
    else this.#connect();
  }

  #takeBack(open: Open): void {
    const { lane } = open;
    open.lane = undefined;
    open.parts.clear();
    lane?.asked.delete(open);
    if (lane?.asked.size === 0 && this.#retiring.has(lane)) void hangUp(lane);
  }

  #askAgain(open: Open): void {
    this.#takeBack(open);
    if (open.timesSent < MAX_SENDS) {
      this.#dispatch(open);
      return;
    }
    const message = `Route ${open.route}: the connection broke ${MAX_SENDS} times before the answer; if that lasts, lower watch.locations_per_request.`;
    open.settle({ error: new ServiceError("unavailable", message) });
  }

  // Hearing.

  #receive(lane: Lane, data: Buffer): void {
    const frame = parseFrame(data);
    const open = this.#questions.get(frame.id);
    if (open?.lane !== lane) {
      this.#deps.report(this.#questions.stray(frame.id, "bad" in frame), () => beginning(data));
      return;
    }
    const answer = "bad" in frame ? { kind: "bad_frame" as const } : read(open.parts, frame);
    if (!answer) return;
    if ("kind" in answer) this.#broken(open, answer.kind, data);
    else this.#answer(lane, open, answer.value);
  }

  #answer(lane: Lane, open: Open, value: unknown): void {
    this.#failures = 0;
    const error = errorPayload(`Route ${open.route}`, value);
    if (!error) {
      open.settle({ value });
      return;
    }
    this.#deps.report("error_payload", () => value);
    if (error.code === "auth") this.#abandon(lane);
    if (error.code === "auth" && open.timesSent === 1) this.#askAgain(open);
    else open.settle({ error });
  }

  #broken(open: Open, kind: ProtocolErrorKind, data: Buffer): void {
    this.#deps.report(kind, () => beginning(data));
    const message = `The reply on route ${open.route} could not be read (${kind}): lower watch.locations_per_request, or tell the service's operator.`;
    open.settle({ error: new ServiceError("bad_payload", message) });
  }

  // Connections.

  /** The token no longer holds: nothing new is asked here. */
  #abandon(lane: Lane): void {
    this.#deps.tokens.refuse(lane.token);
    if (this.#current === lane) this.#current = undefined;
    this.#retireLane(lane);
  }

  #retireLane(lane: Lane): void {
    clearTimeout(lane.renewal);
    if (lane.over) return;
    this.#retiring.add(lane);
    if (lane.asked.size === 0) void hangUp(lane);
  }

  #lost(lane: Lane, closeCode: number, failure: string | undefined): void {
    const wasCurrent = this.#current === lane;
    lane.over = true;
    clearTimeout(lane.renewal);
    this.#retiring.delete(lane);
    if (wasCurrent) this.#current = undefined;
    if (this.#closing.signal.aborted) return;
    if (TOKEN_REFUSED.has(closeCode)) this.#deps.tokens.refuse(lane.token);
    if (failure === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") this.#deps.report("too_large");
    else if (failure?.startsWith("WS_ERR_")) this.#deps.report("bad_frame", () => failure);
    if (wasCurrent) {
      const message = `The metrics socket was closed (code ${closeCode}): it is opened again.`;
      this.#failed(new ServiceError("unavailable", message));
      this.#connect();
    }
    for (const open of [...lane.asked]) this.#askAgain(open);
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

  /** Whether the next attempt can still help those who wait now. */
  #worthWaiting(error: ServiceError): boolean {
    const passing = error.code === "unavailable" || error.code === "timeout";
    return passing && this.#pauseMs() < this.#deps.requestTimeoutMs;
  }

  /** Opens a connection where there is none, or one `replacing` another; never two at a time. */
  #connect(replacing?: Lane): void {
    if (this.#connecting || this.#closing.signal.aborted) return;
    this.#connecting = this.#keepDialling(replacing).finally(() => {
      this.#connecting = undefined;
      if (!this.#current && this.#questions.waiting().length > 0) this.#connect();
    });
  }

  async #keepDialling(replacing: Lane | undefined): Promise<void> {
    const { signal } = this.#closing;
    do {
      try {
        await delay(this.#pauseMs(), undefined, { signal });
        this.#adopt(await this.#dial(replacing?.token, signal));
        return;
      } catch (thrown) {
        if (signal.aborted) return;
        const error = thrown as ServiceError;
        this.#failed(error);
        if (!this.#worthWaiting(error)) this.#disappoint(error);
      }
    } while (this.#questions.waiting().length > 0 || (replacing && this.#current === replacing));
  }

  #disappoint(error: ServiceError): void {
    for (const open of this.#questions.waiting()) open.settle({ error });
  }

  /** A refused token is replaced once; the second refusal is an answer. */
  #dial(stale: Token | undefined, closing: AbortSignal): Promise<Lane> {
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
    lane = { token, connection, asked: new Set(), renewal: undefined, over: false };
    return lane;
  }

  #adopt(lane: Lane): void {
    if (this.#closing.signal.aborted || lane.over) {
      void hangUp(lane);
      throw new ServiceError("unavailable", "The metrics socket was closed as soon as it was open.");
    }
    const old = this.#current;
    if (this.#everConnected) this.#deps.onReconnect();
    this.#everConnected = true;
    this.#deps.outage.recovered();
    this.#lastError = undefined;
    this.#current = lane;
    this.#scheduleRenewal(lane);
    if (old) this.#retireLane(old);
    for (const open of this.#questions.waiting()) this.#dispatch(open);
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

/** Enough of a message for the log. */
function beginning(data: Buffer): string {
  return data.toString("utf8", 0, LOOKED_AT);
}
