/** Client of a running daemon: its address and token, paging, and errors with the next step. */
import { type Command, InvalidArgumentError } from "commander";
import { Agent, EnvHttpProxyAgent, fetch } from "undici";
import { z } from "zod";
import type { HttpConfig } from "../../config/config.ts";
import { configFile, loadHttp } from "../../config/load.ts";
import { ConfigError } from "../../config/problem.ts";
import { CodedError, toError } from "../../lib/errors.ts";
import { readProxyEnv } from "../../lib/http-client.ts";
import { type CommandIo, configOption } from "./command.ts";

/** Of a whole answer, its body included. */
const REQUEST_TIMEOUT_MS = 30_000;

/** The daemon's largest page. */
const PAGE_LIMIT = "1000";

export const daemonErrorCodes = [
  "no_url",
  "unreachable",
  "unauthorized",
  "not_found",
  "refused",
  "rejected",
  "unexpected",
] as const;

/** A failed request to the daemon; the message is one sentence with the next step. */
export class DaemonError extends CodedError<(typeof daemonErrorCodes)[number]> {
  constructor(code: (typeof daemonErrorCodes)[number], message: string, cause?: unknown) {
    super(code, message, { retryable: code === "unreachable", cause });
  }
}

/** The options of every command that asks a daemon. */
export interface DaemonOptions {
  readonly url?: string;
  readonly config?: string;
}

type QueryParameters = Readonly<Record<string, string>>;

export interface Daemon {
  /** One answer, parsed. Throws DaemonError. */
  get<T>(path: string, parameters: QueryParameters, schema: z.ZodType<T>): Promise<T>;
  /** Changes something. Throws DaemonError, `rejected` where the change is invalid. */
  send<T>(method: "POST" | "DELETE", path: string, body: unknown, schema: z.ZodType<T>): Promise<T>;
  /** Every item of a paged list. Throws DaemonError. */
  all<T>(path: string, parameters: QueryParameters, item: z.ZodType<T>): Promise<T[]>;
}

/** For `--url`: http or https, any path before `/api`. */
function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new InvalidArgumentError("It must be a URL such as https://lenswatch.example.com.");
  if (url.username || url.password)
    throw new InvalidArgumentError("Set a token in LENSWATCH_READ_TOKEN, not a login in the URL.");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** Adds `--url` and `--config`. */
export function addDaemonOptions(command: Command): Command {
  const description = "the daemon (default: http.external_url or http.listen of the configuration)";
  return command.option("--url <url>", description, parseUrl).addOption(configOption());
}

interface DaemonRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly parameters?: QueryParameters;
  readonly body?: unknown;
}

type Ask = (request: DaemonRequest) => Promise<unknown>;

/** Runs `work` with the daemon that the options, the environment or the configuration name. */
export async function withDaemon<T>(
  options: DaemonOptions,
  io: CommandIo,
  work: (daemon: Daemon) => Promise<T>,
): Promise<T> {
  const { url, token } = await findDaemon(options, io.env);
  const dispatcher = createDispatcher(new URL(url), io.env);
  const ask: Ask = async ({ method, path, parameters, body }) => {
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const query = parameters ? `?${new URLSearchParams(parameters)}` : "";
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const init = { method, headers, signal, dispatcher, ...payload };
      const response = await fetch(`${url}${path}${query}`, init);
      const answer = method === "DELETE" && response.ok ? undefined : response.json();
      if (!response.ok) throw refusal(url, method, response.status, await answer?.catch(() => undefined));
      return await answer;
    } catch (thrown) {
      io.signal.throwIfAborted();
      throw thrown instanceof DaemonError ? thrown : unreachable(url, thrown);
    }
  };
  try {
    return await work(createDaemon(url, ask));
  } finally {
    await dispatcher.destroy();
  }
}

function createDaemon(url: string, ask: Ask): Daemon {
  const read = async <T>(request: DaemonRequest, schema: z.ZodType<T>): Promise<T> => {
    const parsed = schema.safeParse(await ask(request));
    if (parsed.success) return parsed.data;
    const message = `what answers at ${url} is not this version of lenswatch; check --url and both versions`;
    throw new DaemonError("unexpected", message, parsed.error);
  };
  const get: Daemon["get"] = (path, parameters, schema) => read({ method: "GET", path, parameters }, schema);
  return {
    get,
    send: (method, path, body, schema) => read({ method, path, body }, schema),
    async all(path, parameters, item) {
      const page = z.object({ items: z.array(item), nextCursor: z.string().nullable() });
      const items: z.infer<typeof item>[] = [];
      let cursor: QueryParameters = {};
      for (;;) {
        const answer = await get(path, { ...parameters, limit: PAGE_LIMIT, ...cursor }, page);
        for (const one of answer.items) items.push(one);
        if (answer.nextCursor === null) return items;
        cursor = { cursor: answer.nextCursor };
      }
    },
  };
}

/** With `--url`, the configuration serves only for a token and may be missing or incomplete. */
async function findDaemon(
  options: DaemonOptions,
  env: CommandIo["env"],
): Promise<{ readonly url: string; readonly token: string | undefined }> {
  const fromEnv = env.LENSWATCH_ADMIN_TOKEN || env.LENSWATCH_READ_TOKEN || undefined;
  if (options.url !== undefined && fromEnv !== undefined) return { url: options.url, token: fromEnv };
  const http = await readHttpConfig(options, env);
  return { url: options.url ?? (http ? urlOf(http) : ""), token: fromEnv ?? http?.adminToken ?? http?.readToken };
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

function urlOf(http: HttpConfig): string {
  return http.externalUrl?.replace(/\/+$/, "") ?? localUrl(http);
}

/** The daemon's own URL on this machine, without a trailing slash; wildcard addresses become loopback. */
export function localUrl({ host, port }: Pick<HttpConfig, "host" | "port">): string {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** Requests to this machine never use a proxy. */
function createDispatcher({ hostname }: URL, env: CommandIo["env"]): Agent | EnvHttpProxyAgent {
  const local = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  return local ? new Agent() : new EnvHttpProxyAgent(readProxyEnv(env));
}

function unreachable(url: string, thrown: unknown): DaemonError {
  const error = toError(thrown);
  if (error instanceof SyntaxError)
    return new DaemonError("unexpected", `what answers at ${url} is not lenswatch: check --url`, error);
  const message =
    error.name === "TimeoutError"
      ? `${url} did not answer within 30 s: check its /readyz and its log`
      : `nothing answers at ${url}: start the daemon, or name another with --url`;
  return new DaemonError("unreachable", message, error);
}

/** Errors of `/api/v2` are texts, those of `/api/v1` objects. */
const ErrorObject = z.object({ error: z.object({ message: z.string() }) });
const ErrorBody = z.union([z.string(), ErrorObject]);

function refusal(url: string, method: DaemonRequest["method"], status: number, body: unknown): DaemonError {
  const isChange = method !== "GET";
  if (status === 401) {
    const kind = isChange ? "admin" : "read";
    const variable = `LENSWATCH_${kind.toUpperCase()}_TOKEN`;
    const message = `${url} requires a token: set ${variable} to the daemon's http.${kind}_token`;
    return new DaemonError("unauthorized", message);
  }
  if (status === 404 && !isChange && ErrorObject.safeParse(body).success)
    return new DaemonError("not_found", `not found at ${url}; check the id or name`);
  const parsed = ErrorBody.safeParse(body);
  if (status === 404 && !(isChange && parsed.success))
    return new DaemonError("unexpected", `what answers at ${url} is not lenswatch: check --url`);
  const reason = typeof parsed.data === "string" ? parsed.data : (parsed.data?.error.message ?? "");
  if (isChange && (status === 400 || status === 404) && reason !== "")
    return new DaemonError("rejected", reason.replace(/\.$/, ""));
  return new DaemonError("refused", `${url} answered ${status}${reason && `: ${reason}`}`);
}
