/** `run`: runs the daemon until it is stopped. */
import { once } from "node:events";
import { Command, Option } from "commander";
import type { AuditOrigin } from "../alerting/audit.ts";
import { startApp } from "../app/app.ts";
import { createServiceManager } from "../app/systemd.ts";
import { type Following, watchConfigFile } from "../app/watch-config-file.ts";
import { type RoleOption, roleOptions } from "../cluster/active-config.ts";
import { configFile } from "../config/load.ts";
import { createConfigSource } from "../config/source.ts";
import type { ReloadResult } from "../http/deps.ts";
import { toError } from "../lib/errors.ts";
import { createLogger } from "../lib/log.ts";
import { type CommandIo, configOption, withExample } from "./cli/command.ts";

/** Resolves when everything has stopped. Throws ConfigError, StoreError or HttpError where it cannot start. */
export function runCommand(io: CommandIo): Command {
  const command = new Command("run")
    .description("Run the daemon. Ctrl-C or SIGTERM stops it; SIGHUP, or a change of the configuration, reloads it.")
    .addOption(configOption())
    .addOption(new Option("--role <role>", "the role of this replica").choices(roleOptions).default("all"));
  withExample(command, "lenswatch run --config /etc/lenswatch/lenswatch.yaml");
  return command.action(async (options: { config?: string; role: RoleOption }) => {
    const source = createConfigSource(configFile(options.config, io.env), io.env);
    const { config, warnings } = await source.load();
    const log = createLogger({ level: config.log.level, pretty: "isTTY" in io.stdout && io.stdout.isTTY === true });
    for (const warning of warnings) log.warn({ warning }, "configuration has a warning");
    const manager = createServiceManager(io.env, log);
    let following: Following | undefined;
    let unwatch: (() => void) | undefined;
    const reload = async (by: AuditOrigin): Promise<ReloadResult> => {
      if (!following) return { outcome: "refused", problems: ["lenswatch is still starting; try again."] };
      if (!unwatch) return following.reload(by);
      void manager.notify("RELOADING=1");
      return following.reload(by).finally(() => manager.notify("READY=1"));
    };
    void manager.notify("STATUS=Starting, waits for Redis.");
    const app = await startApp({ config, log, role: options.role, loadAnew: reload });
    following = watchConfigFile({ source, app, log });
    io.onHangup?.(() => void reload({ actor: { via: "signal", name: "SIGHUP" } }));
    void app.working.then(() => {
      if (io.signal.aborted) return;
      void manager.notify("READY=1", "STATUS=Ready.");
      unwatch = manager.watch(app.health);
    });
    if (!io.signal.aborted) await once(io.signal, "abort");
    log.info("stopping");
    unwatch?.();
    void manager.notify("STOPPING=1", "STATUS=Stopping.");
    following.stop();
    await app.stop().catch((thrown: unknown) => {
      log.warn({ err: toError(thrown) }, "stopping timed out");
    });
    log.info("stopped");
  });
}
