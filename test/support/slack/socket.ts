/** What tests do to the connections of the demo's Slack, as Slack does it to an app. */
import { once } from "node:events";
import type { WebSocket } from "ws";
import type { createSlackSocket } from "../../../src/demo/slack/socket.ts";

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
