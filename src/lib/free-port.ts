import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below these systems' range for outgoing connections (Linux from 32768, macOS from 49152). */
const LASTING = { from: 15_000, to: 32_768 };

/** A loopback TCP port nobody listens on now: `preferred` where it is free, else one the system picks. */
export async function freePort(preferred = 0): Promise<number> {
  return (await probe(preferred)) ?? (await probe(0)) ?? Promise.reject(new Error("no free TCP port"));
}

/**
 * A free loopback TCP port for a server that must come back on it: one that no outgoing connection is given
 * while the server is down.
 */
export async function lastingPort(): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const port = await probe(randomInt(LASTING.from, LASTING.to));
    if (port !== undefined) return port;
  }
  return freePort();
}

function probe(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : undefined));
    });
  });
}
