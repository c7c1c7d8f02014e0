/**
 * A Slack of one workspace on loopback: the Web API with its documented limits and errors, for tests and the demo.
 * Nothing in it is kept after it is closed.
 */
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parse } from "node:querystring";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { tryJson } from "../../lib/json-values.ts";
import { type Arguments, type Ephemeral, methods, SlackRefusal, slackIds } from "./methods.ts";
import { commandOf, createSlackSocketStandIn, pressOf, type SlackPerson } from "./socket.ts";
import { createWorkspace, type StandInMessage } from "./workspace.ts";

/** `hang`: never answered; `hangAfter`, `resetAfter`: done, and then not answered, or the connection cut. */
export type SlackAnswer =
  | string
  | "hang"
  | "hangAfter"
  | "reset"
  | "resetAfter"
  | { readonly error: string; readonly needed?: string; readonly provided?: string }
  | StatusAnswer;
type StatusAnswer = { readonly status: number; readonly retryAfter?: number; readonly body?: string };

interface SlackCall {
  readonly method: string;
  readonly args: Arguments;
  /** What was answered: undefined for `ok`. */
  readonly error: string | undefined;
}

interface StandInOptions {
  readonly channels?: readonly string[];
  readonly scopes?: readonly string[];
  /** Whether Slack's rate limits hold; default: they do. */
  readonly rateLimits?: boolean;
  readonly clock?: Clock;
  readonly port?: number;
  /** The most of anything that is remembered; default: all. */
  readonly keeps?: number;
}

interface SlackEvents {
  posted: [StandInMessage];
  edited: [StandInMessage];
  ephemeral: [Ephemeral];
  call: [SlackCall];
}

/** What the app of `lenswatch slack manifest` is granted. */
export const standInScopes = [
  "chat:write",
  "channels:history",
  "groups:history",
  "channels:read",
  "groups:read",
  "commands",
];
/** Posts in a channel at once, before a second must pass for each (docs.slack.dev: short bursts are allowed). */
const BURST = 10;
const MAX_BODY_BYTES = 1024 * 1024;
const PATIENCE_MS = 30_000;

export type SlackStandIn = Awaited<ReturnType<typeof startSlackStandIn>>;

/** Starts on a free port of loopback with one bot token and one app token. */
export async function startSlackStandIn(options: StandInOptions = {}) {
  const state = createState(options);
  const { workspace, events, refusals } = state;
  const server = createServer((request, response) => {
    serve(state, request, response).catch((thrown: unknown) => response.writeHead(500).end(String(thrown)));
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const socket = createSlackSocketStandIn(server, slackIds.app);
  state.openSocket = () => socket.open().url;

  return {
    ...state,
    /** For `slack_api_url`. */
    apiUrl: `${url}/api/`,
    url,
    server,
    socket,
    /** Presses a button of a message, or chooses `value` of its menu, as a person in its channel. */
    press: (message: StandInMessage, action: string, by?: SlackPerson & { readonly value?: string }) =>
      socket.deliver("interactive", pressOf(message, action, by)),
    /** Types `/lenswatch` and this in a channel; resolves with the answer in the acknowledgement. */
    async command(channel: string, text: string, by?: SlackPerson): Promise<string | undefined> {
      const answer = await socket.deliver("slash_commands", commandOf(this.channel(channel), text, by));
      return (answer as { text?: string } | undefined)?.text;
    },
    /** Throws for a channel there is not. */
    channel(name: string) {
      const found = workspace.channel(name);
      if (!found) throw new Error(`there is no channel ${name}`);
      return found;
    },
    /** All messages of a channel with the replies to each, in the order they were posted. */
    posts(name: string): StandInMessage[] {
      const all = (workspace.channel(name)?.messages ?? []).flatMap((root) => [root, ...root.replies]);
      return all.sort((a, b) => a.ts.localeCompare(b.ts));
    },
    /** Answers this method (`*`: every method) so from now on, or the next `times`. */
    refuse: (method: string, answer: SlackAnswer, times = Number.POSITIVE_INFINITY) =>
      void refusals.set(method, { answer, times }),
    accept: (method: string) => void refusals.delete(method),
    /** Resolves with what `find` gives, asked now and after every request; rejects after 30 s. */
    async waitFor<T>(find: () => T | undefined | false, timeoutMs = PATIENCE_MS): Promise<T> {
      const signal = AbortSignal.timeout(timeoutMs);
      for (;;) {
        const found = find();
        if (found !== undefined && found !== false) return found;
        await once(events, "call", { signal });
      }
    },
    async close() {
      socket.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type State = ReturnType<typeof createState>;

function createState(options: StandInOptions) {
  const { channels = ["ops"], clock = systemClock, rateLimits = true, scopes } = options;
  const { keeps = Number.POSITIVE_INFINITY } = options;
  const events = new EventEmitter<SlackEvents>().setMaxListeners(0);
  return {
    workspace: createWorkspace(channels, { clock, keeps }),
    keeps,
    events,
    tokens: { bot: "xoxb-stand-in-bot-token-1234567890", app: "xapp-stand-in-app-token-1234567890" },
    /** Of each token; may be changed. */
    scopes: { bot: new Set(scopes ?? standInScopes), app: new Set(["connections:write"]) },
    refusals: new Map<string, { answer: SlackAnswer; times: number }>(),
    limiter: rateLimits ? createLimiter(clock) : undefined,
    /** Every request so far, refused ones as well. */
    calls: [] as SlackCall[],
    ephemerals: [] as Ephemeral[],
    openSocket: (): string => "",
  };
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { tokens, scopes, calls, events } = state;
  const name = new URL(request.url ?? "/", "http://slack").pathname.replace(/^\/api\//, "");
  const args = readArguments(request, await read(request));
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  const set = takeRefusal(state, name) ?? limited(state, name, args);
  const isDone = set === undefined || set === "hangAfter" || set === "resetAfter";
  const answer = isDone ? attempt(() => run(state, name, token, args)) : answerOf(set);
  const call = { method: name, args, error: answer.ok === true ? undefined : String(answer.error) };
  if (calls.push(call) > state.keeps) calls.shift();
  events.emit("call", call);
  if (set === "hang" || set === "hangAfter") return;
  if (set === "reset" || set === "resetAfter") return void request.socket.destroy();
  const { status = 200, retryAfter, body } = (typeof set === "object" ? set : {}) as Partial<StatusAnswer>;
  if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
  if (token === tokens.bot) response.setHeader("x-oauth-scopes", [...scopes.bot].join(","));
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(body ?? JSON.stringify(answer));
}

/** The set answer for this call, used up by one. */
function takeRefusal({ refusals }: State, method: string): SlackAnswer | undefined {
  const key = refusals.has(method) ? method : "*";
  const refusal = refusals.get(key);
  if (!refusal) return undefined;
  refusal.times -= 1;
  if (refusal.times <= 0) refusals.delete(key);
  return refusal.answer;
}

function limited({ limiter }: State, method: string, args: Arguments): SlackAnswer | undefined {
  const wait = limiter?.wait(method, args) ?? 0;
  return wait > 0 ? { status: 429, retryAfter: wait } : undefined;
}

function answerOf(set: SlackAnswer): Record<string, unknown> {
  if (typeof set === "string") return { ok: false, error: set };
  return "error" in set ? { ok: false, ...set } : { ok: false, error: set.status === 429 ? "ratelimited" : set.status };
}

function run(state: State, name: string, token: string | undefined, args: Arguments): Record<string, unknown> {
  const { tokens, scopes, workspace, events, ephemerals } = state;
  const method = methods[name];
  if (!method) throw new SlackRefusal("unknown_method", { req_method: name });
  if (!token) throw new SlackRefusal("not_authed");
  if (token !== tokens.bot && token !== tokens.app) throw new SlackRefusal("invalid_auth");
  if (token !== tokens[method.token]) throw new SlackRefusal("not_allowed_token_type");
  return method.call(args, {
    workspace,
    scopes: scopes[method.token],
    posted: (message) => events.emit("posted", message),
    edited: (message) => events.emit("edited", message),
    openSocket: () => state.openSocket(),
    ephemeral(message) {
      if (ephemerals.push(message) > state.keeps) ephemerals.shift();
      events.emit("ephemeral", message);
    },
  });
}

function attempt(run: () => Record<string, unknown>): Record<string, unknown> {
  try {
    return { ok: true, ...run() };
  } catch (thrown) {
    if (!(thrown instanceof SlackRefusal)) throw thrown;
    return { ok: false, error: thrown.message, ...thrown.details };
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new Error("request too large");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Of a form, lists and mappings are JSON, as @slack/web-api sends them. */
function readArguments({ headers }: IncomingMessage, body: string): Arguments {
  if (headers["content-type"]?.startsWith("application/json")) return (tryJson(body) ?? {}) as Arguments;
  const fields = Object.entries(parse(body)).map(([name, value]) => {
    const isNested = name === "blocks" || name === "attachments" || name === "metadata";
    return [name, isNested ? tryJson(String(value)) : String(value)];
  });
  return Object.fromEntries(fields) as Arguments;
}

/** Token buckets per method, or per channel. */
function createLimiter(clock: Clock) {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    /** Seconds to wait; 0: it may. */
    wait(name: string, { channel }: Arguments): number {
      const rate = methods[name]?.rate ?? 0;
      const [key, most, perSecond] = rate === "perChannel" ? [`${name} ${channel}`, BURST, 1] : [name, rate, rate / 60];
      if (most === 0) return 0;
      const now = clock.now();
      const { tokens, at } = buckets.get(key) ?? { tokens: most, at: now };
      const left = Math.min(most, tokens + ((now - at) / 1_000) * perSecond);
      buckets.set(key, { tokens: left < 1 ? left : left - 1, at: now });
      return left < 1 ? Math.ceil((1 - left) / perSecond) : 0;
    },
  };
}
