/**
 * Slack's Socket Mode: presses over a WebSocket that lenswatch opens, which needs no public port.
 * Slack replaces a connection every few hours, after a warning: the next one is greeted before the last one closes.
 * Slack sends an envelope again that is not acknowledged in 3 s, maybe to another replica.
 */
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { unlessAborted } from "../../lib/abort.ts";
import { backoffMs } from "../../lib/backoff.ts";
import { toError } from "../../lib/errors.ts";
import { type ProxySettings, readProxyEnv } from "../../lib/http-client.ts";
import type { Logger } from "../../lib/log.ts";
import { type Closure, type Connection, openWebSocket } from "../../lib/web-socket.ts";
import { NotifyError } from "../notifier.ts";
import { readSocketMessage, type SlackEnvelope } from "./envelope.ts";

interface SlackSocketDeps {
  /** The address of a new connection, for one use. Throws NotifyError. */
  open(signal: AbortSignal): Promise<string>;
  /** Acts on an envelope that Slack sent for this app, maybe twice. */
  act(envelope: SlackEnvelope, appId: string | undefined): Promise<void>;
  /** True if there is a connection that Slack has greeted. */
  connected(isConnected: boolean): void;
  readonly log: Logger;
  readonly random?: () => number;
  readonly proxy?: ProxySettings;
  readonly times?: Partial<typeof TIMES>;
}

const TIMES = {
  /** From asking for an address until Slack's greeting. */
  helloMs: 10_000,
  pingIntervalMs: 10_000,
  /** A connection that lasted less counts as a failure: Slack's last for hours. */
  shortMs: 30_000,
  /** The first wait and the longest; the wait after a refusal that needs a person. */
  baseMs: 1_000,
  capMs: 60_000,
  refusedMs: 300_000,
  /** An envelope is acknowledged at the latest, though it is still being acted on. */
  ackMs: 2_000,
};

/** A press holds the whole message it was made in. */
const MAX_BYTES = 1 << 20;
/** More are left to Slack, which sends them again. */
const MOST_AT_ONCE = 50;
const REMEMBERED = 500;

interface Lane {
  readonly connection: Connection;
  readonly openedAt: number;
  /** Resolves when Slack closes it, or says that it will: with why. */
  readonly ending: PromiseWithResolvers<string>;
}

export class SlackSocket {
  readonly #deps: SlackSocketDeps;
  readonly #times: typeof TIMES;
  readonly #closing = new AbortController();
  readonly #open = new Set<Lane["ending"]>();
  readonly #acting = new Set<Promise<unknown>>();
  readonly #seen = new Set<string>();
  readonly #running: Promise<void>;
  #failures = 0;
  #isTroubled = false;

  /** Connects until it is closed; nothing is thrown. */
  constructor(deps: SlackSocketDeps) {
    this.#deps = deps;
    this.#times = { ...TIMES, ...deps.times };
    this.#report();
    this.#running = this.#run();
  }

  /** Takes nothing new; resolves when what was being acted on is done, or after two seconds. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("closed"));
    for (const ending of this.#open) ending.resolve("closed");
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let last: Lane | undefined;
    while (!signal.aborted) {
      try {
        const lane = await this.#connect();
        void last?.connection.close();
        last = lane;
        this.#greeted();
        const why = await lane.ending.promise;
        if (performance.now() - lane.openedAt > this.#times.shortMs) this.#failures = 0;
        else await this.#failed(new Error(`Slack ended the connection at once (${why}).`));
      } catch (thrown) {
        await this.#failed(thrown);
      }
    }
    await Promise.race([Promise.all(this.#acting), delay(this.#times.ackMs, undefined, { ref: false })]);
    await last?.connection.close();
  }

  #greeted(): void {
    if (this.#isTroubled) this.#deps.log.info("Slack's buttons work again");
    this.#isTroubled = false;
    this.#report();
  }

  /** Logs the first failure of a row, and waits. */
  async #failed(thrown: unknown): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    this.#failures += 1;
    // A connection that is about to be replaced still works.
    if (!this.#isTroubled && this.#open.size === 0) {
      this.#deps.log.warn({ err: toError(thrown) }, "Slack's buttons do not work, reconnecting");
      this.#isTroubled = true;
    }
    const { code, retryAfterMs = 0 } = thrown instanceof NotifyError ? thrown : {};
    const { baseMs, capMs, refusedMs } = this.#times;
    const waitMs = code !== "auth" ? backoffMs({ baseMs, capMs }, this.#failures, this.#deps.random) : refusedMs;
    await delay(Math.max(waitMs, retryAfterMs), undefined, { signal }).catch(() => {});
  }

  async #connect(): Promise<Lane> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#times.helloMs)]);
    const url = new URL(await this.#deps.open(signal));
    const [hello, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    let connection: Connection | undefined;
    let appId: string | undefined;
    const onMessage = (data: Buffer) => {
      const message = readSocketMessage(data);
      if (message?.type === "hello") {
        appId = message.connection_info?.app_id;
        this.#open.add(ending);
        hello.resolve();
      } else if (message?.type === "disconnect") ending.resolve(message.reason);
      else if (message && connection) this.#receive(message, connection, appId);
    };
    const onClose = ({ code, reason }: Closure) => {
      ending.resolve(`closed, code ${code}${reason && ": "}${reason.slice(0, 100)}`);
      hello.reject(new Error("Slack closed the connection before its greeting."));
      this.#open.delete(ending);
      this.#report();
    };
    hello.promise.catch(() => {});
    connection = await openWebSocket(url, this.#options(url), { onMessage, onClose }, signal);
    try {
      await unlessAborted(hello.promise, signal);
    } catch (thrown) {
      await connection.close();
      throw thrown;
    }
    return { connection, openedAt: performance.now(), ending };
  }

  #options({ host }: URL) {
    const error = (what: string) =>
      new NotifyError("network", `Slack's socket at ${host} ${what}: check the network and the proxy settings.`, {
        retryable: true,
        scope: "endpoint",
      });
    return {
      proxy: this.#deps.proxy ?? readProxyEnv(process.env),
      pingIntervalMs: this.#times.pingIntervalMs,
      maxBytes: MAX_BYTES,
      unreachable: ({ code, name }: Error & { code?: string }) => error(`could not be reached (${code ?? name})`),
      async refused(response: IncomingMessage) {
        response.destroy();
        return error(`refused the connection (${response.statusCode})`);
      },
    };
  }

  #receive(message: SlackEnvelope | { type: "other"; envelope_id: string }, lane: Connection, appId?: string): void {
    if (this.#closing.signal.aborted || this.#acting.size >= MOST_AT_ONCE) return;
    const { envelope_id } = message;
    const acknowledge = () => lane.send(JSON.stringify({ envelope_id }));
    if (message.type === "other" || this.#seen.has(envelope_id)) {
      acknowledge();
      return;
    }
    this.#seen.add(envelope_id);
    const [oldest = ""] = this.#seen;
    if (this.#seen.size > REMEMBERED) this.#seen.delete(oldest);
    const work = this.#act(message, appId, acknowledge).catch((thrown: unknown) => {
      this.#deps.log.warn({ err: toError(thrown) }, "a button of Slack could not be acted on");
    });
    this.#acting.add(work);
    void work.finally(() => this.#acting.delete(work));
  }

  /** Acknowledges what is done, and in time what takes longer. */
  async #act(message: SlackEnvelope, appId: string | undefined, acknowledge: () => void): Promise<void> {
    const acting = this.#deps.act(message, appId);
    await Promise.race([acting.catch(() => {}), delay(this.#times.ackMs, undefined, { ref: false })]);
    acknowledge();
    await acting;
  }

  #report(): void {
    if (!this.#closing.signal.aborted) this.#deps.connected(this.#open.size > 0);
  }
}

const Opened = z.object({ url: z.url().max(2_000) });

/**
 * The address that `apps.connections.open` answers: of Slack, over TLS, or of the host of another Web API. It has a
 * ticket, so no error names it. Throws NotifyError.
 */
export function slackSocketAddress(answer: unknown, apiBase: string): string {
  const { url = "none:" } = Opened.safeParse(answer).data ?? {};
  const [{ protocol, hostname }, base] = [new URL(url), new URL(apiBase)];
  const isSlack = protocol === "wss:" && hostname.endsWith(".slack.com");
  const isSame = hostname === base.hostname && protocol === base.protocol.replace("http", "ws");
  if (isSlack || isSame) return url;
  const message = "apps.connections.open gave no address of Slack's: check slack_api_url and the proxy.";
  throw new NotifyError("other", message, { retryable: true, scope: "endpoint" });
}
