/** What tests do to the connections of the demo's Slack, as Slack does it to an app. */
import { once } from "node:events";
import type { WebSocket } from "ws";
import { ANA, type createSlackSocket, type SlackPerson } from "../../../src/demo/slack/socket.ts";
import type { StandInChannel } from "../../../src/demo/slack/workspace.ts";

/** Of what takes milliseconds on an idle machine: a socket that tries again for ever fails its test then. */
export const MOST_MS = 30_000;

export type WatchedSocket = ReturnType<typeof watchSocket>;

export function watchSocket(socket: ReturnType<typeof createSlackSocket>) {
  const { connections, events, hello } = socket;
  return {
    open: socket.open,
    deliver: socket.deliver,
    close: socket.close,
    /** How many addresses were given out. */
    opened: () => socket.opened,
    connections: () => connections,
    /** Resolves once there are as many connections; rejects where there never are. */
    async connected(count: number): Promise<void> {
      const signal = AbortSignal.timeout(MOST_MS);
      while (connections.length !== count) await once(events, "change", { signal });
    },
    /** Sends anything as it is. */
    raw(text: string): void {
      for (const ws of connections) ws.send(text);
    },
    /** As Slack does before it closes a connection; the caller closes it. */
    disconnect(
      reason: "warning" | "refresh_requested" | "link_disabled",
      of: readonly WebSocket[] = connections,
    ): void {
      const text = JSON.stringify({ type: "disconnect", reason, debug_info: { host: "applink-stand-in" } });
      for (const ws of of) ws.send(text);
    },
    /** Whether later connections get their hello. */
    sayHello(says: boolean): void {
      socket.hello = says ? hello : () => {};
    },
  };
}

/** The payload of a slash command. */
export function commandOf(
  { id, name: channel_name }: Pick<StandInChannel, "id" | "name">,
  text: string,
  by: SlackPerson = {},
) {
  const { user: user_id, name: user_name, team: team_id, app: api_app_id } = { ...ANA, ...by };
  return { api_app_id, team_id, channel_id: id, channel_name, user_id, user_name, command: "/lenswatch", text };
}
