/** The metrics socket's connection. Errors never contain the URL, which has the token. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../lib/clock.ts";
import type { ProxySettings } from "../lib/http-client.ts";
import type { Redactor } from "../lib/redact.ts";
import type { TlsMaterial } from "../lib/tls.ts";
import { type Connection, openWebSocket } from "../lib/web-socket.ts";
import { ServiceError } from "./errors.ts";
import { networkOrTls, readExcerpt } from "./http.ts";
import { refusalOf } from "./refusal.ts";
import type { ReplyLimits } from "./reply-size.ts";

export interface ConnectionDeps {
  readonly wsUrl: string;
  readonly pingIntervalMs: number;
  /** A larger message ends the connection. */
  readonly limits: ReplyLimits;
  readonly proxy: ProxySettings;
  readonly tls?: TlsMaterial | undefined;
  readonly redactor: Redactor;
  readonly clock: Clock;
}

const HANDSHAKE = "The metrics socket's handshake";

/** Resolves once open. Throws ServiceError (`auth` where the token was refused), or the signal's reason. */
export async function openConnection(
  deps: ConnectionDeps,
  token: string,
  events: Parameters<typeof openWebSocket>[2],
  signal: AbortSignal,
): Promise<Connection> {
  const options = {
    ...deps,
    maxBytes: deps.limits.bytes,
    unreachable: (error: Error & { code?: string }) => unreachable(deps, error),
    refused: (response: IncomingMessage) => refused(response, deps),
  };
  try {
    const url = new URL(deps.wsUrl);
    url.searchParams.set("token", token);
    return await openWebSocket(url, options, events, signal);
  } catch (thrown) {
    if (signal.aborted || thrown instanceof ServiceError) throw thrown;
    const message = "The metrics socket's address is invalid: check service.ws_url.";
    throw new ServiceError("bad_request", message, { cause: deps.redactor.error(thrown) });
  }
}

async function refused(response: IncomingMessage, { clock, redactor }: ConnectionDeps): Promise<ServiceError> {
  const excerpt = () => readExcerpt(response, () => response.destroy());
  const reply = { status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], excerpt };
  return refusalOf(HANDSHAKE, reply, { now: clock.now(), redactor });
}

function unreachable(deps: ConnectionDeps, thrown: Error & { code?: string }): ServiceError {
  const cause = deps.redactor.error(thrown);
  const { host } = new URL(deps.wsUrl);
  const code = thrown.code ?? thrown.name;
  return new ServiceError(
    "unavailable",
    `The metrics socket at ${host} could not be reached (${code}): check service.ws_url, ${networkOrTls(code)} and the proxy settings.`,
    { cause },
  );
}
