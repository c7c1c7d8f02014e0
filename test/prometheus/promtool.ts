/** Prometheus' promtool: checks rules and configurations, and runs tests of rules. */
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

/** Folder of the files for Prometheus. */
export const shipped = fileURLToPath(new URL("../../config/prometheus/", import.meta.url));

/** Runs promtool there; gives its exit code and output. */
export function promtool(...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("promtool", args, { cwd: shipped });
    let said = "";
    const hear = (data: unknown) => {
      said += String(data);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, said }));
  });
}
