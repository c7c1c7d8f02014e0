/** `healthz`: whether the daemon on this machine is alive, for a container's health check: no curl, no shell. */
import { Command } from "commander";
import { fetch } from "undici";
import { configFile, loadConfig } from "../config/load.ts";
import { toError } from "../lib/errors.ts";
import { addressOf } from "./cli/daemon.ts";
import type { CommandIo } from "./cli/io.ts";
import { asJson, outputOption } from "./cli/output.ts";

const TIMEOUT_MS = 4_000;

/** Exit code 0 alive, 1 it answers that it is not, 3 nothing answers. Throws ConfigError. */
export function healthzCommand(io: CommandIo): Command {
  return new Command("healthz")
    .description(
      "Ask the daemon on this machine whether it is alive, where http.listen says it listens: for health checks of containers.",
    )
    .option("--config <file>", "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)")
    .addOption(outputOption("text"))
    .addHelpText("after", "\nExample:\n  lenswatch healthz && echo alive")
    .action(async (options: { config?: string; output: "text" | "json" }) => {
      const { http } = await loadConfig(configFile(options.config, io.env), io.env);
      const url = `${addressOf(http)}/healthz`;
      const signal = AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const status = await ask(url, signal);
      const alive = typeof status === "number" && status < 300;
      if (options.output === "json") io.stdout.write(asJson({ url, alive }));
      else if (alive) io.stdout.write("alive\n");
      if (alive) return;
      io.setExitCode(typeof status === "number" ? 1 : 3);
      const said = typeof status === "number" ? `answers ${status}` : `does not answer (${status.message})`;
      io.stderr.write(`lenswatch: ${url} ${said}; see the daemon's log\n`);
    });
}

async function ask(url: string, signal: AbortSignal): Promise<number | Error> {
  try {
    const response = await fetch(url, { signal });
    await response.body?.cancel();
    return response.status;
  } catch (thrown) {
    const error = toError(thrown);
    return error.cause ? toError(error.cause) : error;
  }
}
