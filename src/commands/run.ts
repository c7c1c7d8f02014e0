/** `lenswatch run`: the daemon, until it is told to stop. */
import { once } from "node:events";
import { Command, Option } from "commander";
import { startApp } from "../app/app.ts";
import { type Following, followConfig } from "../app/follow-config.ts";
import { type RoleOption, roleOptions } from "../cluster/replicas.ts";
import { configFile } from "../config/load.ts";
import { createConfigSource } from "../config/source.ts";
import type { ReloadResult } from "../http/deps.ts";
import { toError } from "../lib/errors.ts";
import { limitHeapGrowth } from "../lib/heap.ts";
import { createLogger } from "../lib/log.ts";
import type { CommandIo } from "./cli/io.ts";

/** Resolves when everything has ended. Throws ConfigError, StoreError or HttpError where it cannot start. */
export function runCommand(io: CommandIo): Command {
  return new Command("run")
    .description(
      "Watch the fleet: poll, judge, alert, expose. Ctrl-C or SIGTERM ends it; SIGHUP, or a change of the configuration, loads it anew.",
    )
    .option("--config <file>", "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)")
    .addOption(new Option("--role <role>", "what this replica does").choices(roleOptions).default("all"))
    .addHelpText("after", "\nExample:\n  lenswatch run --config /etc/lenswatch/lenswatch.yaml")
    .action(async (options: { config?: string; role: RoleOption }) => {
      const source = createConfigSource(configFile(options.config, io.env), io.env);
      const { config, warnings } = await source.load();
      const log = createLogger({
        level: config.log.level,
        pretty: "isTTY" in io.stdout && io.stdout.isTTY === true,
      });
      for (const warning of warnings) log.warn({ warning }, "the configuration is taken, with a warning");
      limitHeapGrowth();
      let following: Following | undefined;
      const loadAnew = async (): Promise<ReloadResult> =>
        following?.reload() ?? { outcome: "refused", problems: ["lenswatch is still starting; try again."] };
      const app = await startApp({ config, log, role: options.role, loadAnew });
      following = followConfig({ source, app, log });
      io.onHangup?.(() => void loadAnew());
      if (!io.signal.aborted) await once(io.signal, "abort");
      log.info("stopping");
      following.stop();
      await app.stop().catch((thrown: unknown) => {
        log.warn({ err: toError(thrown) }, "not everything ended in time");
      });
      log.info("stopped");
    });
}
