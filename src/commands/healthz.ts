/** `healthz`: asks the daemon on this machine for its health; a container's health check without curl or a shell. */
import { Command } from "commander";
import { fetch } from "undici";
import { configFile, loadConfig } from "../config/load.ts";
import { withTimeout } from "../lib/abort.ts";
import { toError } from "../lib/errors.ts";
import { asJson, type CommandIo, configOption, fail, outputOption, withExample } from "./cli/command.ts";
import { localUrl } from "./cli/daemon.ts";

const TIMEOUT_MS = 4_000;

/** Exit code 0 healthy, 1 unhealthy, 3 no answer. Throws ConfigError. */
export function healthzCommand(io: CommandIo): Command {
  const command = new Command("healthz")
    .description("Check the health of the daemon at http.listen on this machine, for container health checks.")
    .addOption(configOption())
    .addOption(outputOption("text"));
  return withExample(command, "lenswatch healthz && echo healthy").action(
    async (options: { config?: string; output: "text" | "json" }) => {
      const { http } = await loadConfig(configFile(options.config, io.env), io.env);
      const url = `${localUrl(http)}/healthz`;
      const signal = withTimeout(io.signal, TIMEOUT_MS);
      const status = await ask(url, signal);
      const alive = typeof status === "number" && status < 300;
      if (options.output === "json") io.stdout.write(asJson({ url, alive }));
      else if (alive) io.stdout.write("alive\n");
      if (alive) return;
      const answer = typeof status === "number" ? `answers ${status}` : `does not answer (${status.message})`;
      fail(io, typeof status === "number" ? 1 : 3, `${url} ${answer}; see the daemon's log`);
    },
  );
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
