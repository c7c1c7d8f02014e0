/** Asking a running daemon: where it is, with which token, page after page, and what to say when it does not answer. */
import { type Command, InvalidArgumentError } from "commander";
import { Agent, EnvHttpProxyAgent, fetch } from "undici";
import { z } from "zod";
import type { HttpConfig } from "../../config/config.ts";
import { configFile, loadHttp } from "../../config/load.ts";
import { ConfigError } from "../../config/problem.ts";
import { CodedError, toError } from "../../lib/errors.ts";
import { readProxyEnv } from "../../lib/http-client.ts";
import type { CommandIo } from "./io.ts";

/** A whole answer, its body included. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Larger pages mean fewer walks over the fleet: the most the daemon gives at once. */
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
export type DaemonErrorCode = (typeof daemonErrorCodes)[number];

/** The daemon could not be asked; the message is one sentence with the next step. */
export class DaemonError extends CodedError<DaemonErrorCode> {
  constructor(code: DaemonErrorCode, message: string, cause?: unknown) {
    super(code, message, { retryable: code === "unreachable", cause });
  }
}

/** The options every command that asks a daemon has. */
export interface DaemonOptions {
  readonly url?: string;
  readonly config?: string;
}

export type Parameters = Readonly<Record<string, string>>;

export interface Daemon {
  /** One answer, parsed. Throws DaemonError. */
  get<T>(path: string, parameters: Parameters, schema: z.ZodType<T>): Promise<T>;
  /** Changes something. Throws DaemonError `rejected` where what is asked for cannot be had. */
  send<T>(method: "POST" | "DELETE", path: string, body: unknown, schema: z.ZodType<T>): Promise<T>;
  /** Every item of a paged list. Throws DaemonError. */
  all<T>(path: string, parameters: Parameters, item: z.ZodType<T>): Promise<T[]>;
}

/** For `--url`: http or https, any path before `/api`. Throws InvalidArgumentError, which is wrong usage. */
export function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    throw new InvalidArgumentError("It should look like https://lenswatch.example.com.");
  }
  if (url.username || url.password) {
    throw new InvalidArgumentError("Give a token in LENSWATCH_READ_TOKEN, not a name in the URL.");
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The options of every command that asks a daemon. */
export function addDaemonOptions(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "the daemon (default: http.external_url or http.listen of the configuration)",
      parseUrl,
    )
    .option("--config <file>", "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)");
}

/** What is asked: reading with parameters, or changing with a body. */
interface Request {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly parameters?: Parameters;
  readonly body?: unknown;
}

type Ask = (request: Request) => Promise<unknown>;

/** Lets `work` ask the daemon that the options, the environment or the configuration name. */
export async function withDaemon<T>(
  options: DaemonOptions,
  io: CommandIo,
  work: (daemon: Daemon) => Promise<T>,
): Promise<T> {
  const { url, token } = await findDaemon(options, io.env);
  const dispatcher = createDispatcher(new URL(url), io.env);
  const ask: Ask = async (request) => {
    const { method, path, parameters, body } = request;
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const query = parameters ? `?${new URLSearchParams(parameters)}` : "";
    const init = { method, headers, signal, dispatcher };
    try {
      const response = await fetch(
        `${url}${path}${query}`,
        body === undefined ? init : { ...init, body: JSON.stringify(body) },
      );
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
  const read = async <T>(request: Request, schema: z.ZodType<T>): Promise<T> => {
    const parsed = schema.safeParse(await ask(request));
    if (parsed.success) return parsed.data;
    throw new DaemonError(
      "unexpected",
      `what answers at ${url} is not this version of lenswatch; check --url and both versions`,
      parsed.error,
    );
  };
  const get: Daemon["get"] = (path, parameters, schema) => read({ method: "GET", path, parameters }, schema);
  return {
    get,
    send: (method, path, body, schema) => read({ method, path, body }, schema),
    async all(path, parameters, item) {
      const page = z.object({ items: z.array(item), nextCursor: z.string().nullable() });
      const items: z.infer<typeof item>[] = [];
      let cursor: Parameters = {};
      for (;;) {
        const answer = await get(path, { ...parameters, limit: PAGE_LIMIT, ...cursor }, page);
        for (const one of answer.items) items.push(one);
        if (answer.nextCursor === null) return items;
        cursor = { cursor: answer.nextCursor };
      }
    },
  };
}

interface Found {
  readonly url: string;
  readonly token: string | undefined;
}

/** With `--url` the configuration is only looked into for a token, and need not be there or be complete. */
async function findDaemon(options: DaemonOptions, env: CommandIo["env"]): Promise<Found> {
  const fromEnv = env.LENSWATCH_ADMIN_TOKEN || env.LENSWATCH_READ_TOKEN || undefined;
  if (options.url !== undefined && fromEnv !== undefined) return { url: options.url, token: fromEnv };
  const http = await readHttpConfig(options, env);
  return {
    url: options.url ?? (http ? urlOf(http) : ""),
    token: fromEnv ?? http?.adminToken ?? http?.readToken,
  };
}

async function readHttpConfig(
  options: DaemonOptions,
  env: CommandIo["env"],
): Promise<HttpConfig | undefined> {
  const file = configFile(options.config, env);
  try {
    return await loadHttp(file, env);
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    if (options.url !== undefined && options.config === undefined) return undefined;
    if (thrown.code === "invalid") throw unusable(file, options, thrown);
    if (options.config !== undefined) throw thrown;
    throw new DaemonError(
      "no_url",
      `there is no ${file} to say where the daemon is: give --url or --config`,
      thrown,
    );
  }
}

/** `--url` needs nothing of the configuration. */
function unusable(file: string, { url }: DaemonOptions, error: ConfigError): ConfigError {
  if (url !== undefined) return error;
  const message = `${file} cannot be used to find the daemon: give --url, or correct what is listed`;
  return new ConfigError("invalid", message, { problems: error.problems, cause: error });
}

/** Where to reach a daemon that listens there: "every address" is reached at this machine's own. */
function urlOf(http: HttpConfig): string {
  return http.externalUrl?.replace(/\/+$/, "") ?? addressOf(http);
}

/** The daemon's own address on this machine, whatever stands in front of it; a URL without a trailing slash. */
export function addressOf({ host, port }: Pick<HttpConfig, "host" | "port">): string {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** This machine is never asked through a proxy. */
function createDispatcher({ hostname }: URL, env: CommandIo["env"]): Agent | EnvHttpProxyAgent {
  const local = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  return local ? new Agent() : new EnvHttpProxyAgent(readProxyEnv(env));
}

function unreachable(url: string, thrown: unknown): DaemonError {
  const error = toError(thrown);
  if (error.name === "TimeoutError") {
    return new DaemonError(
      "unreachable",
      `${url} did not answer within 30 s: look at its /readyz and its log`,
      error,
    );
  }
  if (error instanceof SyntaxError) {
    return new DaemonError("unexpected", `what answers at ${url} is not lenswatch: check --url`, error);
  }
  return new DaemonError(
    "unreachable",
    `nothing answers at ${url}: is the daemon running? --url names another`,
    error,
  );
}

const ErrorObject = z.object({ error: z.object({ message: z.string() }) });
const ErrorBody = z.union([z.string(), ErrorObject]);

function refusal(url: string, method: Request["method"], status: number, body: unknown): DaemonError {
  const changes = method !== "GET";
  if (status === 401) {
    const kind = changes ? "admin" : "read";
    return new DaemonError(
      "unauthorized",
      `${url} wants a token: set LENSWATCH_${kind.toUpperCase()}_TOKEN to the daemon's http.${kind}_token`,
    );
  }
  if (status === 404 && !changes && ErrorObject.safeParse(body).success) {
    return new DaemonError(
      "not_found",
      `the lenswatch at ${url} has no such thing; check what was asked for`,
    );
  }
  if (status === 404 && !(changes && ErrorBody.safeParse(body).success)) {
    return new DaemonError("unexpected", `what answers at ${url} is not lenswatch: check --url`);
  }
  const parsed = ErrorBody.safeParse(body);
  const said = !parsed.success
    ? ""
    : typeof parsed.data === "string"
      ? parsed.data
      : parsed.data.error.message;
  if (changes && (status === 400 || status === 404) && said !== "")
    return new DaemonError("rejected", said.replace(/\.$/, ""));
  return new DaemonError("refused", `${url} answered ${status}${said && `: ${said}`}`);
}
