/** `simulate`: serves a simulation of the analytics service, for tests without an account. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import { stringify } from "yaml";
import { toError } from "../lib/errors.ts";
import { SimulatorError } from "../simulator/errors.ts";
import { parseScenario, type Scenario } from "../simulator/scenario.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { type CommandIo, fail, outputOption, withExample } from "./cli/command.ts";

interface SimulateOptions {
  locations: number;
  recordingsPerLocation: number;
  seed: number;
  host: string;
  port: number;
  tokenLifetime?: string;
  scenario?: string;
  output: "text" | "json";
}

/** Serves until `io.signal` aborts. Exit code 1 for an invalid scenario. Throws SimulatorError. */
export function simulateCommand(io: Pick<CommandIo, "signal" | "stdout" | "stderr" | "setExitCode">): Command {
  const command = new Command("simulate")
    .description("Serve a simulation of the analytics service with a generated fleet, with faults on demand.")
    .option("--locations <n>", "the number of locations", wholeNumber, 5)
    .option("--recordings-per-location <n>", "the number of recordings at each location", wholeNumber, 4)
    .option("--seed <n>", "the seed of the fleet; equal seeds give equal fleets", wholeNumber, 1)
    .option("--scenario <file>", "a YAML timeline of changes and faults")
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--port <n>", "the port; 0 is any free one", wholeNumber, 0)
    .option("--token-lifetime <duration>", "how long an access token is valid, such as 5m (default: 1h)")
    .addOption(outputOption("text"));
  const example = "lenswatch simulate --locations 3 --recordings-per-location 4 --seed 7 --port 9700";
  return withExample(command, example).action(async (given: SimulateOptions) => {
    const { scenario: file, output, tokenLifetime, ...options } = given;
    try {
      const scenario = file === undefined ? undefined : await readScenario(file);
      const traits = tokenLifetime === undefined ? {} : { token_lifetime: tokenLifetime };
      const simulator = await startSimulator({ ...options, traits, ...(scenario && { scenario }) });
      const settings = { ...settingsOf(simulator), control_url: simulator.controlUrl };
      io.stdout.write(output === "json" ? `${JSON.stringify(settings)}\n` : asText(simulator));
      if (!io.signal.aborted) await once(io.signal, "abort");
      await simulator.close();
    } catch (thrown) {
      if (!(thrown instanceof SimulatorError) || thrown.code !== "bad_scenario") throw thrown;
      fail(io, 1, thrown.message);
    }
  });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 0 or more.");
  return Number(text);
}

/** Reads a scenario file. Throws SimulatorError: `cannot_read`, `bad_scenario`. */
export async function readScenario(file: string): Promise<Scenario> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    const why = toError(cause).message;
    const message = `The scenario ${file} cannot be read (${why}); check the path.`;
    throw new SimulatorError("cannot_read", message, cause);
  });
  return parseScenario(text, file);
}

/** The settings of `service` that reach the simulator. */
export function settingsOf(simulator: Simulator) {
  return {
    base_url: simulator.baseUrl,
    ws_url: simulator.wsUrl,
    auth_url: simulator.authUrl,
    client_id: simulator.clientId,
    client_secret: simulator.clientSecret,
    audience: simulator.audience,
  };
}

function asText(simulator: Simulator): string {
  const { world, controlUrl } = simulator;
  const names = world.locations.map(({ name }) => name);
  const first = names.slice(0, 5).join(", ");
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return `Simulating ${world.recordings.length} recordings in ${names.length} locations: ${first}${more}.

For the configuration:

${stringify({ service: settingsOf(simulator) })}
Faults and changes while it runs, for example:

  curl -X POST ${controlUrl}/world -H "content-type: application/json" -d '{"location": "L1", "status": "offline"}'
  curl -X POST ${controlUrl}/faults -H "content-type: application/json" -d '{"name": "http_error", "status": 503}'
  curl -X DELETE ${controlUrl}/faults

Ctrl-C stops it.
`;
}
