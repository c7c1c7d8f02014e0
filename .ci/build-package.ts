/**
 * Runs before `npm pack` and `npm publish`. dist/ gets the sources as JavaScript, as Node strips no types below
 * node_modules, what they read beside them, and the declarations of `lenswatch/client`.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");
const RELATIVE = /(?<= from ")(?<path>\.[^"]+)\.ts(?=")/g;

function compile(...args: string[]): void {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, ...args], { cwd: root, stdio: "inherit" });
}

/** The declarations that `file` reaches, from `from` to dist/. The compiler leaves `.ts` in their imports. */
function copyDeclarations(from: string, file: string, copied = new Set<string>()): void {
  if (copied.has(file)) return;
  copied.add(file);
  const text = readFileSync(join(from, file), "utf8");
  mkdirSync(dirname(join(dist, file)), { recursive: true });
  writeFileSync(join(dist, file), text.replace(RELATIVE, "$<path>.js"));
  for (const { groups } of text.matchAll(RELATIVE)) {
    copyDeclarations(from, join(dirname(file), `${groups?.path}.d.ts`), copied);
  }
}

function buildDeclarations(): void {
  const all = mkdtempSync(join(tmpdir(), "lenswatch-declarations-"));
  const language = ["--target", "esnext", "--module", "nodenext", "--strict", "--exactOptionalPropertyTypes"];
  const emit = ["--declaration", "--emitDeclarationOnly", "--rewriteRelativeImportExtensions"];
  const program = ["--ignoreConfig", "--types", "node", "--skipLibCheck", "--rootDir", "src", "src/client.ts"];
  compile(...program, ...language, ...emit, "--outDir", all);
  copyDeclarations(all, "client.d.ts");
  rmSync(all, { recursive: true });
}

rmSync(dist, { recursive: true, force: true });
cpSync(join(root, "src"), dist, { recursive: true, filter: (path) => !path.endsWith(".ts") });
compile("-p", ".ci/tsconfig.package.json");
buildDeclarations();
chmodSync(join(dist, "bin.js"), 0o755);
