/**
 * Bounds the connections of a server, in all and from one address. Connections above that may only probe, a few at a
 * time, so that no number of held connections keeps an orchestrator from an answer.
 */
import type { Socket } from "node:net";
import type { Limits } from "./limits.ts";

/** Connections above the limits; another one ends the oldest of them. */
const MOST_SPARE = 64;

export type Connections = ReturnType<typeof createConnections>;

/** `isProxy`: many clients share this address, which only the limit in all applies to. */
export function createConnections(
  { mostConnections, mostFromOneAddress }: Pick<Limits, "mostConnections" | "mostFromOneAddress">,
  isProxy: (address: string) => boolean = () => false,
) {
  const open = new Set<Socket>();
  const byAddress = new Map<string, number>();
  const spare = new Map<string, Socket>();

  function isFull(address: string): boolean {
    const all = open.size - spare.size;
    return all >= mostConnections || (!isProxy(address) && (byAddress.get(address) ?? 0) >= mostFromOneAddress);
  }

  function count(address: string, change: number): void {
    const now = (byAddress.get(address) ?? 0) + change;
    if (now > 0) byAddress.set(address, now);
    else byAddress.delete(address);
  }

  function keepSpare(socket: Socket): void {
    const id = idOf(socket);
    spare.set(id, socket);
    socket.once("close", () => spare.delete(id));
    if (spare.size > MOST_SPARE) spare.values().next().value?.destroy();
  }

  return {
    /** Takes a new connection; false where the client is gone already. */
    admit(socket: Socket): boolean {
      const address = socket.remoteAddress;
      if (address === undefined) {
        socket.destroy();
        return false;
      }
      const full = isFull(address);
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      if (full) keepSpare(socket);
      else {
        count(address, 1);
        socket.once("close", () => count(address, -1));
      }
      return true;
    },
    /** Whether the connection, over TLS or not, is above the limits. */
    isSpare: (socket: Socket) => spare.has(idOf(socket)),
    /** Ends all, also those that have not finished their handshake. */
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** The same for a TLS connection and the one below it. */
function idOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
