/**
 * Prints what an installation holds as CycloneDX JSON: `npm sbom` of the lock file without what is for development. By
 * itself, `npm sbom --omit dev` leaves out packages that are for development too, such as yaml.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const temporary = mkdtempSync(join(tmpdir(), "lenswatch-sbom-"));
const read = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8"));

try {
  // npm takes the product's name from the directory.
  const dir = join(temporary, "lenswatch");
  mkdirSync(dir);
  const { devDependencies: _, ...manifest } = read("package.json");
  const lock = read("package-lock.json") as { packages: Record<string, { dev?: true; devDependencies?: unknown }> };
  const installed = Object.entries(lock.packages).filter(([, { dev }]) => !dev);
  const packages = Object.fromEntries(installed.map(([path, { devDependencies: _, ...one }]) => [path, one]));
  writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify({ ...lock, packages }));
  const args = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--package-lock-only"];
  execFileSync("npm", args, { cwd: dir, stdio: ["ignore", "inherit", "inherit"] });
} finally {
  rmSync(temporary, { recursive: true });
}
