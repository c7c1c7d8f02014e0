/** Alertmanager's own command line, where it is installed. */
import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "vitest";
import { temporaryDirectory } from "./directory.ts";

const hasAmtool = spawnSync("amtool", ["--version"]).status === 0;

/** `test`, skipped without amtool; a skipped test then names the reason. */
export const testWithAmtool = test.skipIf(!hasAmtool);
if (!hasAmtool) test.skip("skipped: amtool is not installed", () => undefined);

/** Runs amtool with these arguments only; gives its trimmed output, rejects where it fails. */
export async function amtool(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("amtool", args);
  return stdout.trim();
}

/** Gives amtool for the server at `address`; with a token, it is sent along. */
export async function amtoolAt(address: string, token?: string): Promise<(...args: string[]) => Promise<string>> {
  const options = [`--alertmanager.url=${address}`];
  if (token !== undefined) {
    const file = join(await temporaryDirectory(), "http.yaml");
    await writeFile(file, `authorization: { type: Bearer, credentials: ${token} }\n`);
    options.push(`--http.config.file=${file}`);
  }
  return (...args) => amtool(...options, ...args);
}
