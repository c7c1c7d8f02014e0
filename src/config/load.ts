/** Loads a configuration: reads the YAML, fetches secrets, validates. All problems are reported at once. */
import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { toError } from "../lib/errors.ts";
import { counted } from "../lib/format.ts";
import { advise } from "./advise.ts";
import { buildConfig, type Config } from "./config.ts";
import { crossCheck } from "./cross-check.ts";
import { type ConfigDocument, type Environment, isMapping, readYaml } from "./document.ts";
import { checkReading, type HttpConfig, httpSection } from "./http-schema.ts";
import { ConfigError, type ConfigProblem, type Finding, type Path, pathKey, toProblems } from "./problem.ts";
import { listen } from "./scalars.ts";
import { rootSection } from "./schema.ts";
import { type ReadSecret, resolveSecrets } from "./secrets.ts";
import { validate, validateWithSecrets } from "./validate.ts";

export type LoadedConfig = { readonly config: Config; readonly warnings: readonly ConfigProblem[] };

/**
 * The configuration of a text, or every problem with it in the order of the file. Never throws. `file` is its name in
 * problems; unless `readSecret` is given, no secret file can be read.
 */
export function parseConfig(
  text: string,
  { file, env, readSecret = refuseFiles }: { file: string; env: Environment; readSecret?: ReadSecret },
): LoadedConfig | { readonly problems: readonly ConfigProblem[] } {
  const document = readConfig(text, env);
  const checked = validateWithSecrets(document, rootSection, readSecret);
  const report = (all: readonly Finding[]) => toProblems(all, document, { file, secrets: checked.secrets });
  const findings = [...checked.findings, ...crossCheck(document)];
  if (!("value" in checked) || findings.length > 0) return { problems: report(findings) };
  const open = checkReading(checked.value.http);
  if (open.length > 0) return { problems: report(open) };
  const config = buildConfig(checked.value, dirname(file));
  const fromEnvironment = (path: Path) => readsEnvironment(document, path);
  return { config, warnings: report(advise(config, { env, fromEnvironment })) };
}

/** LENSWATCH_LISTEN where the file has no `http.listen`: inside a container, the loopback default is unreachable. */
function readConfig(text: string, env: Environment): ConfigDocument {
  const document = readYaml(text, env);
  const { tree } = document;
  if (!env.LENSWATCH_LISTEN || !isMapping(tree)) return document;
  const { http = {} } = tree;
  if (!isMapping(http)) return document;
  return { ...document, tree: { ...tree, http: { listen: env.LENSWATCH_LISTEN, ...http } } };
}

/** Something at or below the path was read from the environment. */
function readsEnvironment({ positions }: ConfigDocument, path: Path): boolean {
  const start = pathKey(path).slice(0, -1);
  return positions.entries().some(([key, { variables }]) => variables.length > 0 && key.startsWith(start));
}

function refuseFiles(): never {
  throw new Error("secret files cannot be read here");
}

/** The file to read: the option's, or LENSWATCH_CONFIG's, or config/lenswatch.yaml. */
export function configFile(option: string | undefined, env: Environment): string {
  return option ?? (env.LENSWATCH_CONFIG || "config/lenswatch.yaml");
}

/** The configuration in a file; relative paths of secret files start beside it. Throws ConfigError. */
export async function loadConfig(file: string, env: Environment): Promise<Config> {
  return (await loadWithWarnings(file, env)).config;
}

/** Its `http` alone, for clients of a daemon: problems of other keys are ignored. Throws ConfigError. */
export async function loadHttp(file: string, env: Environment): Promise<HttpConfig> {
  const readSecret = secretReader(file);
  const text = await readText(file);
  const parsed = parseConfig(text, { file, env, readSecret });
  if ("config" in parsed) return parsed.config.http;
  const document = readConfig(text, env);
  resolveSecrets(document, rootSection, readSecret);
  const { tree } = document;
  const checked = validate({ ...document, tree: (isMapping(tree) && tree.http) || {} }, httpSection);
  const isIts = ({ path }: ConfigProblem) => path === "" || /^http(?:\.|$)/.test(path);
  if (!parsed.problems.some(isIts) && "value" in checked) return checked.value;
  throw invalid(file, parsed.problems);
}

/**
 * Addresses at which the daemon of a file may listen, the likeliest first, as far as the file can be read: the daemon may run with an
 * earlier version of it, and with other variables. `mayUseTls`: it may expect TLS there. Never throws.
 */
export async function likelyListeners(file: string, env: Environment) {
  const text = await readText(file).catch(() => "");
  const { tree } = readYaml(text, env, true);
  const http = isMapping(tree) && isMapping(tree.http) ? tree.http : {};
  const parse = (written: unknown) => listen.safeParse(written).data ?? [];
  const written = [http.metrics_listen, http.listen, env.LENSWATCH_LISTEN].flatMap(parse);
  // Another daemon may listen at the default address.
  const addresses = written.length > 0 ? written : [httpSection.keys.listen?.fallback].flatMap(parse);
  return { addresses, mayUseTls: http.tls !== undefined };
}

/**
 * The configuration in a file with its warnings. `onSecretFile` is called with the path of every secret file before it is read, also
 * where the configuration is invalid. Throws ConfigError.
 */
export async function loadWithWarnings(
  file: string,
  env: Environment,
  onSecretFile: (path: string) => void = () => {},
): Promise<LoadedConfig> {
  const text = await readText(file);
  const parsed = parseConfig(text, { file, env, readSecret: secretReader(file, onSecretFile) });
  if ("config" in parsed) return parsed;
  throw invalid(file, parsed.problems);
}

function invalid(file: string, problems: readonly ConfigProblem[]): ConfigError {
  const message = `${file} has ${counted(problems.length, "problem")}: correct them, then run \`lenswatch check-config\``;
  return new ConfigError("invalid", message, { problems });
}

const FIRST_STEPS = "write one with `lenswatch init`, name another with --config, or try `lenswatch demo`";

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    const cause = toError(thrown) as NodeJS.ErrnoException;
    if (cause.code === "ENOENT")
      throw new ConfigError("not_found", `${file} does not exist: ${FIRST_STEPS}`, { cause });
    throw new ConfigError("unreadable", `${file} cannot be read (${cause.code}): check path and permissions`, {
      cause,
    });
  }
}

function secretReader(file: string, onSecretFile: (path: string) => void = () => {}): ReadSecret {
  return (relative) => {
    const path = resolve(dirname(file), relative);
    onSecretFile(path);
    const stat = statSync(path);
    // Reading a pipe would block.
    if (!stat.isFile()) throw Object.assign(new Error("not a regular file"), { code: "EINVAL" });
    if (stat.size > 65_536) throw Object.assign(new Error("too large for a secret"), { code: "EFBIG" });
    return readFileSync(path, "utf8");
  };
}
