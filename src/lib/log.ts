/**
 * JSON lines with pino; pretty when stdout is a terminal. Levels: error = act now, warn = check soon, info = a transition
 * or a notification, debug = details. Messages of warn and error are static, facts are fields. Secrets are redacted by
 * key and in URLs; control characters never reach a terminal.
 */
import { type Logger, type LoggerOptions, pino } from "pino";
import { stripControls, visibleJson, visibleLines } from "./text.ts";

export type { Logger };

export const logLevels = ["trace", "debug", "info", "warn", "error", "silent"] as const;
type LogLevel = (typeof logLevels)[number];

const SECRET_KEYS = `token access_token accessToken admin_token read_token authorization Authorization secret
  client_secret clientSecret password credentials api_url apiUrl botToken appToken`.split(/\s+/);

/** Text without bearer tokens, Slack's tokens and webhook paths, and passwords and tokens in URLs. */
export function scrub(text: string): string {
  return text
    .replace(/([?&](?:token|access_token|client_secret|password)=)[^&\s"']+/gi, "$1[redacted]")
    .replace(/\beyJ[\w-]+(?:\.[\w-]*){0,4}/g, "[redacted]")
    .replace(/(Bearer\s+)[\w.~+/=-]+/gi, "$1[redacted]")
    .replace(/\bx(?:ox[a-z]|app)-[\w-]+/gi, "[redacted]")
    .replace(/(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[^\s"')]+/gi, "$1[redacted]")
    .replace(/(\w{1,32}:\/\/[^:/\s@]*:)[^@/\s]+@/g, "$1[redacted]@");
}

interface LoggedError {
  type: string;
  message: string;
  code?: unknown;
  stack?: string | undefined;
  cause?: LoggedError;
}

function describe(error: unknown, withStack: boolean, depth = 0): LoggedError {
  const { name, message, stack, cause, code } = error as Error & { code?: unknown };
  return {
    type: name ?? typeof error,
    message: stripControls(scrub(message ?? String(error))),
    ...(code === undefined ? {} : { code }),
    ...(withStack && stack ? { stack: visibleLines(scrub(stack)) } : {}),
    ...(cause !== undefined && depth < 4 ? { cause: describe(cause, withStack, depth + 1) } : {}),
  };
}

/** A root logger. Stacks are written only at debug and below. */
export function createLogger(options: {
  level: LogLevel;
  pretty?: boolean;
  destination?: NodeJS.WritableStream;
}): Logger {
  const withStack = options.level === "debug" || options.level === "trace";
  const base: LoggerOptions = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: (error: unknown) => describe(error, withStack) },
    hooks: { streamWrite: visibleJson },
    redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`]), censor: "[redacted]" },
  };
  if (options.destination)
    return pino(base, options.destination as NodeJS.WritableStream & { write(line: string): void });
  if (!options.pretty) return pino(base);
  const { formatters: _, ...forTransport } = base;
  return pino({
    ...forTransport,
    // pino-pretty parses the line again and would undo escapes: control characters are removed.
    hooks: { streamWrite: (line) => `${stripControls(line)}\n` },
    transport: { target: "pino-pretty", options: { ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss.l" } },
  });
}

/** A logger that writes nothing, for tests and one-shot commands. */
export const silentLogger: Logger = pino({ level: "silent" });
