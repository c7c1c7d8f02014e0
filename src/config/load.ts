/**
 * From a file to a configuration: read as YAML, secrets fetched, held against the schema and against itself.
 * Whatever is wrong is told at once.
 */
import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { toError } from "../lib/errors.ts";
import { advise } from "./advise.ts";
import { buildConfig, buildHttp } from "./build.ts";
import type { Config, HttpConfig } from "./config.ts";
import { crossCheck } from "./cross-check.ts";
import { type ConfigDocument, type Raw, readDocument } from "./document.ts";
import type { Environment } from "./environment.ts";
import { type Path, pathKey } from "./finding.ts";
import { ConfigError, type Problem } from "./problem.ts";
import { toProblems } from "./report.ts";
import { configSection, httpSection } from "./schema.ts";
import { resolveSecrets } from "./secrets.ts";
import { validate } from "./validate.ts";

export { ConfigError, formatProblem, type Problem } from "./problem.ts";

export interface Loaded {
  readonly config: Config;
  /** Allowed, and probably not meant. */
  readonly warnings: readonly Problem[];
}

export interface ParseOptions {
  /** What the file is called in problems. */
  readonly file: string;
  readonly env: Environment;
  /** The text of a secret's file, or an Error; by default nothing can be read. */
  readonly readSecret?: (path: string) => string;
}

/** The configuration a text describes, or every problem with it in the order of the file. Never throws. */
export function parseConfig(
  text: string,
  options: ParseOptions,
): Loaded | { readonly problems: readonly Problem[] } {
  const document = readDocument(text, options.env);
  const report = (findings: Parameters<typeof toProblems>[0], secrets: readonly string[]) =>
    toProblems(findings, document, { file: options.file, secrets });
  if (document.tree === null && document.findings.length > 0)
    return { problems: report(document.findings, []) };
  const secrets = resolveSecrets(document, configSection, options.readSecret ?? refuseFiles);
  const conflicts = crossCheck(document);
  const checked = validate({ ...document, tree: listening(document.tree, options.env) }, configSection);
  const wrong = "findings" in checked ? checked.findings : [];
  const findings = [
    ...document.findings,
    ...secrets.findings,
    ...wrong.filter(({ path }) => !secrets.settled.has(pathKey(path))),
    ...conflicts,
  ];
  if (!("value" in checked) || findings.length > 0) return { problems: report(findings, secrets.values) };
  const config = buildConfig(checked.value);
  const fromEnvironment = (path: Path) => readsEnvironment(document, path);
  return { config, warnings: report(advise(config, checked.value, fromEnvironment), secrets.values) };
}

/** Where the file does not say it, LENSWATCH_LISTEN does: inside a container loopback reaches nobody. */
function listening(tree: Raw, env: Environment): Raw {
  if (!env.LENSWATCH_LISTEN || !isMapping(tree)) return tree;
  const { http = {} } = tree;
  return isMapping(http) ? { ...tree, http: { listen: env.LENSWATCH_LISTEN, ...http } } : tree;
}

function isMapping(raw: Raw): raw is { readonly [key: string]: Raw } {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw);
}

function readsEnvironment({ places }: ConfigDocument, path: Path): boolean {
  const start = pathKey(path).slice(0, -1);
  return [...places].some(([key, { variables }]) => variables.length > 0 && key.startsWith(start));
}

function refuseFiles(): never {
  throw new Error("no secret files here");
}

/** The file to read: the option's, or LENSWATCH_CONFIG's, or config/lenswatch.yaml. */
export function configFile(option: string | undefined, env: Environment): string {
  return option ?? (env.LENSWATCH_CONFIG || "config/lenswatch.yaml");
}

/** The configuration in a file. Secret files are found beside it. Throws ConfigError. */
export async function loadConfig(file: string, env: Environment): Promise<Config> {
  return (await loadWithWarnings(file, env)).config;
}

/**
 * Its `http` alone, for whoever only asks a daemon: that variables and secret files of other keys are not there is no
 * problem here, whatever else is wrong is. Throws ConfigError.
 */
export async function loadHttp(file: string, env: Environment): Promise<HttpConfig> {
  const options = { file, env, readSecret: secretsBeside(file) };
  const text = await readText(file);
  const parsed = parseConfig(text, options);
  if ("config" in parsed) return parsed.config.http;
  const document = readDocument(text, env);
  resolveSecrets(document, configSection, options.readSecret);
  const tree = listening(document.tree, env);
  const checked = validate({ ...document, tree: (isMapping(tree) && tree.http) || {} }, httpSection);
  if (parsed.problems.every(isAbsentElsewhere) && "value" in checked) return buildHttp(checked.value);
  throw new ConfigError("invalid", summary(file, parsed.problems), { problems: parsed.problems });
}

function isAbsentElsewhere({ kind, path }: Problem): boolean {
  return (kind === "environment" || kind === "secret") && path !== "http" && !path.startsWith("http.");
}

function secretsBeside(file: string): (path: string) => string {
  return (path) => readSecretFile(resolve(dirname(file), path));
}

/**
 * As `loadConfig`, with what is probably not meant. `onSecretFile` is told the path of every secret file before it is
 * read, also where the configuration turns out to be wrong. Throws ConfigError.
 */
export async function loadWithWarnings(
  file: string,
  env: Environment,
  onSecretFile: (path: string) => void = () => {},
): Promise<Loaded> {
  const text = await readText(file);
  const readSecret = (path: string) => {
    const found = resolve(dirname(file), path);
    onSecretFile(found);
    return readSecretFile(found);
  };
  const parsed = parseConfig(text, { file, env, readSecret });
  if ("config" in parsed) return parsed;
  throw new ConfigError("invalid", summary(file, parsed.problems), { problems: parsed.problems });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    const cause = toError(thrown) as NodeJS.ErrnoException;
    if (cause.code === "ENOENT") {
      throw new ConfigError("not_found", `there is no ${file}: give another with --config`, { cause });
    }
    throw new ConfigError("unreadable", `${file} cannot be read (${cause.code}): check its permissions`, {
      cause,
    });
  }
}

const LONGEST_SECRET_FILE = 65_536;

function readSecretFile(path: string): string {
  const stat = statSync(path);
  // Reading a pipe would wait for whoever writes to it.
  if (!stat.isFile()) throw Object.assign(new Error("no regular file"), { code: "EINVAL" });
  if (stat.size > LONGEST_SECRET_FILE)
    throw Object.assign(new Error("too large for a secret"), { code: "EFBIG" });
  return readFileSync(path, "utf8");
}

function summary(file: string, problems: readonly Problem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return `${file} has ${count}: correct what is listed, then ask \`lenswatch check-config\` again`;
}
