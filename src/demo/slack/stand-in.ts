/**
 * A Slack of one workspace on loopback, which people and the app of the demo use: the Web API as far as the app calls it,
 * and Socket Mode. Nothing in it is kept after it is closed.
 */
import { EventEmitter } from "node:events";
import { parse } from "node:querystring";
import { type FastifyRequest, fastify } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { tryJson } from "../../lib/json-values.ts";
import { type Arguments, type Ephemeral, type Method, methods, SlackRefusal } from "./methods.ts";
import { createSlackSocket, pressOf, type SlackPerson, type Typed } from "./socket.ts";
import { createWorkspace, type StandInMessage } from "./workspace.ts";

interface SlackOptions {
  readonly channels?: readonly string[];
  readonly clock?: Clock;
  /** The most of anything that is remembered; default: all. */
  readonly keeps?: number;
  /** Methods beside those of the demo. */
  readonly more?: Readonly<Record<string, Method>>;
}

interface SlackEvents {
  posted: [StandInMessage];
  edited: [StandInMessage];
  ephemeral: [Ephemeral];
}

/** One bot token and one app token. */
const tokens = { bot: "xoxb-stand-in-bot-token-1234567890", app: "xapp-stand-in-app-token-1234567890" };

const MAX_BODY_BYTES = 1024 * 1024;

/** A workspace; `app`, its server, has no routes yet and does not listen. */
export function createSlack({ channels = ["ops"], clock, keeps, more = {} }: SlackOptions = {}) {
  const workspace = createWorkspace(channels, clock, keeps);
  const events = new EventEmitter<SlackEvents>().setMaxListeners(0);
  const app = fastify({ bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.removeContentTypeParser("application/json");
  const socket = createSlackSocket(app.server);
  const context = {
    workspace,
    posted: (message: StandInMessage) => events.emit("posted", message),
    edited: (message: StandInMessage) => events.emit("edited", message),
    ephemeral: (message: Ephemeral) => events.emit("ephemeral", message),
    openSocket: () => socket.open().url,
  };
  /** Throws for a channel there is not. */
  const channel = (name: string) => {
    const found = workspace.channel(name);
    if (!found) throw new Error(`there is no channel ${name}`);
    return found;
  };
  return {
    ...{ workspace, events, app, socket, tokens, channel },
    /** Does what the app asks. */
    call({ method, token, args }: SlackCall): SlackAnswer {
      try {
        const known = methods[method] ?? more[method];
        if (!known) throw new SlackRefusal("unknown_method");
        if (token !== tokens[tokenKind(method)]) throw new SlackRefusal("invalid_auth");
        return { ok: true, ...known(args, context) };
      } catch (thrown) {
        if (!(thrown instanceof SlackRefusal)) throw thrown;
        return { ok: false, error: thrown.message };
      }
    },
    /** Presses a button of a message, with what is typed into its fields, as a person in its channel. */
    press: (message: StandInMessage, action: string, by?: SlackPerson & { readonly typed?: Typed }) =>
      socket.deliver("interactive", pressOf(message, action, by)),
    async close(): Promise<void> {
      socket.close();
      await app.close();
    },
  };
}

export type SlackStandIn = Awaited<ReturnType<typeof startSlack>>;

/** Starts one that answers every request. */
export async function startSlack(options: SlackOptions = {}) {
  const slack = createSlack(options);
  slack.app.post("/api/:method", (request) => slack.call(readCall(request)));
  const url = await slack.app.listen({ host: "127.0.0.1", port: 0 });
  /** For `slack_api_url`. */
  return { ...slack, apiUrl: `${url}/api/` };
}

type SlackAnswer = Readonly<Record<string, unknown>> &
  ({ readonly ok: true } | { readonly ok: false; readonly error: string });

/** A request of the Web API. */
export interface SlackCall {
  readonly method: string;
  readonly token: string | undefined;
  readonly args: Arguments;
}

/** Which token a method is called with. */
export function tokenKind(method: string): keyof typeof tokens {
  return method === "apps.connections.open" ? "app" : "bot";
}

/** A request as the app sends it; in a form, lists and mappings are JSON. */
export function readCall({ headers, params, body }: FastifyRequest): SlackCall {
  const { method } = params as { method: string };
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  const text = String(body ?? "");
  if (headers["content-type"]?.startsWith("application/json"))
    return { method, token, args: (tryJson(text) ?? {}) as Arguments };
  const fields = Object.entries(parse(text)).map(([name, value]) => {
    const isNested = name === "blocks" || name === "attachments" || name === "metadata";
    return [name, isNested ? tryJson(String(value)) : String(value)];
  });
  return { method, token, args: Object.fromEntries(fields) as Arguments };
}
