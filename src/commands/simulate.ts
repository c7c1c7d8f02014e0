/** `simulate`: the analytics service itself, to build and rehearse against without an account. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import { stringify } from "yaml";
import { toError } from "../lib/errors.ts";
import { SimulatorError } from "../simulator/errors.ts";
import { parseScenario, type Scenario, type Simulator, startSimulator } from "../simulator/simulator.ts";
import type { CommandIo } from "./cli/io.ts";
import { outputOption } from "./cli/output.ts";

interface SimulateOptions {
  locations: number;
  recordingsPerLocation: number;
  seed: number;
  port: number;
  scenario?: string;
  output: "text" | "json";
}

/** Serves until `io.signal` aborts. Exit code 1 for a scenario with problems; throws SimulatorError otherwise. */
export function simulateCommand(
  io: Pick<CommandIo, "signal" | "stdout" | "stderr" | "setExitCode">,
): Command {
  return new Command("simulate")
    .description("Serve the analytics service itself from a seeded world, with faults on demand.")
    .option("--locations <n>", "shops in the world", wholeNumber, 5)
    .option("--recordings-per-location <n>", "cameras in each shop", wholeNumber, 4)
    .option("--seed <n>", "the same seed gives the same world", wholeNumber, 1)
    .option("--scenario <file>", "YAML timeline of what happens when")
    .option("--port <n>", "port on 127.0.0.1; 0 takes a free one", wholeNumber, 0)
    .addOption(outputOption("text"))
    .addHelpText(
      "after",
      "\nExample:\n  lenswatch simulate --locations 3 --recordings-per-location 4 --seed 7 --port 9700",
    )
    .action(async ({ scenario: file, output, ...options }: SimulateOptions) => {
      try {
        const scenario = file === undefined ? undefined : await readScenario(file);
        const simulator = await startSimulator({ ...options, ...(scenario && { scenario }) });
        io.stdout.write(output === "json" ? asJson(simulator) : asText(simulator));
        if (!io.signal.aborted) await once(io.signal, "abort");
        await simulator.close();
      } catch (thrown) {
        if (!(thrown instanceof SimulatorError) || thrown.code !== "bad_scenario") throw thrown;
        io.stderr.write(`lenswatch: ${thrown.message}\n`);
        io.setExitCode(1);
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
    throw new SimulatorError(
      "cannot_read",
      `The scenario ${file} cannot be read (${why}); check the path.`,
      cause,
    );
  });
  return parseScenario(text, file);
}

function asJson({
  baseUrl,
  wsUrl,
  authUrl,
  clientId,
  clientSecret,
  audience,
  controlUrl,
}: Simulator): string {
  const line = {
    base_url: baseUrl,
    ws_url: wsUrl,
    auth_url: authUrl,
    client_id: clientId,
    client_secret: clientSecret,
    audience,
    control_url: controlUrl,
  };
  return `${JSON.stringify(line)}\n`;
}

function asText(simulator: Simulator): string {
  const { world, baseUrl, wsUrl, authUrl, clientId, clientSecret, audience, controlUrl } = simulator;
  const service = {
    base_url: baseUrl,
    ws_url: wsUrl,
    auth_url: authUrl,
    client_id: clientId,
    client_secret: clientSecret,
    audience,
  };
  const shops = world.locations.map(({ name }) => name);
  const named = shops.slice(0, 5).join(", ");
  const more = shops.length > 5 ? ` and ${shops.length - 5} more` : "";
  return `Simulating ${world.recordings.length} recordings in ${shops.length} locations: ${named}${more}.

For the configuration:

${stringify({ service })}
Faults and changes while it runs, for example:

  curl -X POST ${controlUrl}/world -H "content-type: application/json" -d '{"location": "L1", "status": "offline"}'
  curl -X POST ${controlUrl}/faults -H "content-type: application/json" -d '{"name": "http_error", "status": 503}'
  curl -X DELETE ${controlUrl}/faults

Ctrl-C ends it.
`;
}
