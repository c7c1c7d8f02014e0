import { randomInt } from "node:crypto";
import { freePort } from "../../src/lib/free-port.ts";

/** A free loopback TCP port for a server that restarts on it: below those of outgoing connections (Linux, macOS). */
export async function lastingPort(): Promise<number> {
  const wanted = randomInt(15_000, 32_768);
  return (await freePort(wanted)) === wanted ? wanted : lastingPort();
}
