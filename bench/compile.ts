/** What is measured runs as in the image: compiled, since stripping types keeps some 45 MB, with its settings of memory. */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const out = join(root, "dist/bench");

export const memorySettings = { NODE_OPTIONS: "--max-semi-space-size=16", MALLOC_ARENA_MAX: "1" };

/** Compiles `src` and the measured processes; before the first of them starts. */
export function compile(): void {
  rmSync(out, { recursive: true, force: true });
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", join(import.meta.dirname, "tsconfig.json")], { stdio: "inherit" });
  cpSync(join(root, "src"), join(out, "src"), { recursive: true, filter: (path) => !path.endsWith(".ts") });
  cpSync(join(root, "package.json"), join(out, "package.json"));
}

/** The compiled file of a source, named from the top: `bench/app-process.ts`. */
export function compiled(source: string): string {
  return join(out, source.replace(/\.ts$/, ".js"));
}
