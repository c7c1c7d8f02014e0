/**
 * The Socket Mode side of the stand-in of Slack: tickets for one connection each, and envelopes whose acknowledgement is
 * awaited. As documented in docs.slack.dev, "Using Socket Mode".
 */
import { EventEmitter, once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { allBlocks } from "./message.ts";
import { slackIds } from "./methods.ts";
import type { StandInMessage } from "./workspace.ts";

/** Slack sends an envelope again that is not acknowledged in this time. */
const ACK_MS = 3_000;

/** Takes the upgrades of `server`, which serves the Web API; `ackMs`: how long an acknowledgement is awaited. */
export function createSlackSocket(server: Server, ackMs = ACK_MS) {
  const wss = new WebSocketServer({ noServer: true });
  const connections: WebSocket[] = [];
  const events = new EventEmitter();
  const tickets = new Set<string>();
  let delivered = 0;
  const link = {
    connections: connections as readonly WebSocket[],
    /** `change`: a connection opened or closed. */
    events,
    /** The number of addresses given out. */
    opened: 0,
    /** The answer of `apps.connections.open`: an address for one connection. */
    open() {
      const ticket = `ticket-${++link.opened}`;
      tickets.add(ticket);
      const { port } = server.address() as AddressInfo;
      return { ok: true, url: `ws://127.0.0.1:${port}/link/?ticket=${ticket}&app_id=${slackIds.app}` };
    },
    /** Greets a new connection. */
    hello(ws: WebSocket): void {
      const connection_info = { app_id: slackIds.app };
      const debug_info = { host: "applink-stand-in", approximate_connection_time: 18_060 };
      const num_connections = connections.length;
      ws.send(JSON.stringify({ type: "hello", connection_info, num_connections, debug_info }));
    },
    /**
     * Sends an envelope on one connection; resolves with the acknowledgement's payload. Throws where none comes in
     * time.
     */
    async deliver(type: string, payload: object, over = connections[delivered % connections.length]): Promise<unknown> {
      delivered += 1;
      if (!over) throw new Error("the app has no connection: Slack shows a warning sign");
      const envelope_id = `envelope-${delivered}`;
      const acknowledged = acknowledgement(events, envelope_id, AbortSignal.timeout(ackMs));
      over.send(JSON.stringify({ envelope_id, type, payload, accepts_response_payload: false }));
      return acknowledged;
    },
    close(): void {
      for (const ws of connections) ws.terminate();
      wss.close();
    },
  };

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const ticket = new URL(request.url ?? "/", "http://slack").searchParams.get("ticket") ?? "";
    if (tickets.delete(ticket)) return wss.handleUpgrade(request, socket, head, accept);
    socket.end("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });

  function accept(ws: WebSocket): void {
    ws.on("error", () => {});
    ws.on("close", () => {
      connections.splice(connections.indexOf(ws), 1);
      events.emit("change");
    });
    ws.on("message", (data) => events.emit("ack", data));
    connections.push(ws);
    link.hello(ws);
    events.emit("change");
  }

  return link;
}

async function acknowledgement(events: EventEmitter, id: string, signal: AbortSignal): Promise<unknown> {
  for (;;) {
    const [data] = (await once(events, "ack", { signal })) as [RawData];
    const ack = JSON.parse(String(data)) as { envelope_id: string; payload?: unknown };
    if (ack.envelope_id === id) return ack.payload;
  }
}

/** A person, of the workspace of the app. */
export const ANA = { user: "U0ANA", name: "ana", team: slackIds.team, app: slackIds.app };

/** A person; by default Ana, of the workspace of the app. */
export type SlackPerson = Readonly<Partial<Record<keyof typeof ANA, string>>>;

/** The texts typed into the fields of a message, by their blocks. */
export type Typed = Readonly<Record<string, string>>;

/** The payload of a press (docs.slack.dev: block_actions). */
export function pressOf(
  message: StandInMessage,
  action: string,
  { typed = {}, ...by }: SlackPerson & { typed?: Typed } = {},
) {
  const { user, name, team, app } = { ...ANA, ...by };
  const block = allBlocks(message).find(({ elements }) => elements?.some((one) => one.action_id === action));
  const element = block?.elements?.find((one) => one.action_id === action);
  if (!block || !element) throw new Error(`the message has no ${action}`);
  const fields = Object.entries(typed).map(([id, value]) => [id, { text: { type: "plain_text_input", value } }]);
  return {
    type: "block_actions",
    api_app_id: app,
    team: { id: team, domain: "stand-in" },
    user: { id: user, username: name, name, team_id: team },
    container: { type: "message", channel_id: message.channel, message_ts: message.ts, is_ephemeral: false },
    channel: { id: message.channel, name: "channel" },
    message: { type: "message", ts: message.ts, text: message.text, blocks: message.blocks },
    state: { values: Object.fromEntries(fields) },
    actions: [{ action_id: action, block_id: block.block_id, value: element.value }],
  };
}
