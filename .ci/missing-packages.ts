/** Prints the packages of the lock file that are for this platform and are not there. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

interface Locked {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const root = resolve(import.meta.dirname, "..");
const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, Locked>>;
};

function libc(): string {
  process.report.excludeNetwork = true;
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime ? "glibc" : "musl";
}

const missing = Object.entries(packages).filter(([path, { os, cpu, libc: libraries }]) => {
  if (!(os || cpu) || existsSync(join(root, path, "package.json"))) return false;
  const here = (os?.includes(process.platform) ?? true) && (cpu?.includes(process.arch) ?? true);
  return here && (libraries?.includes(libc()) ?? true);
});
process.stdout.write(missing.map(([path]) => path.replace(/^.*node_modules\//, "")).join(" "));
