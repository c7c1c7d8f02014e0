import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ports of outgoing connections (Linux from 32768, macOS from 49152). */
const STABLE_PORTS = { from: 15_000, to: 32_768 };

/** A free loopback TCP port: `preferred` where it is free, else one that the system picks. */
export async function freePort(preferred = 0): Promise<number> {
  return (await probe(preferred)) ?? (await probe(0)) ?? Promise.reject(new Error("no free TCP port"));
}

/** A free loopback TCP port for a server that restarts on it: no outgoing connection takes it in between. */
export async function lastingPort(): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const port = await probe(randomInt(STABLE_PORTS.from, STABLE_PORTS.to));
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
