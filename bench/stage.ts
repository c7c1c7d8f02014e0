/** The environment of a benchmark: the simulated service in its own process, and a real Redis. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startTestRedis, type TestRedis } from "../test/support/redis.ts";

export const RECORDINGS_PER_LOCATION = 20;

/** One line of `lenswatch simulate --output json`. */
export interface ServiceAddress {
  readonly base_url: string;
  readonly ws_url: string;
  readonly auth_url: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly audience: string;
  readonly control_url: string;
}

export interface SimulatedRecording {
  readonly id: string;
  readonly locationId: string;
  readonly location: string;
}

export interface Stage extends AsyncDisposable {
  readonly service: ServiceAddress;
  readonly servicePid: number;
  readonly redis: TestRedis;
  /** All recordings, location by location. */
  recordings(): Promise<SimulatedRecording[]>;
  /** Sets recordings to a status now; gives when each changed, ms since the epoch. */
  setStatus(ids: readonly string[], status: "online" | "offline"): Promise<number[]>;
}

/** Starts both. Redis keeps an append-only file, as a daemon that promises to lose nothing wants it. */
export async function prepareStage(recordings: number): Promise<Stage> {
  const [simulator, redis] = await Promise.all([
    startSimulator(Math.ceil(recordings / RECORDINGS_PER_LOCATION)),
    startTestRedis({ appendonly: true }),
  ]);
  const { service } = simulator;
  return {
    service,
    servicePid: simulator.pid,
    redis,
    async recordings() {
      const reply = await fetch(`${service.control_url}/world`);
      const { locations } = (await reply.json()) as { locations: WireLocation[] };
      return locations.flatMap(({ id: locationId, name: location, recordings }) =>
        recordings.map(({ id }) => ({ id, locationId, location })),
      );
    },
    setStatus: (ids, status) => setStatus(service.control_url, ids, status),
    async [Symbol.asyncDispose]() {
      await Promise.all([simulator.end(), redis.stop()]);
    },
  };
}

interface WireLocation {
  readonly id: string;
  readonly name: string;
  readonly recordings: readonly { readonly id: string }[];
}

/** Changes recordings of a simulator; gives when each changed. */
export async function setStatus(
  controlUrl: string,
  ids: readonly string[],
  status: "online" | "offline",
): Promise<number[]> {
  const reply = await fetch(`${controlUrl}/world`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ids.map((recording) => ({ recording, status }))),
  });
  if (!reply.ok) throw new Error(`the simulator refused a change: ${await reply.text()}`);
  return ((await reply.json()) as { at: number }[]).map(({ at }) => at);
}

async function startSimulator(
  locations: number,
): Promise<{ service: ServiceAddress; pid: number; end(): Promise<void> }> {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const options = ["--locations", String(locations), "--recordings-per-location", String(RECORDINGS_PER_LOCATION)];
  const child = spawn(process.execPath, [main, "simulate", ...options, "--output", "json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    ended.then(() => Promise.reject(new Error("the simulator ended before it served"))),
  ])) as [string];
  return {
    service: JSON.parse(line) as ServiceAddress,
    pid: child.pid ?? 0,
    async end() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
