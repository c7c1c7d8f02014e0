/**
 * A POST of JSON to an endpoint of somebody else's, once: `http_config` on the way there, a NotifyError on the way
 * back. Which status is whose fault follows Alertmanager (notify/util.go, Retrier), but nothing is dropped.
 */
import { type Clock, systemClock } from "../lib/clock.ts";
import { type Answer, answerOf, parseRetryAfter, secretsOf } from "./answer.ts";
import { abortedError, safeCause, untilAborted, withTimeout } from "./failure.ts";
import { createFetch, type Fetch, type Tls } from "./fetch.ts";
import { NotifyError } from "./notifier.ts";

/** `http_config`; all of it secret but the user's name. */
export interface HttpClientSettings {
  readonly authorization: { readonly type: string; readonly credentials: string } | undefined;
  readonly basicAuth: { readonly username: string; readonly password: string } | undefined;
  readonly tls: Tls | undefined;
}

export interface HttpClient {
  /** Resolves once the endpoint answered 2xx; throws NotifyError. Redirects are not followed. */
  post(
    body: string,
    options: { readonly signal: AbortSignal; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<void>;
  /** Cuts off what is under way. */
  close(): Promise<void>;
}

export interface HttpClientDeps {
  readonly url: string;
  readonly http: HttpClientSettings;
  /** More of what must never be seen in an error. */
  readonly secrets?: readonly string[];
  /** What answers there, in the middle of a sentence: `the webhook`. */
  readonly who: string;
  /** No attempt takes longer, ms. */
  readonly timeoutMs: number;
  /** Default: undici's, through HTTPS_PROXY and NO_PROXY. */
  readonly fetch?: Fetch | undefined;
  /** Reads a Retry-After that is a date. */
  readonly clock?: Clock | undefined;
}

export function createHttpClient(deps: HttpClientDeps): HttpClient {
  const { url, http, who, timeoutMs, clock = systemClock } = deps;
  const { fetch, close } =
    deps.fetch === undefined ? createFetch(http.tls) : { fetch: deps.fetch, close: async () => {} };
  const authorization = authorizationOf(http);
  const secrets = [...secretsOf(url), ...(deps.secrets ?? []), ...secretsIn(http, authorization)];

  async function ask(body: string, headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    const init = { method: "POST", headers, body, redirect: "manual", signal } as const;
    return answerOf(await fetch(url, init));
  }

  return {
    async post(body, { signal, headers = {} }) {
      const limited = withTimeout(signal, timeoutMs);
      const all = {
        "content-type": "application/json",
        "user-agent": "lenswatch",
        ...(authorization === undefined ? {} : { authorization }),
        ...headers,
      };
      let answer: Answer;
      try {
        answer = await untilAborted(ask(body, all, limited), limited);
      } catch (thrown) {
        if (limited.aborted) throw abortedError(limited, who);
        throw unreachable(thrown, who, secrets);
      }
      const refused = refusal(answer, who, clock.now());
      if (refused) throw refused;
    },
    close,
  };
}

function authorizationOf({ authorization, basicAuth }: HttpClientSettings): string | undefined {
  if (authorization) return `${authorization.type} ${authorization.credentials}`;
  if (!basicAuth) return undefined;
  return `Basic ${Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString("base64")}`;
}

function secretsIn({ authorization, basicAuth, tls }: HttpClientSettings, header: string | undefined) {
  const encoded = header?.split(" ")[1];
  return [authorization?.credentials, basicAuth?.password, encoded, tls?.key].flatMap((secret) =>
    secret ? [secret] : [],
  );
}

function unreachable(thrown: unknown, who: string, secrets: readonly string[]): NotifyError {
  return new NotifyError(
    "network",
    `${capital(who)} could not be reached; check its url, the network, DNS, its certificate and HTTPS_PROXY.`,
    { retryable: true, scope: "endpoint", cause: safeCause(thrown, secrets) },
  );
}

/** Undefined for a 2xx. */
export function refusal(
  { status, retryAfter }: Answer,
  whoever: string,
  now: number,
): NotifyError | undefined {
  const who = capital(whoever);
  const retryAfterMs = parseRetryAfter(retryAfter, now);
  const endpoint = { retryable: true, scope: "endpoint", retryAfterMs } as const;
  if (status >= 200 && status < 300) return undefined;
  if (status === 429)
    return new NotifyError(
      "rate_limited",
      `${who} asks for fewer messages (429); it is tried again later.`,
      endpoint,
    );
  if (status >= 500)
    return new NotifyError("server_error", `${who} is in trouble (${status}); it is tried again.`, endpoint);
  if (status === 408)
    return new NotifyError(
      "timeout",
      `${who} did not get the message in time (408); it is tried again.`,
      endpoint,
    );
  if (status === 401 || status === 403)
    return new NotifyError("auth", `${who} refused the login (${status}); check http_config.`, endpoint);
  if (status === 404 || status === 410)
    return new NotifyError(
      "not_found",
      `${who} is not there (${status}); check the path of its url.`,
      endpoint,
    );
  if (status >= 400)
    return new NotifyError("bad_request", `${who} refused this message (${status}); see its own log.`, {
      retryable: false,
      scope: "message",
      retryAfterMs,
    });
  return new NotifyError(
    "other",
    `${who} answered ${status}, which accepts nothing, and redirects are not followed; check its url.`,
    endpoint,
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
