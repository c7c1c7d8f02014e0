import { readFileSync } from "node:fs";

/** lenswatch's own version, as package.json has it. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return String((JSON.parse(text) as { version?: unknown }).version);
}
