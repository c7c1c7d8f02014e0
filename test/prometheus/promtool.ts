/** promtool, which comes with Prometheus: checks rules and configurations, and runs the rules' own tests. */
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

/** Where the files for Prometheus are shipped. */
export const shipped = fileURLToPath(new URL("../../config/prometheus/", import.meta.url));

/** Runs it there; gives its exit code and all it printed. */
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
