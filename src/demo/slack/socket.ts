/**
 * The Socket Mode side of the stand-in of Slack: tickets for one connection each, envelopes whose acknowledgement is
 * awaited, and what Slack does to connections. As documented in docs.slack.dev, "Using Socket Mode".
 */
import { EventEmitter, once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { allBlocks } from "./limits.ts";
import { slackIds } from "./methods.ts";
import type { StandInChannel, StandInMessage } from "./workspace.ts";

/** Slack sends an envelope again that is not acknowledged in this time. */
const ACK_MS = 3_000;
const MOST_CONNECTIONS = 10;

type DisconnectReason = "warning" | "refresh_requested" | "link_disabled";

export type SlackSocketStandIn = ReturnType<typeof createSlackSocketStandIn>;

/** Takes the upgrades of `server`, which serves the Web API. */
export function createSlackSocketStandIn(server: Server, appId: string = slackIds.app) {
  const link = listenForApps(server, appId);
  const { connections, events } = link;
  let delivered = 0;

  return {
    /** How many addresses were given out. */
    opened: () => link.opened,
    connections: (): readonly WebSocket[] => connections,

    open: link.open,

    /** Resolves once there are as many connections. */
    async connected(count: number): Promise<void> {
      while (connections.length !== count) await once(events, "change");
    },

    /**
     * Sends an envelope on one connection, or on that given; resolves with the acknowledgement's payload. Throws
     * where none comes in time.
     */
    async deliver(
      type: "interactive" | "slash_commands" | "events_api",
      payload: object,
      over: WebSocket | undefined = connections[delivered % connections.length],
    ): Promise<unknown> {
      delivered += 1;
      if (!over) throw new Error("the app has no connection: Slack shows a warning sign");
      const id = `envelope-${delivered}`;
      const acknowledged = acknowledgement(events, id);
      send(over, { envelope_id: id, type, payload, accepts_response_payload: type === "slash_commands" });
      return acknowledged;
    },

    /** Sends anything as it is. */
    raw(text: string): void {
      for (const ws of connections) ws.send(text);
    },

    /** As Slack does before it closes a connection; the caller closes it. */
    disconnect(reason: DisconnectReason, of: readonly WebSocket[] = connections): void {
      for (const ws of of) send(ws, { type: "disconnect", reason, debug_info: { host: "applink-stand-in" } });
    },

    /** Whether later connections get their hello. */
    sayHello(says: boolean): void {
      link.saysHello = says;
    },

    close(): void {
      for (const ws of connections) ws.terminate();
      link.close();
    },
  };
}

function listenForApps(server: Server, appId: string) {
  const wss = new WebSocketServer({ noServer: true });
  const connections: WebSocket[] = [];
  const events = new EventEmitter();
  const tickets = new Set<string>();
  const link = { connections, events, opened: 0, open, saysHello: true, close: () => wss.close() };

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const ticket = new URL(request.url ?? "/", "http://slack").searchParams.get("ticket") ?? "";
    if (!tickets.delete(ticket) || connections.length >= MOST_CONNECTIONS) {
      socket.end("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    wss.handleUpgrade(request, socket, head, accept);
  });

  /** The answer of `apps.connections.open`: an address for one connection. */
  function open() {
    link.opened += 1;
    const ticket = `ticket-${link.opened}`;
    tickets.add(ticket);
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    return { ok: true, url: `ws://127.0.0.1:${port}/link/?ticket=${ticket}&app_id=${appId}` };
  }

  function accept(ws: WebSocket): void {
    ws.on("error", () => {});
    ws.on("close", () => {
      connections.splice(connections.indexOf(ws), 1);
      events.emit("change");
    });
    ws.on("message", (data) => events.emit("ack", data));
    connections.push(ws);
    if (link.saysHello) hello(ws);
    events.emit("change");
  }

  function hello(ws: WebSocket): void {
    const connection_info = { app_id: appId };
    const debug_info = { host: "applink-stand-in", approximate_connection_time: 18_060 };
    send(ws, { type: "hello", connection_info, num_connections: connections.length, debug_info });
  }

  return link;
}

function send(ws: WebSocket, message: object): void {
  ws.send(JSON.stringify(message));
}

async function acknowledgement(events: EventEmitter, id: string): Promise<unknown> {
  const signal = AbortSignal.timeout(ACK_MS);
  for (;;) {
    const [data] = (await once(events, "ack", { signal })) as [RawData];
    const ack = JSON.parse(String(data)) as { envelope_id: string; payload?: unknown };
    if (ack.envelope_id === id) return ack.payload;
  }
}

/** A person; by default Ana, of the workspace of the app. */
export interface SlackPerson {
  readonly user?: string;
  readonly name?: string;
  readonly team?: string;
  readonly app?: string;
}

/** The payload of a press (docs.slack.dev: block_actions). */
export function pressOf(
  message: StandInMessage,
  action: string,
  {
    user = "U0ANA",
    name = "ana",
    team = slackIds.team,
    app = slackIds.app,
    value,
  }: SlackPerson & { value?: string } = {},
) {
  const block = allBlocks(message).find(({ elements }) => elements?.some((one) => one.action_id === action));
  if (!block) throw new Error(`the message has no ${action}`);
  return {
    type: "block_actions",
    api_app_id: app,
    team: { id: team, domain: "stand-in" },
    user: { id: user, username: name, name, team_id: team },
    container: { type: "message", channel_id: message.channel, message_ts: message.ts, is_ephemeral: false },
    channel: { id: message.channel, name: "channel" },
    message: { type: "message", ts: message.ts, text: message.text, blocks: message.blocks },
    actions: [{ action_id: action, block_id: block.block_id, ...(value && { selected_option: { value } }) }],
  };
}

/** The payload of a slash command. */
export function commandOf(
  { id, name: channel_name, isPrivate }: StandInChannel,
  text: string,
  { user = "U0ANA", name = "ana", team = slackIds.team, app = slackIds.app }: SlackPerson = {},
) {
  return {
    api_app_id: app,
    team_id: team,
    channel_id: id,
    channel_name: isPrivate ? "privategroup" : channel_name,
    user_id: user,
    user_name: name,
    command: "/lenswatch",
    text,
  };
}
