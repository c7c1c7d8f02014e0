/** The demo's Slack with what Slack refuses: rate limits, scopes, limits of messages, and set answers. */
import { EventEmitter, once } from "node:events";
import type { FastifyReply } from "fastify";
import type { Ephemeral } from "../../../src/demo/slack/methods.ts";
import { createSlack, readCall, type SlackCall, tokenKind } from "../../../src/demo/slack/stand-in.ts";
import type { StandInChannel, StandInMessage } from "../../../src/demo/slack/workspace.ts";
import { type Clock, systemClock } from "../../../src/lib/clock.ts";
import { limitError, metadataError } from "./limits.ts";
import { readingMethods } from "./reading.ts";
import { watchSocket } from "./socket.ts";

/** `hang`: never answered; `hangAfter`, `resetAfter`: done, and then not answered, or the connection cut. */
export type SlackAnswer =
  | string
  | "hang"
  | "hangAfter"
  | "reset"
  | "resetAfter"
  | SlackError
  | { readonly status: number; readonly retryAfter?: number; readonly body?: string };

type SlackError = { readonly error: string; readonly needed?: string; readonly provided?: string };

interface StandInOptions {
  readonly channels?: readonly string[];
  /** Whether Slack's rate limits hold; default: they do. */
  readonly rateLimits?: boolean;
  readonly clock?: Clock;
}

/** What the app of `lenswatch slack manifest` is granted. */
export const standInScopes = ["chat:write", "channels:history", "groups:history", "channels:read", "groups:read"];
const PATIENCE_MS = 30_000;

export type SlackStandIn = Awaited<ReturnType<typeof startSlackStandIn>>;

/** Starts on a free port of loopback with one bot token and one app token. */
export async function startSlackStandIn(options: StandInOptions = {}) {
  const slack = createSlack({ ...options, more: readingMethods });
  const { workspace, events, app, tokens } = slack;
  const state = {
    /** Of each token; may be changed. */
    scopes: { bot: new Set(standInScopes), app: new Set(["connections:write"]) },
    /** Names of channels that the app is not in, and of those that are archived. */
    left: new Set<string>(),
    archived: new Set<string>(),
  };
  const refusals = new Map<string, { answer: SlackAnswer; times: number }>();
  const limiter = options.rateLimits === false ? undefined : createLimiter(options.clock ?? systemClock);
  /** Every request so far, refused ones as well; `error` is undefined for `ok`. */
  const calls: (Omit<SlackCall, "token"> & { readonly error: string | undefined })[] = [];
  const ephemerals: Ephemeral[] = [];
  events.on("ephemeral", (message) => ephemerals.push(message));
  const answered = new EventEmitter<{ call: [] }>().setMaxListeners(0);

  /** The set answer for this call, used up by one. */
  function takeRefusal(method: string): SlackAnswer | undefined {
    const key = refusals.has(method) ? method : "*";
    const refusal = refusals.get(key);
    if (!refusal) return undefined;
    refusal.times -= 1;
    if (refusal.times <= 0) refusals.delete(key);
    return refusal.answer;
  }

  app.post("/api/:method", async (request, reply) => {
    const call = readCall(request);
    const wait = limiter?.wait(call) ?? 0;
    const set = takeRefusal(call.method) ?? (wait > 0 ? { status: 429, retryAfter: wait } : undefined);
    const isDone = set === undefined || set === "hangAfter" || set === "resetAfter";
    const answer = isDone ? answerTo(call) : refused(set);
    calls.push({ method: call.method, args: call.args, error: answer.ok === true ? undefined : String(answer.error) });
    answered.emit("call");
    if (call.token === tokens.bot) reply.header("x-oauth-scopes", [...state.scopes.bot].join(","));
    return set === undefined ? answer : send(reply, set, answer);
  });

  function answerTo(call: SlackCall): Readonly<Record<string, unknown>> {
    const error = beforehand(call, workspace.channel(String(call.args.channel ?? "")), { ...state, tokens });
    if (error) return { ok: false, ...error };
    const answer = slack.call(call);
    if (call.method !== "users.conversations" || !answer.ok) return answer;
    const { channels } = answer as unknown as { channels: readonly { readonly name: string }[] };
    return { ...answer, channels: channels.filter(({ name }) => !state.left.has(name) && !state.archived.has(name)) };
  }

  const apiUrl = `${await app.listen({ host: "127.0.0.1", port: 0 })}/api/`;
  return {
    ...slack,
    ...state,
    ...{ apiUrl, refusals, calls, ephemerals },
    socket: watchSocket(slack.socket),
    /** All messages of a channel with the replies to each, in the order they were posted. */
    posts(name: string): StandInMessage[] {
      const all = (workspace.channel(name)?.messages ?? []).flatMap((root) => [root, ...root.replies]);
      return all.sort((a, b) => a.ts.localeCompare(b.ts));
    },
    /** A person deletes a message: a root with replies stays as a tombstone that keeps the thread. */
    delete: deleteMessage,
    /** Answers this method (`*`: every method) so from now on, or the next `times`. */
    refuse: (method: string, answer: SlackAnswer, times = Number.POSITIVE_INFINITY) =>
      void refusals.set(method, { answer, times }),
    accept: (method: string) => void refusals.delete(method),
    /** Resolves with what `find` gives, asked now and after every request; rejects after 30 s. */
    async waitFor<T>(find: () => T | undefined | false): Promise<T> {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      for (;;) {
        const found = find();
        if (found !== undefined && found !== false) return found;
        await once(answered, "call", { signal });
      }
    },
  };
}

function refused(set: SlackAnswer): Readonly<Record<string, unknown>> {
  if (typeof set === "string") return { ok: false, error: set };
  return "error" in set ? { ok: false, ...set } : { ok: false, error: set.status === 429 ? "ratelimited" : set.status };
}

function send(reply: FastifyReply, set: SlackAnswer, answer: object): FastifyReply | object {
  if (set === "hang" || set === "hangAfter") return reply.hijack();
  if (set === "reset" || set === "resetAfter") {
    reply.hijack().raw.destroy();
    return reply;
  }
  if (typeof set === "string" || "error" in set) return answer;
  if (set.retryAfter !== undefined) reply.header("retry-after", set.retryAfter);
  reply.code(set.status);
  return set.body === undefined ? answer : reply.type("application/json").send(set.body);
}

interface Rules {
  readonly scopes: { readonly bot: ReadonlySet<string>; readonly app: ReadonlySet<string> };
  readonly left: ReadonlySet<string>;
  readonly archived: ReadonlySet<string>;
  readonly tokens: { readonly bot: string; readonly app: string };
}

/** Why Slack refuses a call before it is done. */
function beforehand(
  { method, token, args }: SlackCall,
  channel: StandInChannel | undefined,
  { scopes, left, archived, tokens }: Rules,
): SlackError | undefined {
  if (!token) return { error: "not_authed" };
  const kind = tokenKind(method);
  if (token === tokens[kind === "app" ? "bot" : "app"]) return { error: "not_allowed_token_type" };
  const needed = neededScopes(method, args).find((scope) => !scopes[kind].has(scope));
  if (needed) return { error: "missing_scope", needed, provided: [...scopes[kind]].join(",") };
  if (!channel) return undefined;
  const isByName = args.channel !== channel.id;
  if (isByName && method !== "chat.postMessage") return { error: "channel_not_found" };
  if (method.startsWith("chat.") && archived.has(channel.name)) return { error: "is_archived" };
  if (left.has(channel.name)) return { error: "not_in_channel" };
  if (!method.startsWith("chat.")) return undefined;
  const { metadata } = args;
  const error = (metadata === undefined ? undefined : metadataError(metadata)) ?? limitError(args);
  return error === undefined ? undefined : { error };
}

function neededScopes(method: string, { types = "public_channel" }: SlackCall["args"]): readonly string[] {
  if (method === "apps.connections.open") return ["connections:write"];
  if (method.startsWith("chat.")) return ["chat:write"];
  if (method === "conversations.members") return ["channels:read"];
  if (method.startsWith("conversations.")) return ["channels:history"];
  const kinds = String(types).split(",");
  const scopes = kinds.map((kind) => (kind === "private_channel" ? "groups:read" : "channels:read"));
  return method === "users.conversations" ? scopes : [];
}

function deleteMessage(channel: StandInChannel, ts: string): void {
  const root = channel.messages.find((one) => one.ts === ts || one.replies.some((reply) => reply.ts === ts));
  if (!root) return;
  if (root.ts !== ts) root.replies = root.replies.filter((one) => one.ts !== ts);
  else if (root.replies.length > 0)
    Object.assign(root, { isDeleted: true, text: "This message was deleted.", blocks: [] });
  else channel.messages = channel.messages.filter((one) => one !== root);
}

/** Posts in a channel at once, before a second must pass for each (docs.slack.dev: short bursts are allowed). */
const BURST = 10;
/** Requests a minute (rate limit tiers); tier 1 with the bursts that Slack tolerates. */
const RATES: Readonly<Record<string, number>> = {
  "auth.test": 100,
  "apps.connections.open": 10,
  "chat.update": 50,
  "chat.postEphemeral": 100,
  "conversations.history": 50,
  "conversations.replies": 50,
  "conversations.members": 100,
  "users.conversations": 50,
};

/** Token buckets per method, or per channel. */
function createLimiter(clock: Clock) {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    /** Seconds to wait; 0: it may. */
    wait({ method, args: { channel } }: SlackCall): number {
      const rate = RATES[method] ?? 0;
      const isPost = method === "chat.postMessage";
      const [key, most, perSecond] = isPost ? [`${method} ${channel}`, BURST, 1] : [method, rate, rate / 60];
      if (most === 0) return 0;
      const now = clock.now();
      const { tokens, at } = buckets.get(key) ?? { tokens: most, at: now };
      const left = Math.min(most, tokens + ((now - at) / 1_000) * perSecond);
      buckets.set(key, { tokens: left < 1 ? left : left - 1, at: now });
      return left < 1 ? Math.ceil((1 - left) / perSecond) : 0;
    },
  };
}
