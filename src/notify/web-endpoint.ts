/**
 * A POST of JSON to the endpoint of an integration, once. Which status concerns the endpoint and which the message
 * follows Alertmanager (notify/util.go, Retrier), but no status makes delivery drop a message.
 */
import type { NotifyErrorCode } from "../alerting/model.ts";
import { unlessAborted, withTimeout } from "../lib/abort.ts";
import { parseRetryAfter } from "../lib/backoff.ts";
import { systemClock } from "../lib/clock.ts";
import { createHttpClient, type HttpAnswer, type HttpClient, readBody } from "../lib/http-client.ts";
import { createRedactor } from "../lib/redact.ts";
import type { TlsMaterial } from "../lib/tls.ts";
import { abortedError, type ChannelOptions, NotifyError } from "./notifier.ts";

/** `http_config`; all of it secret but the user's name. */
export interface HttpClientSettings {
  readonly authorization: { readonly type: string; readonly credentials: string } | undefined;
  readonly basicAuth: { readonly username: string; readonly password: string } | undefined;
  readonly tls: TlsMaterial | undefined;
}

/** Why an answer does not accept the message. */
export interface Verdict {
  readonly code: NotifyErrorCode;
  /** `404`, `400 invalid_blocks`. */
  readonly answered: string;
}

type Hints = Partial<Record<NotifyErrorCode, string>>;

type PostOptions = { readonly signal: AbortSignal; readonly headers?: Readonly<Record<string, string>> };

interface WebEndpointOptions extends Omit<ChannelOptions, "log"> {
  readonly url: string;
  /** The name that begins a sentence: `The webhook`. */
  readonly name: string;
  /** The things to check when it cannot be reached. */
  readonly check?: string;
  /** Undefined: the answer accepts the message. Default: any 2xx does. */
  readonly verdict?: (status: number, text: string) => Verdict | undefined;
  /** The next step for each code, as the end of a sentence; without one the message is sent again. */
  readonly hints?: Hints;
  readonly http?: HttpClientSettings;
  /** Further secrets that must not appear in an error. */
  readonly secrets?: readonly string[];
  /** Default: one of its own, through the proxy of the environment. */
  readonly client?: HttpClient | undefined;
}

/** No more of an answer is read. */
const MAX_ANSWER_BYTES = 4_096;

/** An endpoint that is posted to; `close` ends what is in flight. */
export function createWebEndpoint(options: WebEndpointOptions) {
  const { url, name, http, timeoutMs, clock = systemClock } = options;
  const { check = CHECK, hints = HINTS, verdict = httpVerdict } = options;
  const client = options.client ?? createHttpClient({ tls: http?.tls });
  const authorization = http && authorizationOf(http);
  const redactor = createRedactor([
    ...secretsInUrl(url),
    ...(options.secrets ?? []),
    http?.authorization?.credentials ?? "",
    http?.basicAuth?.password ?? "",
    http?.tls?.key ?? "",
    authorization?.split(" ")[1] ?? "",
  ]);

  async function exchange(body: string, headers: Record<string, string>, signal: AbortSignal) {
    const answer = await client.send({ method: "POST", url, headers, body }, signal);
    return { ...answer, text: await readText(answer) };
  }

  return {
    /** The text of the answer that accepts the body; throws NotifyError. Redirects are not followed. */
    async post(body: string, { signal, headers }: PostOptions): Promise<string> {
      const limited = withTimeout(signal, timeoutMs);
      const all = {
        "content-type": "application/json",
        "user-agent": "lenswatch",
        ...(authorization === undefined ? {} : { authorization }),
        ...headers,
      };
      const { status, retryAfter, text } = await unlessAborted(exchange(body, all, limited), limited).catch(
        (thrown: unknown) => {
          if (limited.aborted) throw abortedError(limited, name);
          throw new NotifyError("network", `${name} could not be reached: check ${check}.`, {
            retryable: true,
            scope: "endpoint",
            cause: redactor.error(thrown),
          });
        },
      );
      const refused = verdict(status, text);
      if (refused) throw refusalOf(refused, name, hints, parseRetryAfter(retryAfter, clock.now()));
      return text;
    },
    close: () => client.close(),
  };
}

/** Throws where an accepting answer breaks off: the message counts as not accepted. */
async function readText({ status, body }: HttpAnswer): Promise<string> {
  try {
    return (await readBody(body, MAX_ANSWER_BYTES)).bytes.toString("utf8");
  } catch (thrown) {
    if (status < 300) throw thrown;
    return "";
  }
}

function refusalOf({ code, answered }: Verdict, name: string, hints: Hints, retryAfterMs: number | undefined) {
  const isMessage = code === "bad_request";
  return new NotifyError(code, `${name} answered ${answered}: ${hints[code] ?? "the message is sent again"}.`, {
    retryable: !isMessage,
    scope: isMessage ? "message" : "endpoint",
    retryAfterMs,
  });
}

/** The code of a status that accepts nothing. */
export function codeOfStatus(status: number): NotifyErrorCode {
  if (status === 429) return "rate_limited";
  if (status >= 500) return "server_error";
  if (status === 408) return "timeout";
  if (status === 401 || status === 403) return "auth";
  if (status === 404 || status === 410) return "not_found";
  return status >= 400 ? "bad_request" : "other";
}

/** Any 2xx accepts the message. */
export function httpVerdict(status: number): Verdict | undefined {
  return status >= 200 && status < 300 ? undefined : { code: codeOfStatus(status), answered: String(status) };
}

const CHECK = "its url, the network, DNS, its certificate and HTTPS_PROXY";

const HINTS: Hints = {
  auth: "check http_config",
  not_found: "check the path of its url",
  bad_request: "it does not accept this message, see its log",
  other: "check its url, redirects are not followed",
};

/** The value of the Authorization header. */
export function authorizationOf({ authorization, basicAuth }: HttpClientSettings): string | undefined {
  if (authorization) return `${authorization.type} ${authorization.credentials}`;
  if (!basicAuth) return undefined;
  return `Basic ${Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString("base64")}`;
}

/** A secret URL, and each part of its path and query that is long enough to be the secret in it. */
function secretsInUrl(url: string): string[] {
  if (!URL.canParse(url)) return [url];
  const { href, pathname, search } = new URL(url);
  const parts = `${pathname}${search}`.split(/[/?&=]/).filter((part) => part.length >= 8);
  return [url, href, `${pathname}${search}`, ...parts].filter((secret) => secret.length > 1);
}
