/** Client of a running daemon: its address and token, paging, and errors with the next step. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch } from "undici";
import { z } from "zod";
import type { HttpConfig } from "../../config/http-schema.ts";
import { configFile, loadHttp } from "../../config/load.ts";
import { ConfigError } from "../../config/problem.ts";
import { withTimeout } from "../../lib/abort.ts";
import { CodedError, toError } from "../../lib/errors.ts";
import { readProxyEnv } from "../../lib/http-client.ts";
import { type CommandIo, configOption, outputOption, withExample, zoneOf } from "./command.ts";

/** The deadline of a whole answer, its body included. */
const REQUEST_TIMEOUT_MS = 30_000;

const PAGE_LIMIT = "1000";

export const daemonErrorCodes = [
  "no_url",
  "unreachable",
  "unauthorized",
  "not_found",
  "refused",
  "rejected",
  "unexpected",
  "bad_option",
] as const;

/** A failed request to the daemon; the message is one sentence with the next step. */
export class DaemonError extends CodedError<(typeof daemonErrorCodes)[number]> {
  constructor(code: (typeof daemonErrorCodes)[number], message: string, cause?: unknown) {
    super(code, message, { retryable: code === "unreachable", cause });
  }
}

/** The options of every command that asks a daemon. */
export type DaemonOptions = { readonly url?: string; readonly config?: string };

/** For `--url`: http or https, any path before `/api`. */
function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new InvalidArgumentError("It must be a URL such as https://lenswatch.example.com.");
  if (url.username || url.password)
    throw new InvalidArgumentError("Set a token in LENSWATCH_READ_TOKEN, not a login in the URL.");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The author of a change. Throws DaemonError `bad_option` where it is not known. */
export function authorFrom(options: { readonly author?: string }, env: CommandIo["env"]): string {
  const author = options.author || env.USER || env.USERNAME;
  if (author) return author;
  throw new DaemonError("bad_option", "nobody is named as the author, as $USER is not set: give --by with your name");
}

/** Adds what every command has that asks a daemon: `--output`, `--url` and `--config`; and an example. */
export function asksDaemon(command: Command, example: string, ...outputs: Parameters<typeof outputOption>): Command {
  const description = "the daemon (default: http.external_url or http.listen of the configuration)";
  const output = command.addOption(outputOption(...outputs));
  const url = new Option("--url <url>", description).env("LENSWATCH_URL").argParser(parseUrl);
  return withExample(output.addOption(url).addOption(configOption()), example);
}

type QueryParameters = Readonly<Record<string, string>> | string[][];
type Method = "GET" | "POST" | "DELETE";

/** Runs `work` with the daemon that the options, the environment or the configuration name. */
export async function withDaemon<T>(
  options: DaemonOptions,
  io: CommandIo,
  work: (daemon: Daemon) => Promise<T>,
): Promise<T> {
  const address = await findDaemon(options, io.env);
  const dispatcher = createDispatcher(new URL(address.url), io.env);
  try {
    return await work(createDaemon(address, dispatcher, io.signal));
  } finally {
    await dispatcher.destroy();
  }
}

/** The IANA zone in which a person at the terminal reads and types times: the configured one, else the terminal's. */
export async function readerZone(daemon: Daemon, io: Pick<CommandIo, "env">): Promise<string> {
  const { timezone } = await daemon.get("/api/v1/overview", { limit: "1" }, Shown);
  return timezone ?? zoneOf(io);
}

const Shown = z.object({ timezone: z.string().nullable() });

/** Its methods throw DaemonError. */
export type Daemon = ReturnType<typeof createDaemon>;

function createDaemon(
  { url, token, tokenFrom }: { url: string; token: string | undefined; tokenFrom: string },
  dispatcher: Dispatcher,
  aborted: AbortSignal,
) {
  /** One answer, parsed; the error is `rejected` where a change is invalid. `ifMissing` is the next step after a 404. */
  async function send<T>(
    method: Method,
    path: string,
    body: unknown,
    schema: z.ZodType<T>,
    ifMissing?: string,
  ): Promise<T> {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const signal = withTimeout(aborted, REQUEST_TIMEOUT_MS);
    try {
      const response = await fetch(`${url}${path}`, { method, headers, signal, dispatcher, ...payload });
      const answer = method === "DELETE" && response.ok ? undefined : response.json();
      if (!response.ok) {
        const refused = { url, method, status: response.status, lacks: scopeIn(response.headers), ifMissing };
        throw refusal({ ...refused, tokenFrom: token && tokenFrom }, await answer?.catch(() => undefined));
      }
      const parsed = schema.safeParse(await answer);
      if (parsed.success) return parsed.data;
      const message = `what answers at ${url} is not this version of lenswatch; check --url and both versions`;
      throw new DaemonError("unexpected", message, parsed.error);
    } catch (thrown) {
      aborted.throwIfAborted();
      throw thrown instanceof DaemonError ? thrown : unreachable(url, thrown);
    }
  }

  function get<T>(path: string, parameters: QueryParameters, schema: z.ZodType<T>): Promise<T> {
    return send("GET", `${path}?${new URLSearchParams(parameters)}`, undefined, schema);
  }

  async function* pages<Page extends { readonly nextCursor: string | null }>(
    path: string,
    parameters: QueryParameters,
    schema: z.ZodType<Page>,
  ): AsyncGenerator<Page> {
    const given = [...new URLSearchParams(parameters), ["limit", PAGE_LIMIT]];
    for (let cursor: string[][] = []; ; ) {
      const page = await get(path, [...given, ...cursor], schema);
      yield page;
      if (page.nextCursor === null) return;
      cursor = [["cursor", page.nextCursor]];
    }
  }

  async function all<T>(path: string, parameters: QueryParameters, item: z.ZodType<T>): Promise<T[]> {
    const schema = z.object({ items: z.array(item), nextCursor: z.string().nullable() });
    return (await Array.fromAsync(pages(path, parameters, schema))).flatMap(({ items }) => items);
  }

  return { url, send, get, pages, all };
}

/** The first that is set counts. */
const TOKEN_VARIABLES = ["LENSWATCH_ADMIN_TOKEN", "LENSWATCH_READ_TOKEN"] as const;

/** With `--url`, the configuration serves only for a token and may be missing or incomplete. */
async function findDaemon(options: DaemonOptions, env: CommandIo["env"]) {
  const variable = TOKEN_VARIABLES.find((name) => env[name]);
  const fromEnv = variable && env[variable];
  const tokenFrom = variable ?? "the configuration";
  if (options.url !== undefined && fromEnv !== undefined) return { url: options.url, token: fromEnv, tokenFrom };
  const http = await readHttpConfig(options, env);
  const configured = http && (http.externalUrl?.replace(/\/+$/, "") ?? localUrl(http));
  return { url: options.url ?? configured ?? "", token: fromEnv ?? (http && tokenOf(http)), tokenFrom };
}

/** The token with the most scopes among those that commands need. */
function tokenOf({ tokens }: HttpConfig): string | undefined {
  const withAll = (...all: HttpConfig["tokens"][number]["scopes"]) =>
    tokens.find(({ scopes }) => all.every((one) => scopes.includes(one)))?.token;
  return withAll("admin") ?? withAll("read", "silence") ?? withAll("read");
}

async function readHttpConfig({ url, config }: DaemonOptions, env: CommandIo["env"]): Promise<HttpConfig | undefined> {
  const file = configFile(config, env);
  try {
    return await loadHttp(file, env);
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    if (url !== undefined && config === undefined) return undefined;
    if (thrown.code === "invalid" && url === undefined) {
      const message = `${file} cannot be used to find the daemon: give --url, or correct the problems`;
      throw new ConfigError("invalid", message, { problems: thrown.problems, cause: thrown });
    }
    if (thrown.code === "invalid" || config !== undefined) throw thrown;
    const message = `${file} does not exist, so the daemon's address is unknown: give --url or --config`;
    throw new DaemonError("no_url", message, thrown);
  }
}

type LocalAddress = Pick<HttpConfig, "host" | "port"> & Partial<Pick<HttpConfig, "tls">>;

/** The daemon's own URL on this machine, without a trailing slash; wildcard addresses become loopback. */
export function localUrl({ host, port, tls }: LocalAddress): string {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http${tls ? "s" : ""}://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** Requests to this machine never use a proxy. */
function createDispatcher({ hostname }: URL, env: CommandIo["env"]): Dispatcher {
  const local = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  return local ? new Agent() : new EnvHttpProxyAgent(readProxyEnv(env));
}

function unreachable(url: string, thrown: unknown): DaemonError {
  const error = toError(thrown);
  if (error instanceof SyntaxError)
    return new DaemonError("unexpected", `what answers at ${url} is not lenswatch: check --url`, error);
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? "";
  return new DaemonError("unreachable", unreachableMessage(url, code, error), error);
}

const CERTIFICATE_STEPS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "renew it",
  CERT_NOT_YET_VALID: "check the clocks of both machines",
  ERR_TLS_CERT_ALTNAME_INVALID: "give --url with a name that is on it",
};

function unreachableMessage(url: string, code: string, error: Error): string {
  if (/CERT|UNABLE_TO_VERIFY/.test(code)) {
    const step = CERTIFICATE_STEPS[code] ?? "give the file of its authority by NODE_EXTRA_CA_CERTS";
    return `the certificate of ${url} is not trusted (${code}): ${step}`;
  }
  if (error.name === "TimeoutError") return `${url} did not answer within 30 s: check its /readyz and its log`;
  if (/^(EPROTO|ERR_SSL|ECONNRESET|UND_ERR_SOCKET)/.test(code))
    return `${url} closed the connection without an answer: check whether --url needs http or https, and the daemon's log`;
  return `nothing answers at ${url}: start the daemon, or name another with --url`;
}

/** Errors of `/api/v2` are texts, those of `/api/v1` objects. */
const ErrorObject = z.object({ error: z.object({ message: z.string() }) });
const ErrorBody = z.union([z.string(), ErrorObject]);

interface Refusal {
  readonly url: string;
  readonly method: Method;
  readonly status: number;
  /** The scope that the request needs, where no principal of it has that. */
  readonly lacks: string | undefined;
  readonly ifMissing: string | undefined;
  /** Undefined where no token was sent. */
  readonly tokenFrom: string | undefined;
}

/** RFC 6750, section 3. */
function scopeIn(headers: Headers): string | undefined {
  return /\bscope="(\w+)"/.exec(headers.get("www-authenticate") ?? "")?.[1];
}

function refusal(given: Refusal, body: unknown): DaemonError {
  const { url, method, status, ifMissing } = given;
  const isChange = method !== "GET";
  const parsed = ErrorBody.safeParse(body);
  const reason = typeof parsed.data === "string" ? parsed.data : (parsed.data?.error.message ?? "");
  if (status === 401 || status === 403) return unauthorized(given, reason);
  if (status === 404 && !isChange && ErrorObject.safeParse(body).success)
    return new DaemonError("not_found", `not found at ${url}; check the id or name`);
  if (status === 404 && !(isChange && parsed.success))
    return new DaemonError("unexpected", `what answers at ${url} is not lenswatch: check --url`);
  const hint = status === 404 && ifMissing !== undefined ? `: ${ifMissing}` : "";
  if ((status === 400 || (isChange && status === 404)) && reason !== "")
    return new DaemonError("rejected", reason.replace(/\.$/, "") + hint);
  return new DaemonError("refused", `${url} answered ${status}${reason && `: ${reason}`}`);
}

function unauthorized({ url, status, lacks, tokenFrom }: Refusal, reason: string): DaemonError {
  const why = reason.replace(/\.$/, "");
  if (status === 403 && lacks === undefined) return new DaemonError("unauthorized", `${url} answered 403: ${why}`);
  const scope = lacks ?? "read";
  const kind = scope === "read" ? "read" : "admin";
  const other = scope === kind ? "" : `, or to one of http.tokens with the scope ${scope}`;
  // Another read token would not be sent.
  const isHidden = status === 401 && kind === "read" && tokenFrom === TOKEN_VARIABLES[0];
  const set = `set LENSWATCH_${kind.toUpperCase()}_TOKEN to the daemon's http.${kind}_token${other}`;
  const next = isHidden ? `correct or unset ${tokenFrom}` : set;
  const found = tokenFrom === undefined ? `${url} requires a token` : `${url} does not know the token in ${tokenFrom}`;
  return new DaemonError("unauthorized", `${status === 401 ? found : `${url}: ${why}`}: ${next}`);
}
